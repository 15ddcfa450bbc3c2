import { ApiError } from '../http/api-error.js';

/** Lengths of a password, characters (rest-api.md 2.5). */
const MIN_LENGTH = 8;
const MAX_LENGTH = 64;

/** What a password has at least one of each: lower case, upper case, a digit, and what is neither letter nor digit. */
const KINDS = [/[a-z]/, /[A-Z]/, /[0-9]/, /[^A-Za-z0-9]/];

/** @throws ApiError 5009 for its length, 5007 for its characters (rest-api.md 2.5) */
export function checkPassword(password: string): void {
  const length = [...password].length;
  if (length < MIN_LENGTH || length > MAX_LENGTH) throw new ApiError(5009);
  if (!KINDS.every((kind) => kind.test(password))) throw new ApiError(5007);
}
