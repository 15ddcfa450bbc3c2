import * as z from 'zod';
import type { Change } from '../../../../lib/store/commit-queue.js';
import type { LmdbStore } from '../../../../lib/store/lmdb-store.js';
import type { StoreTable } from '../../../../lib/store/store-table.js';

const POSITIONS = 'states_position';
const POSITION = 'inventory';
const INDICES = 'states_indices';
const AGENTS = 'states_agents';

/** Tables of `queue/outputs` for states. */
export const STATES_TABLES: readonly string[] = [POSITIONS, INDICES, AGENTS];

const position = z.object({
  /** As svc-db knows who follows. */
  follower: z.string().max(64),
  /** Last change that is indexed. */
  number: z.number().int().min(0),
  /** What all documents depend on: where it is another, all begins anew. */
  basis: z.string(),
});
/** How far the changes of inventories are indexed. */
export type StatesPosition = z.output<typeof position>;

const index = z.object({
  /** As the server tells an index from a later one of the same name; empty where it does not say. */
  uuid: z.string(),
  /** All rows are to be sent, those of agents behind this one; empty: of all. Absent: it is done. */
  copyAfter: z.string().optional(),
});
export type StateIndexRecord = z.output<typeof index>;

/** How far indices of states are, and what their documents say of agents: part of `queue/outputs`. */
export class StatesStore {
  readonly #store: LmdbStore;
  readonly #positions: StoreTable<string, StatesPosition>;
  readonly #indices: StoreTable<string, StateIndexRecord>;
  readonly #agents: StoreTable<string, string>;

  constructor(store: LmdbStore) {
    this.#store = store;
    this.#positions = store.table(POSITIONS, position);
    this.#indices = store.table(INDICES, index);
    this.#agents = store.table(AGENTS, z.string());
  }

  /** Undefined when nobody follows. @throws StoreError `damaged` */
  get position(): StatesPosition | undefined {
    return this.#positions.get(POSITION);
  }

  /** By kind. @throws StoreError `damaged` */
  index(kind: string): StateIndexRecord | undefined {
    return this.#indices.get(kind);
  }

  /** What documents say of agents, by id. @throws StoreError `damaged` */
  agents(): Map<string, string> {
    return new Map(this.#agents.entries());
  }

  putPosition(value: StatesPosition): Change {
    return this.#positions.put(POSITION, value);
  }

  putIndex(kind: string, value: StateIndexRecord): Change {
    return this.#indices.put(kind, value);
  }

  putAgent(id: string, text: string): Change {
    return this.#agents.put(id, text);
  }

  removeAgent(id: string): Change {
    return this.#agents.remove(id);
  }

  /** @throws StoreError: nothing was changed */
  commit(changes: readonly Change[]): Promise<void> {
    return this.#store.commit(changes);
  }

  /** Forgets everything. @throws StoreError */
  async clear(): Promise<void> {
    const changes = [this.#positions.remove(POSITION)];
    for (const [kind] of this.#indices.entries()) changes.push(this.#indices.remove(kind));
    for (const [id] of this.#agents.entries()) changes.push(this.#agents.remove(id));
    await this.commit(changes);
  }
}
