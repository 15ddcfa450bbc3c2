import { type InventoryType, MAX_INVENTORY_PAGE } from '../../lib/bus/contracts/db-inventory.js';
import { type TableParameters, tableParameters } from '../agents/agent-parameters.js';
import { type AgentsRequest, AgentView } from '../agents/agent-view.js';
import { inOrder } from '../agents/clear-stored.js';
import { hasConnected, noDatabase } from '../agents/stored-agent.js';
import { pickGiven } from '../contract/pick-given.js';
import { collectPages } from '../daemons/collect-pages.js';
import type { DbClient } from '../daemons/db-client.js';
import type { OperationHandlers } from '../http/api-request.js';
import { type ApiResult, type FailedItem, listResult } from '../http/envelope.js';
import { scopeAllowsAll } from '../rbac/permitted-agents.js';

/** Parameters by which rows are filtered (rest-api.md 6.13, 6.18), named as their fields. */
const FILTERS = {
  hardware: ['ram.free', 'ram.total', 'cpu.cores', 'cpu.mhz', 'cpu.name', 'board_serial'],
  hotfixes: ['hotfix'],
  netaddr: ['iface', 'proto', 'address', 'broadcast', 'netmask'],
  netiface: [
    ...['name', 'adapter', 'type', 'state', 'mtu', 'tx.packets', 'rx.packets', 'tx.bytes', 'rx.bytes'],
    ...['tx.errors', 'rx.errors', 'tx.dropped', 'rx.dropped'],
  ],
  netproto: ['iface', 'type', 'gateway', 'dhcp'],
  os: ['os.name', 'os.version', 'architecture', 'version', 'release'],
  packages: ['vendor', 'name', 'architecture', 'format', 'version'],
  ports: ['pid', 'protocol', 'local.ip', 'local.port', 'remote.ip', 'tx_queue', 'state', 'process'],
  processes: [
    ...['pid', 'state', 'ppid', 'egroup', 'euser', 'fgroup', 'name', 'nlwp', 'pgrp', 'priority', 'rgroup', 'ruser'],
    ...['sgroup', 'suser'],
  ],
  users: [],
  groups: [],
  browser_extensions: [],
  services: [],
} as const satisfies Readonly<Record<InventoryType, readonly string[]>>;

const MESSAGES = {
  all: 'All specified syscollector information was returned',
  some: 'Some syscollector information was not returned',
  none: 'No syscollector information was returned',
};

type InventoryRequest = AgentsRequest & { readonly parameters: Partial<TableParameters> };

/** What is on the hosts of agents (rest-api.md 6.13, 6.18; integrity-and-inventory.md 11.5). */
export function syscollectorRoutes(db: DbClient): OperationHandlers {
  const one = (type: InventoryType) => (request: InventoryRequest) => ofAgent(db, request, type);
  const many = (type: InventoryType) => (request: InventoryRequest) => ofAgents(db, request, type);
  return {
    getSyscollectorAgentIdHardware: one('hardware'),
    getSyscollectorAgentIdHotfixes: one('hotfixes'),
    getSyscollectorAgentIdNetaddr: one('netaddr'),
    getSyscollectorAgentIdNetiface: one('netiface'),
    getSyscollectorAgentIdNetproto: one('netproto'),
    getSyscollectorAgentIdOs: one('os'),
    getSyscollectorAgentIdPackages: one('packages'),
    getSyscollectorAgentIdPorts: one('ports'),
    getSyscollectorAgentIdProcesses: one('processes'),
    getSyscollectorAgentIdUsers: one('users'),
    getSyscollectorAgentIdGroups: one('groups'),
    getSyscollectorAgentIdBrowserExtensions: one('browser_extensions'),
    getSyscollectorAgentIdServices: one('services'),
    getExperimentalSyscollectorHardware: many('hardware'),
    getExperimentalSyscollectorHotfixes: many('hotfixes'),
    getExperimentalSyscollectorNetaddr: many('netaddr'),
    getExperimentalSyscollectorNetiface: many('netiface'),
    getExperimentalSyscollectorNetproto: many('netproto'),
    getExperimentalSyscollectorOs: many('os'),
    getExperimentalSyscollectorPackages: many('packages'),
    getExperimentalSyscollectorPorts: many('ports'),
    getExperimentalSyscollectorProcesses: many('processes'),
  };
}

/** @throws ApiError 2007 for an agent that never connected, 4000 */
async function ofAgent(db: DbClient, request: InventoryRequest, type: InventoryType): Promise<ApiResult> {
  const { agents, failed } = await new AgentView(db, request).choose(['status']);
  const [agent] = agents;
  if (agent === undefined) return listResult({ items: [], total: 0, failed, messages: MESSAGES });
  if (!hasConnected(agent)) throw noDatabase(agent.id);
  return answer(db, request, type, [agent.id], failed);
}

/** Agents that have told nothing have no rows; those that are not there, or not allowed, fail. */
async function ofAgents(db: DbClient, request: InventoryRequest, type: InventoryType): Promise<ApiResult> {
  const view = new AgentView(db, request);
  if (view.isAll) {
    // No list of all agents goes back and forth where nobody is left out.
    const agents = scopeAllowsAll(view.scope) ? (request.part.agents ?? 'all') : await view.ids({});
    return answer(db, request, type, agents, []);
  }
  const { agents, failed } = await view.choose();
  return answer(
    db,
    request,
    type,
    // In the order of their numbers: lists of several nodes have no other in common.
    inOrder(agents.map(({ id }) => id)),
    failed,
  );
}

async function answer(
  db: DbClient,
  request: InventoryRequest,
  type: InventoryType,
  agents: readonly string[] | 'all',
  failed: readonly FailedItem[],
): Promise<ApiResult> {
  const { offset = 0, limit = 500 } = request.parameters;
  const { rows } = request.part;
  const table = tableParameters({ ...request.parameters, offset, limit } as TableParameters);
  const filters = pickGiven(request.parameters as Readonly<Record<string, string | number>>, FILTERS[type]);
  const wanted = { ...table, filters, type, agents: agents === 'all' ? agents : [...agents] };
  if (rows !== undefined) {
    // One page as svc-db cuts it: whoever merges it asks on.
    const keys = rows === 'keys' ? 'alone' : 'beside';
    const page = await db.call(request, 'inventory.list', { ...wanted, keys });
    return listResult({ ...page, failed, messages: MESSAGES });
  }
  const page = await collectPages(table, MAX_INVENTORY_PAGE, (bounds) =>
    db.call(request, 'inventory.list', { ...wanted, ...bounds }),
  );
  return listResult({ ...page, failed, messages: MESSAGES });
}
