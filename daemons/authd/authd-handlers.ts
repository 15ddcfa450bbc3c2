import type { AgentKey } from '../../lib/agentlink/agent-key.js';
import { BusError } from '../../lib/bus/bus-error.js';
import type { Handlers } from '../../lib/bus/contract.js';
import type { authdContract } from '../../lib/bus/contracts/authd.js';
import type { KeyRegistry } from './key-registry.js';
import { type LocalAgents, type LocalErrorCode, LocalRequestError } from './local-agents.js';
import type { ReplacementGuard } from './replacement-guard.js';

type OwnMethods = 'add' | 'remove' | 'get' | 'list' | 'conflicts';

/** Codes of the contract where they differ from those of this daemon. */
const CODES: Partial<Record<LocalErrorCode, string>> = {
  manager_name: 'duplicate_name',
  unknown_group: 'bad_groups',
};

/** Answers of svc-authd beyond those every daemon gives. */
export function authdHandlers(
  local: LocalAgents,
  keys: KeyRegistry,
  guard: ReplacementGuard,
): Pick<Handlers<typeof authdContract>, OwnMethods> {
  return {
    add: ({ groups, ...candidate }, call) =>
      answered(async () => shown(await local.add({ ...candidate, groups: groups?.join(',') }, call?.isWanted))),
    remove: ({ ids, purge }, call) =>
      answered(async () => {
        const unknown = ids.filter((id) => keys.byId(id) === undefined);
        const removed = await local.remove(ids, purge, call?.isWanted);
        return { removed: removed.map(({ id, name }) => ({ id, name })), unknown };
      }),
    get: ({ id }) => {
      const agent = keys.byId(id);
      if (agent === undefined) throw new BusError('unknown_agent', `No agent has the id ${id}`);
      return shown(agent);
    },
    list: ({ offset, limit }) => {
      const agents = [...keys.agents].slice(offset, offset + limit);
      return { agents: agents.map(({ id, name, ip }) => ({ id, name, ip })), total: keys.size };
    },
    conflicts: () => ({
      conflicts: guard.conflicts().map((conflict) => ({
        ...conflict,
        sources: [...conflict.sources],
        id: keys.byName(conflict.name)?.id ?? null,
      })),
    }),
  };
}

function shown({ id, name, ip, rawKey }: AgentKey): { id: string; name: string; ip: string; key: string } {
  return { id, name, ip, key: rawKey };
}

async function answered<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof LocalRequestError) {
      throw new BusError(CODES[error.code] ?? error.code, error.message, { cause: error });
    }
    throw error;
  }
}
