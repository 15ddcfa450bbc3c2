import { randomInt } from 'node:crypto';

const LOWER = 'abcdefghijkmnpqrstuvwxyz';
const UPPER = 'ABCDEFGHJKLMNPQRSTUVWXYZ';
const DIGITS = '23456789';
/** Safe inside shell words and URLs alike. */
const SYMBOLS = '._-';

/** Characters of a password: over 130 bits. */
const LENGTH = 24;

const pick = (alphabet: string) => alphabet.charAt(randomInt(alphabet.length));

/**
 * A random password that meets the rule of rest-api.md 2.5: a lower-case and an upper-case letter, a digit and another
 * character. It begins with a letter, so that no program takes it for an option.
 */
export function randomPassword(): string {
  const rest = [pick(LOWER), pick(UPPER), pick(DIGITS), pick(SYMBOLS)];
  while (rest.length < LENGTH - 1) rest.push(pick(LOWER + UPPER + DIGITS));
  for (let i = rest.length - 1; i > 0; i--) {
    const j = randomInt(i + 1);
    const swapped = rest[i] ?? '';
    rest[i] = rest[j] ?? '';
    rest[j] = swapped;
  }
  return pick(LOWER + UPPER) + rest.join('');
}
