import { MAX_AGENTS_PER_CLEAR } from '../../lib/bus/contracts/db-fim.js';
import type { DbClient } from '../daemons/db-client.js';
import type { ApiRequest } from '../http/api-request.js';

/** Has svc-db forget what is stored of agents; all of it when it returns. @throws ApiError 1017 when svc-db does not run */
export async function clearStored(
  db: DbClient,
  request: ApiRequest,
  method: 'fim.clear' | 'rootcheck.clear',
  ids: readonly string[],
): Promise<void> {
  for (let at = 0; at < ids.length; at += MAX_AGENTS_PER_CLEAR) {
    await db.call(request, method, { agents: ids.slice(at, at + MAX_AGENTS_PER_CLEAR) });
  }
}

/** Ids in the order of their numbers, whatever the order in which they were named. */
export function inOrder(ids: readonly string[]): string[] {
  return [...ids].sort((a, b) => Number(a) - Number(b));
}
