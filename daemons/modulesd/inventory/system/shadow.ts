/** What shadow(5) says of a password. */
export type Password = {
  readonly status: 'active' | 'locked' | 'empty' | 'not_set';
  readonly algorithm: string;
  /** Epoch seconds; 0 when it is not known. */
  readonly lastChange: number;
  /** Days; -1 where nothing is set. */
  readonly minDays: number;
  readonly maxDays: number;
  readonly warnDays: number;
  readonly inactiveDays: number;
  /** Epoch seconds; -1 when the account does not expire. */
  readonly expires: number;
};

const DAY_SECONDS = 86_400;

/** How crypt(5) marks algorithms. */
const ALGORITHMS: ReadonlyMap<string, string> = new Map([
  ['1', 'md5'],
  ['2a', 'bcrypt'],
  ['2b', 'bcrypt'],
  ['2y', 'bcrypt'],
  ['5', 'sha256'],
  ['6', 'sha512'],
  ['7', 'scrypt'],
  ['y', 'yescrypt'],
  ['gy', 'gost-yescrypt'],
]);

/** Passwords by the name of the user. The hashes themselves stay here. */
export function parseShadow(text: string): ReadonlyMap<string, Password> {
  const passwords = new Map<string, Password>();
  for (const line of text.split('\n')) {
    const [name = '', hash = '', lastChange, min, max, warn, inactive, expires] = line.split(':');
    if (name === '' || passwords.has(name) || !line.includes(':')) continue;
    const expiry = days(expires);
    passwords.set(name, {
      status: statusOf(hash),
      algorithm: ALGORITHMS.get(/^!*\$([a-z0-9]+)\$/.exec(hash)?.[1] ?? '') ?? '',
      lastChange: Math.max(0, days(lastChange)) * DAY_SECONDS,
      minDays: days(min),
      maxDays: days(max),
      warnDays: days(warn),
      inactiveDays: days(inactive),
      expires: expiry < 0 ? -1 : expiry * DAY_SECONDS,
    });
  }
  return passwords;
}

function statusOf(hash: string): Password['status'] {
  if (hash === '') return 'empty';
  if (/^[*!x]+$/.test(hash)) return 'not_set';
  return hash.startsWith('!') ? 'locked' : 'active';
}

function days(text: string | undefined): number {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : -1;
}
