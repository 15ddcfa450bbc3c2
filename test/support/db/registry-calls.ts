import { agentsHandlers } from '../../../daemons/db/agents-handlers.js';
import type { GroupAuthority } from '../../../daemons/db/groups/group-authority.js';
import { LocalGroups } from '../../../daemons/db/groups/local-groups.js';
import { groupsHandlers } from '../../../daemons/db/groups-handlers.js';
import { MANAGER_VERSION } from '../../../daemons/db/manager-agent.js';
import type { Registry } from '../../../daemons/db/registry.js';
import type { CallParams, CallResult, MethodName } from '../../../lib/bus/contract.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import type { agentMethods } from '../../../lib/bus/contracts/db-agents.js';
import type { groupMethods } from '../../../lib/bus/contracts/db-groups.js';

type Contract = typeof dbContract;
export type RegistryMethod = (keyof typeof agentMethods | keyof typeof groupMethods) & MethodName<Contract>;

/**
 * Asks a registry as over the bus: parameters and result pass the contract.
 * @param now epoch milliseconds
 * @param groups those of this registry alone, when nothing else is said
 */
export async function callRegistry<M extends RegistryMethod>(
  registry: Registry,
  now: () => number,
  method: M,
  params: CallParams<Contract, M>,
  groups: GroupAuthority = new LocalGroups(registry),
): Promise<CallResult<Contract, M>> {
  const handlers = {
    ...agentsHandlers(registry, groups, now, MANAGER_VERSION),
    ...groupsHandlers(registry, groups, now),
  };
  const handle = handlers[method] as (params: unknown) => unknown;
  const { params: schema, result } = dbContract.methods[method];
  return result.parse(await handle(schema.parse(params))) as CallResult<Contract, M>;
}
