import { ProblemError } from '../http/problem-error.js';

/** The number that digits are; `007` is the id of 7. @throws ProblemError 400 when no id is that large: it could not be shown again */
export function objectId(digits: string): number {
  const id = Number(digits);
  if (!Number.isSafeInteger(id)) throw ProblemError.badRequest(`'${digits}' is not a 'numbers': no id is that large`);
  return id;
}
