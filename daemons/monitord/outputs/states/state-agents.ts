import type { dbContract } from '../../../../lib/bus/contracts/db.js';
import { MAX_AGENTS_PER_PAGE } from '../../../../lib/bus/contracts/db-agents.js';
import type { RequestClient } from '../../../../lib/bus/request-client.js';
import type { Change } from '../../../../lib/store/commit-queue.js';
import { type StateAgent, stateAgent } from './state-document.js';
import type { StatesStore } from './states-store.js';

/** svc-db, as far as states need it. */
export type StatesSource = Pick<RequestClient<typeof dbContract>, 'call'>;

const SELECT = ['id', 'name', 'ip', 'registerIP', 'version'];

/**
 * What documents say of agents. All documents of an agent say the same: when svc-db has another name, address or version, the
 * agent is one whose documents are to be written again, and its entry in the store changes when they are.
 */
export class StateAgents {
  readonly #db: StatesSource;
  readonly #store: StatesStore;
  /** By id. */
  readonly #known = new Map<string, StateAgent>();
  /** As they are in the store. */
  readonly #stored = new Map<string, string>();
  /** Whose documents are to be written again. */
  readonly #outdated = new Set<string>();

  /** @throws StoreError `damaged` */
  constructor(db: StatesSource, store: StatesStore) {
    this.#db = db;
    this.#store = store;
    this.reload();
  }

  /** Takes what is in the store: a change of it may not have been made. @throws StoreError `damaged` */
  reload(): void {
    for (const map of [this.#known, this.#stored, this.#outdated]) map.clear();
    for (const [id, text] of this.#store.agents()) {
      this.#stored.set(id, text);
      this.#known.set(id, JSON.parse(text) as StateAgent);
    }
  }

  /** What documents of an agent say of it; undefined for one that svc-db does not know. */
  get(id: string): StateAgent | undefined {
    return this.#known.get(id);
  }

  /** How many are to be written again. */
  get outdated(): number {
    return this.#outdated.size;
  }

  /** One that is to be written again; it is known as it is now. */
  nextOutdated(): string | undefined {
    return this.#outdated.values().next().value;
  }

  /** Asks for those that are not known yet. @throws BusError */
  async learn(ids: Iterable<string>, signal: AbortSignal): Promise<void> {
    const missing = [...new Set(ids)].filter((id) => !this.#known.has(id));
    const { found } = await this.#ask(missing, signal);
    for (const agent of found) this.#known.set(agent.id, agent);
  }

  /** Looks which say something else now than their documents, and forgets those that are gone. @throws BusError, StoreError */
  async compare(signal: AbortSignal): Promise<void> {
    const { found, unknown } = await this.#ask([...this.#known.keys()], signal);
    for (const agent of found) {
      // Both are made alike.
      if (JSON.stringify(agent) === JSON.stringify(this.#known.get(agent.id))) continue;
      this.#known.set(agent.id, agent);
      this.#outdated.add(agent.id);
    }
    // Their documents go with the change that takes their rows away.
    await this.#store.commit(unknown.flatMap((id) => this.forget(id)));
  }

  /** Changes of the store behind what was sent of some agents. */
  sent(ids: Iterable<string>): Change[] {
    return [...new Set(ids)].flatMap((id) => {
      const agent = this.#known.get(id);
      if (agent === undefined || this.#outdated.has(id)) return [];
      const text = JSON.stringify(agent);
      if (this.#stored.get(id) === text) return [];
      this.#stored.set(id, text);
      return [this.#store.putAgent(id, text)];
    });
  }

  /** All documents of an agent were written again. */
  rewritten(id: string): Change[] {
    this.#outdated.delete(id);
    return this.sent([id]);
  }

  /** An agent is gone. @returns what changes in the store */
  forget(id: string): Change[] {
    this.#known.delete(id);
    this.#outdated.delete(id);
    return this.#stored.delete(id) ? [this.#store.removeAgent(id)] : [];
  }

  async #ask(
    ids: readonly string[],
    signal: AbortSignal,
  ): Promise<{ readonly found: StateAgent[]; readonly unknown: string[] }> {
    const found: StateAgent[] = [];
    const unknown: string[] = [];
    for (let at = 0; at < ids.length; at += MAX_AGENTS_PER_PAGE) {
      const params = { ids: ids.slice(at, at + MAX_AGENTS_PER_PAGE), select: SELECT };
      const answer = await this.#db.call('agents.get', params, { signal });
      found.push(...answer.items.map(stateAgent));
      unknown.push(...answer.unknown);
    }
    return { found, unknown };
  }
}
