import { MANAGER_ID } from '../../lib/agentlink/agent-identity.js';
import type { DbClient } from '../daemons/db-client.js';
import type { ManagerDaemons } from '../daemons/manager-daemons.js';
import type { RemotedClient } from '../daemons/remoted-client.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest } from '../http/api-request.js';
import type { ApiResult, ListMessages } from '../http/envelope.js';
import { scopeAllows } from '../rbac/permitted-agents.js';
import { activeOnes, agentsToOrder, ORDER_FIELDS, orderResult } from './agent-orders.js';
import { AgentView } from './agent-view.js';

/** Starts a scan of files and one of rootcheck (integrity-and-inventory.md 8.3, 9.5). */
const SCAN_ORDER = 'syscheck restart';

export type ScanRestartParts = {
  readonly db: DbClient;
  readonly remoted: RemotedClient;
  readonly manager: ManagerDaemons;
};

/**
 * Orders the agents of `agents_list`, or all of them, to scan now. The manager itself is 000 and told over the bus:
 * named, it fails with 1017 where svc-syscheckd does not run.
 */
export async function restartScans(
  parts: ScanRestartParts,
  request: ApiRequest<'putSyscheck' | 'putRootcheck'>,
  messages: ListMessages,
): Promise<ApiResult> {
  const { db, remoted } = parts;
  const view = new AgentView(db, request);
  const chosen = view.isAll ? await agentsToOrder(view) : await view.choose(ORDER_FIELDS);
  const isManager = ({ id }: { readonly id: string }): boolean => id === MANAGER_ID;
  const manager = view.isAll
    ? view.has(MANAGER_ID) && scopeAllows(view.scope, MANAGER_ID, [])
      ? [{ id: MANAGER_ID, groups: [] }]
      : []
    : chosen.agents.filter(isManager);
  const agents = chosen.agents.filter((agent) => !isManager(agent));
  const { ready, failed } = activeOnes({ agents, failed: chosen.failed });
  if (manager.length > 0) {
    const error = await scanManager(parts, request);
    if (error !== undefined) failed.push({ id: MANAGER_ID, error });
  }
  failed.push(...(await remoted.send(request, ready, SCAN_ORDER)));
  return orderResult([...manager, ...ready], failed, view.isAll, messages);
}

/** @returns why it was not told @throws what is no failure of svc-syscheckd alone */
async function scanManager({ manager }: ScanRestartParts, request: ApiRequest): Promise<ApiError | undefined> {
  try {
    await manager.orderSyscheckd(request, SCAN_ORDER);
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}
