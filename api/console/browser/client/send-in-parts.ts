import type { ApiClient, List, Parameters } from './api-client.js';
import { Failure } from './failure.js';

/** Ids in a request: a URL may have 16 KB. */
const PART = 1000;

/**
 * Changes many things by their ids, some at a time.
 * @param name the parameter that takes the ids
 * @returns all that was done, and all that was not
 * @throws Failure when nothing could be done at all
 */
export async function sendInParts(
  api: ApiClient,
  method: 'PUT' | 'DELETE',
  path: string,
  [name, ids]: readonly [name: string, ids: readonly string[]],
  params: Parameters = {},
): Promise<List<string>> {
  const done: List<string>[] = [];
  let failure: Failure | undefined;
  for (let at = 0; at < ids.length; at += PART) {
    try {
      done.push(await api.send<string>(method, path, { params: { ...params, [name]: ids.slice(at, at + PART) } }));
    } catch (error) {
      // Of the others something may be possible, unless the way to the server is the trouble.
      if (!(error instanceof Failure) || error.status !== 200) throw error;
      failure = error;
    }
  }
  if (failure !== undefined && done.length === 0) throw failure;
  const items = done.flatMap(({ affected_items: affected }) => affected);
  const failed = done.flatMap(({ failed_items: each }) => each);
  return {
    affected_items: items,
    total_affected_items: items.length,
    failed_items: failed,
    total_failed_items: failed.reduce((sum, { id }) => sum + id.length, 0),
  };
}
