import type { InventoryOperation } from '../../../lib/bus/contracts/db-inventory.js';
import { INVENTORY_TABLES, type InventoryTable } from '../../../lib/events/inventory/inventory-tables.js';
import { readDelta, readInventoryState, tableOfComponent } from '../../../lib/events/inventory/read-row.js';
import { type JsonMessage, readJson } from '../../../lib/events/sync/read-json.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { LmdbStore } from '../../../lib/store/lmdb-store.js';
import type { StoreError } from '../../../lib/store/store-error.js';
import { applyOperations, type JournalEvents } from '../rows/apply-operations.js';
import { BatchWriter } from '../rows/batch-writer.js';
import { Refusals } from '../rows/refusals.js';
import { removingRows, SlotGarbage } from '../rows/slot-garbage.js';
import { type StateTask, TableSync } from '../rows/table-sync.js';
import { InventoryBatch, type InventoryRefusal } from './inventory-batch.js';
import { agentOfComponent, inventoryComponent } from './inventory-component.js';
import { InventoryCounters, type Refusal } from './inventory-counters.js';
import { InventoryFollower } from './inventory-follower.js';
import { InventoryHandover } from './inventory-handover.js';
import { inventoryChecksum } from './inventory-row.js';
import { type InventoryReader, inventoryTables, openInventoryStore, readInventoryMemory } from './inventory-store.js';

export type InventoryDatabaseParts = {
  /** `{home}/queue/db/inventory`. */
  readonly directory: string;
  readonly logger: Logger;
  /** Is told while the disk does not take changes. */
  readonly setProblem: (problem: string | undefined) => void;
  /** Whether an agent is registered. */
  readonly knows: (agent: string) => boolean;
};

const TEXTS: Readonly<Record<Refusal, string | undefined>> = {
  malformed: 'it is no JSON, or something is missing from it',
  // Events of agents that were removed meanwhile.
  unknown_agent: undefined,
  key_too_long: 'its key is too long',
  row_too_large: 'it is too large',
  too_many_rows: 'the agent has too many rows in that table, or too long ones',
};

/** Agents forgotten in one turn of the event loop: a hundred thousand may be removed at once. */
const AGENTS_PER_TASK = 256;

/** What is on the hosts of all agents (integrity-and-inventory.md 11): `queue/db/inventory`. */
export class InventoryDatabase {
  readonly what = 'Inventories';
  readonly comesWith = 'their synchronisation';
  readonly counters: InventoryCounters;
  readonly sync: TableSync<InventoryBatch, Refusal>;
  readonly reader: InventoryReader;
  readonly follower: InventoryFollower;
  readonly handover: InventoryHandover;
  readonly #store: LmdbStore;
  readonly #writer: BatchWriter<InventoryBatch>;
  readonly #garbage: SlotGarbage;
  readonly #knows: (agent: string) => boolean;
  readonly #refuse: (reason: Refusal, agent: string) => void;

  /** @throws StoreError */
  static async open(parts: InventoryDatabaseParts): Promise<InventoryDatabase> {
    return new InventoryDatabase(parts, await openInventoryStore(parts.directory));
  }

  private constructor({ logger, setProblem, knows }: InventoryDatabaseParts, store: LmdbStore) {
    this.#store = store;
    this.#knows = knows;
    const tables = inventoryTables(store);
    const memory = readInventoryMemory(tables);
    this.reader = { tables, memory };
    const refusals = new Refusals<Refusal>('An event or state of the inventory', TEXTS, logger);
    this.#refuse = refusals.refuse;
    this.counters = new InventoryCounters(refusals.counts);
    this.#writer = new BatchWriter({
      store,
      begin: (before) => new InventoryBatch(tables, memory, before),
      setProblem,
      what: 'Inventories of agents',
    });
    this.handover = new InventoryHandover(this.reader, this.#writer);
    const { rows, names, changes } = tables;
    this.#garbage = new SlotGarbage(tables.garbage, removingRows(store, tables.garbage, [rows, names, changes]));
    const onDropped = (): void => {
      this.#garbage.wake();
    };
    this.follower = new InventoryFollower(this.#writer, this.reader, onDropped);
    this.sync = new TableSync<InventoryBatch, Refusal>({
      writer: this.#writer,
      rows,
      memory,
      counters: this.counters.sync,
      knows,
      onRefused: this.#refuse,
      component: (agent, name) => {
        const table = tableOfComponent(name);
        return table === undefined ? undefined : inventoryComponent(agent, table.name);
      },
      readState: stateTask,
      checksumOf: inventoryChecksum,
      onDropped,
    });
  }

  /** Resolves with the error when the disk did not take a commit in time; the process should end then. */
  get broken(): Promise<StoreError> {
    return this.#store.broken;
  }

  /** Takes away what is left of agents that are not registered any more. */
  async start(): Promise<void> {
    const agents = new Set([...this.reader.memory.components.keys()].map(agentOfComponent));
    const gone = [...agents].filter((agent) => !this.#knows(agent));
    if (gone.length > 0) await this.forget(gone);
    this.#garbage.wake();
  }

  /** How far a journal is stored. */
  get position(): { readonly journal: string; readonly position: number } {
    const { journal, position } = this.reader.memory.state;
    return { journal, position };
  }

  /** Whether anything is stored of an agent. */
  holds(agent: string): boolean {
    return componentsOf(agent).some((component) => this.reader.memory.components.has(component));
  }

  /** Applies what events of a journal change. @returns how far it is stored then @throws BusError `gap`, `disk_full`, `disk_failed` */
  apply(events: JournalEvents<InventoryOperation['kind']>): Promise<number> {
    return this.#writer.write((batch) =>
      applyOperations(batch, events, (operation) => this.#applied(batch, operation), this.counters.events),
    );
  }

  /** Takes away all that is stored of agents. @throws BusError `disk_full`, `disk_failed` */
  async forget(agents: readonly string[]): Promise<void> {
    for (let from = 0; from < agents.length; from += AGENTS_PER_TASK) {
      const some = agents.slice(from, from + AGENTS_PER_TASK);
      await this.#writer.write((batch) => {
        for (const agent of some) batch.forgetAgent(componentsOf(agent));
      });
    }
    this.#garbage.wake();
  }

  /** Agents that have rows in a table, behind one of them. @param ids all agents, in their order */
  agentsWith(
    { name }: InventoryTable,
    ids: readonly string[],
    after: string | undefined,
    limit: number,
  ): { agent: string; rows: number }[] {
    const found: { agent: string; rows: number }[] = [];
    for (const agent of ids) {
      if (after !== undefined && Number(agent) <= Number(after)) continue;
      const rows = this.reader.memory.components.get(inventoryComponent(agent, name))?.rows ?? 0;
      if (rows > 0) found.push({ agent, rows });
      if (found.length === limit) break;
    }
    return found;
  }

  /** Resolves when nothing is left of what was taken away. */
  emptied(): Promise<void> {
    return this.#garbage.emptied();
  }

  /** Members of the daemon's statistics. */
  stats(): Record<string, unknown> {
    const { components, state, follower } = this.reader.memory;
    let rows = 0;
    for (const record of components.values()) rows += record.rows;
    const waiting = follower === undefined ? null : state.nextNumber - 1 - follower.acknowledged;
    const writes = { ...this.#writer.counters };
    return { ...this.counters, writes, rows, position: state.position, follower: { waiting } };
  }

  async close(): Promise<void> {
    await this.#garbage.stop();
    await this.#writer.drained();
    await this.#store.close();
  }

  /** @returns whether something was stored of it */
  #applied(batch: InventoryBatch, { agent, message }: InventoryOperation): boolean {
    const refusal = this.#knows(agent) ? this.#change(batch, agent, message) : 'unknown_agent';
    if (refusal !== undefined) this.#refuse(refusal, agent);
    return refusal === undefined;
  }

  #change(batch: InventoryBatch, agent: string, message: Uint8Array): Refusal | undefined {
    const json = readJson(message);
    const delta = json === undefined ? 'it is no JSON' : readDelta(json);
    if (typeof delta === 'string') return 'malformed';
    if (delta === undefined) {
      this.counters.unknown_tables += 1;
      return undefined;
    }
    const { table, key, row } = delta;
    const component = inventoryComponent(agent, table.name);
    if (row !== undefined) return batch.putRow(component, table, key, row);
    batch.deleteRow(component, key);
    return undefined;
  }
}

function stateTask(agent: string, message: JsonMessage): StateTask<InventoryBatch, InventoryRefusal> | string {
  const { component } = message.value;
  const table = typeof component === 'string' ? tableOfComponent(component) : undefined;
  if (table === undefined) return 'dbsync: Invalid component specified.';
  const told = readInventoryState(table, message);
  if (typeof told === 'string') return told;
  return (batch) => batch.putRow(inventoryComponent(agent, table.name), table, told.key, told.row);
}

function componentsOf(agent: string): number[] {
  return INVENTORY_TABLES.map(({ name }) => inventoryComponent(agent, name));
}
