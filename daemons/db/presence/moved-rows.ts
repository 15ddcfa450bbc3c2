import type { AgentRow } from '../agent-record.js';
import type { Registry } from '../registry.js';

/** What is stored of agents' hosts. */
export interface AgentRows {
  /** Takes away what is out of date. @throws BusError `disk_full`, `disk_failed` */
  forget(agents: readonly string[]): Promise<void>;
  /** Asks the node that an agent comes from for what it has. */
  fetch(agent: string, node: string): void;
}

/** Has what is stored of agents follow those that come from other nodes. */
export class MovedRows {
  readonly #registry: Registry;
  readonly #isOwn: (row: AgentRow) => boolean;
  readonly #rows: AgentRows | undefined;
  /** Agents that came from other nodes since the last turn, with these. */
  readonly #taken = new Map<number, string>();

  /** @param rows undefined where nothing is stored */
  constructor(registry: Registry, isOwn: (row: AgentRow) => boolean, rows: AgentRows | undefined) {
    this.#registry = registry;
    this.#isOwn = isOwn;
    this.#rows = rows;
  }

  /** Before these are this node's: what was stored of them in an earlier time goes. @throws BusError `disk_full`, `disk_failed` */
  async prepare(agents: readonly string[]): Promise<void> {
    if (this.#rows === undefined) return;
    const moved = agents.filter((agent) => {
      const row = this.#registry.agents.get(Number(agent));
      return row !== undefined && !this.#isOwn(row);
    });
    if (moved.length > 0) await this.#rows.forget(moved);
  }

  /** An agent came from another node. */
  took(id: number, node: string): void {
    this.#taken.set(id, node);
  }

  /** Asks for what is stored of those that came. */
  fetch(): void {
    for (const [id, node] of this.#taken) {
      const row = this.#registry.agents.get(id);
      // One that is away says so at once; who is there may not be known yet.
      if (row !== undefined && this.#isOwn(row)) this.#rows?.fetch(row.idText, node);
    }
    this.#taken.clear();
  }
}
