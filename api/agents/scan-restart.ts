import { MANAGER_ID } from '../../lib/agentlink/agent-identity.js';
import { syscheckdContract } from '../../lib/bus/contracts/syscheckd.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import type { Home } from '../../lib/home/home.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest } from '../http/api-request.js';
import type { ApiResult, ListMessages } from '../http/envelope.js';
import { daemonFailure } from '../routes/daemon-call.js';
import type { AgentDirectory } from './agent-directory.js';
import { activeOnes, type AgentOrders, agentsToOrder, ORDER_FIELDS, orderResult } from './agent-orders.js';
import { AgentView } from './agent-view.js';
import { scopeAllows } from './scope-allows.js';

/** Starts a scan of files and one of rootcheck (integrity-and-inventory.md 8.3, 9.5). */
const SCAN_ORDER = 'syscheck restart';
/** What svc-syscheckd may take to say that it has the order, milliseconds. */
const ANSWER_MS = 5000;

export type ScanParts = {
  readonly home: Home;
  readonly node: () => string;
  readonly directory: AgentDirectory;
  readonly orders: AgentOrders;
};

/**
 * Orders the agents of `agents_list`, or all of them, to scan now. The manager itself is 000 and told over the bus:
 * named, it fails with 1017 where svc-syscheckd does not run.
 * @param action that the caller needs
 */
export async function restartScans(
  parts: ScanParts,
  request: ApiRequest,
  action: string,
  messages: ListMessages,
): Promise<ApiResult> {
  const { directory, orders } = parts;
  const view = new AgentView(directory, request, action);
  const ids = request.parameters.texts('agents_list');
  const chosen = ids === undefined ? await agentsToOrder(view, ids) : await view.choose(ids, ORDER_FIELDS);
  const isManager = ({ id }: { readonly id: string }): boolean => id === MANAGER_ID;
  const manager =
    ids === undefined
      ? scopeAllows(view.scope, MANAGER_ID, [])
        ? [{ id: MANAGER_ID, groups: [] }]
        : []
      : chosen.agents.filter(isManager);
  const agents = chosen.agents.filter((agent) => !isManager(agent));
  const { ready, failed } = activeOnes({ agents, failed: chosen.failed });
  if (manager.length > 0) {
    const error = await scanManager(parts, request);
    if (error !== undefined) failed.push({ id: MANAGER_ID, error });
  }
  failed.push(...(await orders.send(request, ready, SCAN_ORDER)));
  return orderResult([...manager, ...ready], failed, ids === undefined, messages);
}

/** @returns why it was not told @throws what is no failure of svc-syscheckd alone */
async function scanManager({ home, node }: ScanParts, request: ApiRequest): Promise<ApiError | undefined> {
  const client = new RequestClient({ contract: syscheckdContract, path: home.socket('svc-syscheckd') });
  try {
    await client.call('order', { text: SCAN_ORDER }, { deadlineMs: ANSWER_MS, signal: request.signal });
    return undefined;
  } catch (error) {
    const failure = await daemonFailure(error, home, request.nodeName(node()), 'svc-syscheckd');
    if (failure instanceof ApiError) return failure;
    throw failure;
  } finally {
    client.close();
  }
}
