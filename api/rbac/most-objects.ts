import { ProblemError } from '../http/problem-error.js';

/** Users, roles, policies or security rules there may be: all are held in memory, and lists of them are searched. */
export const MOST_OBJECTS = 10_000;

/** @throws ProblemError 400 when there are as many as there may be */
export function refuseMore(kind: string, { size }: { readonly size: number }): void {
  if (size < MOST_OBJECTS) return;
  throw ProblemError.badRequest(`There are ${size} ${kind} already, no more can be made`);
}
