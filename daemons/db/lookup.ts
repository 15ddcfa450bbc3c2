import type { AgentRow } from './agent-record.js';

/** Agents by a text that most have for themselves: a set is only made where several share one. */
export class Lookup {
  readonly #found = new Map<string, AgentRow | Set<AgentRow>>();

  add(key: string, row: AgentRow): void {
    const known = this.#found.get(key);
    if (known === undefined) this.#found.set(key, row);
    else if (known instanceof Set) known.add(row);
    else if (known !== row) this.#found.set(key, new Set([known, row]));
  }

  delete(key: string, row: AgentRow): void {
    const known = this.#found.get(key);
    if (known === row) {
      this.#found.delete(key);
    } else if (known instanceof Set) {
      known.delete(row);
      if (known.size === 0) this.#found.delete(key);
    }
  }

  get(key: string): Iterable<AgentRow> {
    const known = this.#found.get(key);
    return known === undefined ? [] : known instanceof Set ? known : [known];
  }

  keys(): Iterable<string> {
    return this.#found.keys();
  }

  count(key: string): number {
    const known = this.#found.get(key);
    return known === undefined ? 0 : known instanceof Set ? known.size : 1;
  }
}
