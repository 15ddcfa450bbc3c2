import { AgentRecord } from './agent-record.js';
import type { SharedValues } from './shared-values.js';

/** Agents by their ids, and in the order in which they were heard of last. */
export class AgentList {
  readonly #shared: SharedValues;
  readonly #agents = new Map<string, AgentRecord>();
  #oldest: AgentRecord | undefined = undefined;
  #newest: AgentRecord | undefined = undefined;
  /** Counts what agents are heard of. */
  clock = 0;

  constructor(shared: SharedValues) {
    this.#shared = shared;
  }

  get size(): number {
    return this.#agents.size;
  }

  /** The agent that was not heard of for longest. */
  get oldest(): AgentRecord | undefined {
    return this.#oldest;
  }

  get(id: string): AgentRecord | undefined {
    return this.#agents.get(id);
  }

  /** The agent, which is the one heard of last then; it is added when it is not there. */
  heard(id: string): AgentRecord {
    const agent = this.#agents.get(id) ?? this.add(id);
    agent.seenAt = this.clock += 1;
    if (agent !== this.#newest) {
      this.#unlink(agent);
      this.#link(agent);
    }
    return agent;
  }

  /** Adds an agent that was heard of at some time or other, unless it is there. */
  add(id: string): AgentRecord {
    const known = this.#agents.get(id);
    if (known !== undefined) return known;
    const agent = new AgentRecord(id, this.#shared);
    this.#agents.set(id, agent);
    this.#link(agent);
    return agent;
  }

  delete(id: string): void {
    const agent = this.#agents.get(id);
    if (agent === undefined) return;
    this.#agents.delete(id);
    this.#unlink(agent);
  }

  clear(): void {
    this.#agents.clear();
    this.#oldest = this.#newest = undefined;
  }

  /** In the order in which they were added; one that is added meanwhile comes, too. */
  values(): IterableIterator<AgentRecord> {
    return this.#agents.values();
  }

  /** From the one not heard of for longest on. */
  *inOrder(): Generator<AgentRecord> {
    for (let agent = this.#oldest; agent !== undefined; agent = agent.newer) yield agent;
  }

  /** Puts them in the order of `seenAt`, after that was set by others. */
  sort(): void {
    const agents = [...this.#agents.values()].sort((a, b) => a.seenAt - b.seenAt);
    this.#oldest = this.#newest = undefined;
    for (const agent of agents) {
      agent.older = agent.newer = undefined;
      this.#link(agent);
    }
  }

  #link(agent: AgentRecord): void {
    agent.older = this.#newest;
    if (this.#newest === undefined) this.#oldest = agent;
    else this.#newest.newer = agent;
    this.#newest = agent;
  }

  #unlink(agent: AgentRecord): void {
    if (agent.older === undefined) this.#oldest = agent.newer;
    else agent.older.newer = agent.newer;
    if (agent.newer === undefined) this.#newest = agent.older;
    else agent.newer.older = agent.older;
    agent.older = agent.newer = undefined;
  }
}
