import { MANAGER_ID } from '../../lib/agentlink/agent-identity.js';
import type { Home } from '../../lib/daemon/home.js';
import type { ApiRequest } from '../http/api-request.js';
import type { ApiResult, ListMessages } from '../http/envelope.js';
import { notReady } from '../routes/daemon-call.js';
import type { AgentDirectory } from './agent-directory.js';
import { activeOnes, type AgentOrders, agentsToOrder, ORDER_FIELDS, orderResult } from './agent-orders.js';
import { AgentView } from './agent-view.js';

/** Starts a scan of files and one of rootcheck (integrity-and-inventory.md 8.3, 9.5). */
const SCAN_ORDER = 'syscheck restart';

export type ScanParts = {
  readonly home: Home;
  readonly node: () => string;
  readonly directory: AgentDirectory;
  readonly orders: AgentOrders;
};

/**
 * Orders the agents of `agents_list`, or all of them, to scan now. 000 has no svc-syscheckd to be told: named, it fails
 * with 1017.
 * @param action that the caller needs
 */
export async function restartScans(
  { home, node, directory, orders }: ScanParts,
  request: ApiRequest,
  action: string,
  messages: ListMessages,
): Promise<ApiResult> {
  const view = new AgentView(directory, request, action);
  const ids = request.parameters.texts('agents_list');
  const chosen = ids === undefined ? await agentsToOrder(view, ids) : await view.choose(ids, ORDER_FIELDS);
  const agents = chosen.agents.filter(({ id }) => id !== MANAGER_ID);
  const { ready, failed } = activeOnes({ agents, failed: chosen.failed });
  if (agents.length < chosen.agents.length) {
    failed.push({ id: MANAGER_ID, error: await notReady(home, request.nodeName(node()), 'svc-syscheckd') });
  }
  failed.push(...(await orders.send(request, ready, SCAN_ORDER)));
  return orderResult(ready, failed, ids === undefined, messages);
}
