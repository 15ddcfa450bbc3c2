import { MAX_AGENTS_PER_CALL } from '../../lib/bus/contracts/db-agents.js';
import { clusterUnavailable } from '../daemons/cluster-failure.js';
import { timedOut } from '../daemons/daemon-failure.js';
import type { DbClient } from '../daemons/db-client.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest } from '../http/api-request.js';
import type { FailedItem } from '../http/envelope.js';
import type { ErrorCode } from '../http/error-code.js';
import type { AgentItem } from './agent-view.js';

/** Codes of svc-db for a change of membership that was not made. */
const MEMBERSHIP_CODES: ReadonlyMap<string, ErrorCode> = new Map<string, ErrorCode>([
  ['unknown_agent', 1701],
  ['manager', 1703],
  ['too_many_groups', 1737],
  ['already_member', 1751],
  ['not_member', 1734],
  ['only_default', 1745],
  ['unknown_group', 1710],
]);

/** What is done: one group more, this group alone, or one less. */
export type MembershipChange = 'append' | 'override' | 'remove';

/** Agents whose groups were changed, by their ids in order, and why the others' were not. */
export type ChangedMemberships = { readonly ids: readonly string[]; readonly failed: readonly FailedItem[] };

/** Changes the groups of agents in svc-db, as many in a call as it takes (agents-and-groups.md 10.3). */
export async function changeMembership(
  db: DbClient,
  request: ApiRequest,
  mode: MembershipChange,
  agents: readonly AgentItem[],
  group: string,
): Promise<ChangedMemberships> {
  const ids: string[] = [];
  const failed: FailedItem[] = [];
  for (let at = 0; at < agents.length; at += MAX_AGENTS_PER_CALL) {
    const wanted = agents.slice(at, at + MAX_AGENTS_PER_CALL).map(({ id }) => ({ id, groups: [group] }));
    const answer = await db.call(request, 'agents.membership', { mode, agents: wanted });
    for (const { id } of answer.changed) ids.push(id);
    for (const { id, code, message } of answer.failed) {
      // In a cluster what many agents are given is made in parts, and the last ones may fail.
      failed.push({ id, error: failureOf(code, message) });
    }
  }
  return { ids: ids.sort((a, b) => Number(a) - Number(b)), failed };
}

function failureOf(code: string, message: string): ApiError {
  if (code === 'cluster_unavailable') return clusterUnavailable(message);
  return code === 'timeout' ? timedOut(true, message) : new ApiError(MEMBERSHIP_CODES.get(code) ?? 1000);
}
