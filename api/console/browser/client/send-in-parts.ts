import type { ApiClient, List, Parameters } from './api-client.js';
import { type FailedItem, Failure } from './failure.js';

/** Ids in a request: a URL may have 16 KB. */
const PART = 1000;

/**
 * Changes many things by their ids, some at a time. What was done stays done: a part that fails is told with what could not be
 * done.
 * @param name the parameter that takes the ids
 * @returns all that was done, and all that was not
 * @throws Failure when nothing could be done at all
 */
export async function sendInParts(
  api: Pick<ApiClient, 'send'>,
  method: 'PUT' | 'DELETE',
  path: string,
  [name, ids]: readonly [name: string, ids: readonly string[]],
  params: Parameters = {},
): Promise<List<string>> {
  const items: string[] = [];
  const failed: FailedItem[] = [];
  let failure: unknown;
  for (let at = 0; at < ids.length; at += PART) {
    const part = ids.slice(at, at + PART);
    try {
      const done = await api.send<string>(method, path, { params: { ...params, [name]: part } });
      items.push(...done.affected_items);
      failed.push(...done.failed_items);
    } catch (error) {
      failure = error;
      // Of the others something may be possible, unless the way to the server or the right is the trouble.
      const isOfPart = error instanceof Failure && error.status === 200;
      failed.push(...failedOf(error, isOfPart ? part : ids.slice(at)));
      if (!isOfPart) break;
    }
  }
  if (failure !== undefined && items.length === 0) throw failure;
  return {
    affected_items: items,
    total_affected_items: items.length,
    failed_items: failed,
    total_failed_items: failed.reduce((sum, { id }) => sum + id.length, 0),
  };
}

/** Why things could not be done: each in the server's words where it says so, all for one reason otherwise. */
function failedOf(error: unknown, ids: readonly string[]): readonly FailedItem[] {
  if (error instanceof Failure && error.failed.length > 0) return error.failed;
  const { message, code = 0 } = error instanceof Failure ? error : { message: String(error) };
  return [{ error: { code, message }, id: ids }];
}
