import { ApiError } from '../http/api-error.js';
import type { FailedItem } from '../http/envelope.js';
import { ProblemError } from '../http/problem-error.js';
import type { Permissions } from './permissions.js';

/** Kinds of objects of access control, as resources name them (rest-api.md 5.3). */
export type SecurityResource = 'user:id' | 'role:id' | 'policy:id' | 'rule:id';

/** Objects that a request is about: those the caller may act on, and why not the others. */
export type ChosenIds = {
  readonly ids: readonly number[];
  readonly failed: readonly FailedItem[];
  /** Whether everything was meant: what cannot be done is left out silently then (rest-api.md 5.2). */
  readonly isAll: boolean;
};

/**
 * Where `all` is no choice: a link is made to objects that were named.
 * @throws ApiError 4000 when the caller may act on none of the ids that were named (rest-api.md 5.2); ProblemError 400 for `all`
 */
export function chooseIds(
  permissions: Permissions,
  action: string,
  type: SecurityResource,
  named: readonly string[],
): ChosenIds {
  if (named.includes('all')) throw ProblemError.badRequest("'all' is not a 'numbers': the ids have to be named");
  const wanted = [...new Set(named.map((id) => String(objectId(id))))];
  const allowed = permissions.allowed(action, type, wanted);
  if (allowed.size === 0) throw denied(type);
  const failed = wanted.filter((id) => !allowed.has(id)).map((id) => ({ id: Number(id), error: denied(type) }));
  return { ids: [...allowed].map(Number), failed, isAll: false };
}

/** As {@link chooseIds}; without a list, or with `all` in it, those of `everything` that the caller may act on. */
export function chooseIdsOrAll(
  permissions: Permissions,
  action: string,
  type: SecurityResource,
  named: readonly string[] | undefined,
  everything: readonly { readonly id: number }[],
): ChosenIds {
  if (named !== undefined && !named.includes('all')) return chooseIds(permissions, action, type, named);
  const allowed = permissions.allowed(
    action,
    type,
    everything.map(({ id }) => String(id)),
  );
  return { ids: [...allowed].map(Number), failed: [], isAll: true };
}

/** The number that digits are. @throws ProblemError 400 when no id is that large: it could not be shown again */
export function objectId(digits: string): number {
  const id = Number(digits);
  if (!Number.isSafeInteger(id)) throw ProblemError.badRequest(`'${digits}' is not a 'numbers': no id is that large`);
  return id;
}

function denied(type: SecurityResource): ApiError {
  return new ApiError(4000, { extra: `Resource type: ${type}` });
}
