import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ifPresentSync } from '../files/if-present.js';
import { writeFileAtomically } from '../files/write-file-atomically.js';

const LOWER = 'abcdefghijkmnpqrstuvwxyz';
const UPPER = 'ABCDEFGHJKLMNPQRSTUVWXYZ';
const DIGITS = '23456789';
const SYMBOLS = '.-+*_=';
/** Length of a generated password: over 140 bits from the characters above. */
const LENGTH = 24;

/** A random password with a lower-case and an upper-case letter, a digit and a symbol (rest-api.md 2.5). */
export function randomPassword(): string {
  const all = LOWER + UPPER + DIGITS + SYMBOLS;
  const characters = [LOWER, UPPER, DIGITS, SYMBOLS].map(pick);
  while (characters.length < LENGTH) characters.push(pick(all));
  for (let index = characters.length - 1; index > 0; index -= 1) {
    const other = randomInt(index + 1);
    [characters[index], characters[other]] = [characters[other] ?? '', characters[index] ?? ''];
  }
  return characters.join('');
}

/**
 * The password a built-in user starts with: what the file holds, or a random one that is written there (mode 0600).
 * @param path for example `{home}/api/configuration/security/initial-admin-password`
 * @throws Error when the file exists and is empty, or cannot be read or written
 */
export function ensureInitialPassword(path: string): string {
  const text = ifPresentSync(() => readFileSync(path, 'utf8'));
  if (text === undefined) {
    const password = randomPassword();
    writeFileAtomically(path, `${password}\n`, { mode: 0o600, durable: true });
    return password;
  }
  const password = text.replace(/\r?\n$/, '');
  if (password === '') throw new Error(`${path} is empty: it must hold the password of the user`);
  return password;
}

function pick(characters: string): string {
  return characters.charAt(randomInt(characters.length));
}
