import type { AgentKey } from '../../lib/agentlink/agent-key.js';

/**
 * Agents by name and by address. A file written by hand can have several of one name or address: the first is found,
 * and the next when that is gone.
 */
export class AgentIndex {
  readonly #byName = new Map<string, AgentKey[]>();
  readonly #byAddress = new Map<string, AgentKey[]>();

  constructor(agents: Iterable<AgentKey>) {
    for (const agent of agents) this.add(agent);
  }

  byName(name: string): AgentKey | undefined {
    return this.#byName.get(name)?.[0];
  }

  /** @param ip as the key has it; `any` belongs to nobody */
  byAddress(ip: string): AgentKey | undefined {
    return this.#byAddress.get(ip)?.[0];
  }

  add(agent: AgentKey): void {
    put(this.#byName, agent.name, agent);
    if (agent.ip !== 'any') put(this.#byAddress, agent.ip, agent);
  }

  remove(agent: AgentKey): void {
    take(this.#byName, agent.name, agent);
    take(this.#byAddress, agent.ip, agent);
  }
}

function put(map: Map<string, AgentKey[]>, key: string, agent: AgentKey): void {
  const agents = map.get(key);
  if (agents === undefined) map.set(key, [agent]);
  else agents.push(agent);
}

function take(map: Map<string, AgentKey[]>, key: string, agent: AgentKey): void {
  const agents = map.get(key);
  if (agents === undefined) return;
  const rest = agents.filter((other) => other !== agent);
  if (rest.length === 0) map.delete(key);
  else map.set(key, rest);
}
