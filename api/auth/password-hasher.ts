import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { ProblemError } from '../http/problem-error.js';
import { FairQueue } from './fair-queue.js';

/** Cost of a password hash; a stored hash carries its own, so that these may be raised. */
export type ScryptCost = { readonly N: number; readonly r: number; readonly p: number };

/** 16 MiB and about a fifth of a second on one core: what OWASP's password storage advice names for p = 5. */
const DEFAULT_COST: ScryptCost = { N: 16_384, r: 8, p: 5 };

const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** As {@link stored} makes it. */
const STORED_HASH = /^scrypt\$(\d{1,7})\$(\d{1,3})\$(\d{1,3})\$[\w-]{8,128}\$[\w-]{16,128}$/;
/** N times r of a hash that comes from outside: 256 MiB. */
const MAX_COST = 2 * 1024 * 1024;
const MAX_PARALLEL = 16;
/** Longest password that is hashed at all; longer ones cannot belong to a user (rest-api.md 2.5). */
const MAX_PASSWORD_BYTES = 1024;
/** Passwords waiting for a free place. Stops a flood of logins from queueing for minutes. */
const MAX_WAITING = 200;

/** Who wants a password to be checked, or set. */
export type PasswordClient = {
  /** Whose turns it waits for: an address that logs in, or {@link passwordSetter}. */
  readonly address: string;
  /** Called when its turn has come, before anything is computed: what it throws ends the work. */
  readonly ready?: () => void;
};

/**
 * A user who sets passwords: waits for turns of his own, so that logins from his address have theirs.
 * @param signal aborted when nobody waits for the answer any more: then nothing is set
 */
export function passwordSetter(user: number, signal: AbortSignal): PasswordClient {
  return { address: `user ${user}`, ready: () => signal.throwIfAborted() };
}

/** Makes and checks salted slow hashes of passwords (rest-api.md 2.5), a few at a time. */
export class PasswordHasher {
  readonly #cost: ScryptCost;
  readonly #queue: FairQueue;
  readonly #decoy: string;

  /** @param maxRunning checked or set at once, `authentication_pool_size` of api.yaml */
  constructor(maxRunning: number, cost: ScryptCost = DEFAULT_COST) {
    this.#queue = new FairQueue(maxRunning, MAX_WAITING);
    this.#cost = cost;
    // Of no password: nobody can have one that gives these bytes.
    this.#decoy = stored(cost, randomBytes(SALT_BYTES), randomBytes(HASH_BYTES));
  }

  /**
   * @returns `scrypt$N$r$p$salt$hash`, salt and hash base64url
   * @throws ProblemError 503 as {@link verify}
   */
  async hash(password: string, client: PasswordClient): Promise<string> {
    return this.#inTurn(client, async () => {
      const salt = randomBytes(SALT_BYTES);
      const hash = await derive(password, salt, HASH_BYTES, this.#cost);
      return stored(this.#cost, salt, hash);
    });
  }

  /**
   * Whether the password belongs to the stored hash. For an unknown user (no stored hash) the same work is done against
   * a constant hash, so that the time does not tell whether a name exists.
   * @throws ProblemError 503 when too many wait, and this client has the most; what `client.ready` throws
   */
  async verify(password: string, known: string | undefined, client: PasswordClient): Promise<boolean> {
    return this.#inTurn(client, async () => {
      const matches = await this.#matches(password, known ?? this.#decoy);
      return matches && known !== undefined;
    });
  }

  async #inTurn<T>(client: PasswordClient, work: () => Promise<T>): Promise<T> {
    if (!(await this.#queue.enter(client.address))) {
      const detail = 'Too many passwords are waiting to be looked at.';
      throw new ProblemError(503, { title: 'Service Unavailable', detail }, { 'retry-after': '5' });
    }
    try {
      client.ready?.();
      return await work();
    } finally {
      // Not before the answer was drawn from the result: a wrong password that blocks its address stops the next check.
      setImmediate(() => this.#queue.leave());
    }
  }

  async #matches(password: string, text: string): Promise<boolean> {
    const [kind, N, r, p, salt, hash] = text.split('$');
    if (kind !== 'scrypt' || salt === undefined || hash === undefined) return false;
    const expected = Buffer.from(hash, 'base64url');
    const cost = { N: Number(N), r: Number(r), p: Number(p) };
    const usable = Buffer.byteLength(password) <= MAX_PASSWORD_BYTES;
    const actual = await derive(usable ? password : '', Buffer.from(salt, 'base64url'), expected.length, cost);
    return timingSafeEqual(actual, expected) && usable;
  }
}

/** Whether a text is a stored hash, of a cost that a login may have: one from outside must not fill memory. */
export function isPasswordHash(text: string): boolean {
  const [, N = 0, r = 0, p = 0] = (STORED_HASH.exec(text) ?? []).map(Number);
  return N > 1 && (N & (N - 1)) === 0 && r > 0 && N * r <= MAX_COST && p > 0 && p <= MAX_PARALLEL;
}

function stored({ N, r, p }: ScryptCost, salt: Buffer, hash: Buffer): string {
  return ['scrypt', N, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

function derive(password: string, salt: Buffer, length: number, cost: ScryptCost): Promise<Buffer> {
  const maxmem = 256 * cost.N * cost.r;
  return new Promise((resolve, reject) => {
    scrypt(password, salt, length, { ...cost, maxmem }, (error, key) => (error ? reject(error) : resolve(key)));
  });
}
