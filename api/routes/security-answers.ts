import { ApiError } from '../http/api-error.js';
import { type ApiResult, type FailedItem, type ListMessages, listResult } from '../http/envelope.js';
import type { ErrorCode } from '../http/error-code.js';
import { pageOf } from '../lists/list-parameters.js';
import type { ListQuery } from '../lists/run-list-query.js';
import type { ChangedObjects } from '../rbac/changed-objects.js';
import type { ChosenIds } from '../rbac/chosen-ids.js';

/** Refusals of a change that end the request; the others are failures of its object (rest-api.md 6.9). */
const ENDS_REQUEST: ReadonlySet<ErrorCode> = new Set([4001, 5007, 5009, 5011]);

/** A change of one object. @param id what a failure is told of: the id, or the name of one that is to be made */
export async function changeOne<T>(id: number | string, change: () => Promise<T>): Promise<ChangedObjects<T>> {
  try {
    return { changed: [await change()], failed: [] };
  } catch (error) {
    if (!(error instanceof ApiError) || ENDS_REQUEST.has(error.code)) throw error;
    return { changed: [], failed: [{ id, error }] };
  }
}

/** The answer to a change: the objects as they are, or were. @param denied failures of those that were not tried */
export function changedResult<T>(
  { changed, failed }: ChangedObjects<T>,
  item: (object: T) => object,
  messages: ListMessages,
  denied: readonly FailedItem[] = [],
): ApiResult {
  return listResult({ items: changed.map(item), total: changed.length, failed: [...denied, ...failed], messages });
}

/** Objects that are deleted; with `all` those that cannot be are left out silently (rest-api.md 5.2). */
export async function deletedResult<T>(
  chosen: ChosenIds,
  remove: (ids: readonly number[]) => Promise<ChangedObjects<T>>,
  item: (object: T) => object,
  messages: ListMessages,
): Promise<ApiResult> {
  const { changed, failed } = await remove(chosen.ids);
  return changedResult({ changed, failed: chosen.isAll ? [] : failed }, item, messages, chosen.failed);
}

export type SecurityListOptions<T> = {
  readonly chosen: ChosenIds;
  readonly find: (id: number) => T | undefined;
  readonly item: (object: T) => object;
  /** What an id without an object is told. */
  readonly unknown: ErrorCode;
  /** Ids of failures as texts, not as numbers. */
  readonly failedIdsAsText?: boolean;
  readonly sortFields: readonly string[];
  readonly messages: ListMessages;
};

/** A list of users, roles, policies or security rules. @throws ApiError for list parameters that are not valid */
export function securityList<T>(query: ListQuery, options: SecurityListOptions<T>): ApiResult {
  const { chosen, find, item, unknown, sortFields, messages } = options;
  const failed = [...chosen.failed];
  const objects: T[] = [];
  for (const id of chosen.ids) {
    const object = find(id);
    if (object === undefined) failed.push({ id, error: new ApiError(unknown) });
    else objects.push(object);
  }
  const page = pageOf(objects.map(item), query, { defaultSort: 'id', sortFields, mandatoryFields: ['id'] });
  const written = options.failedIdsAsText === true ? failed.map((one) => ({ ...one, id: String(one.id) })) : failed;
  return listResult({ ...page, failed: written, messages });
}
