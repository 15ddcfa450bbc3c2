import type { FimOperation } from '../../../lib/bus/contracts/db-fim.js';
import { componentOfName, FIM_COMPONENTS, type FimComponent } from '../../../lib/events/fim/fim-component.js';
import { readState } from '../../../lib/events/fim/read-entry.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { LmdbStore } from '../../../lib/store/lmdb-store.js';
import type { StoreError } from '../../../lib/store/store-error.js';
import { agentIdText } from '../agent-record.js';
import { applyOperations, type JournalEvents } from '../rows/apply-operations.js';
import { BatchWriter } from '../rows/batch-writer.js';
import { type ComponentMemory, readMemory, type SyncInfo } from '../rows/component-store.js';
import { Refusals } from '../rows/refusals.js';
import { keyInSlot, slotRange } from '../rows/row-keys.js';
import { SLOT_BYTES } from '../rows/row-limits.js';
import { removingRows, SlotGarbage } from '../rows/slot-garbage.js';
import { TableSync } from '../rows/table-sync.js';
import { applyOperation, applyState } from './fim-apply.js';
import { FimBatch } from './fim-batch.js';
import { agentOfKey, componentKey, type StoredComponent } from './fim-component.js';
import { FimCounters, type Refusal } from './fim-counters.js';
import { FimHandover } from './fim-handover.js';
import type { FimReader } from './fim-list.js';
import { checksumOf, decodeRow, type FimRow } from './fim-row.js';
import { type FimTables, fimTables, openFimStore } from './fim-store.js';

export type FimDatabaseParts = {
  /** `{home}/queue/db/fim`. */
  readonly directory: string;
  readonly logger: Logger;
  /** Is told while the disk does not take changes. */
  readonly setProblem: (problem: string | undefined) => void;
  /** Whether an agent is registered. */
  readonly knows: (agent: string) => boolean;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** Files of all agents, and what rootcheck found on them (integrity-and-inventory.md 7): `queue/db/fim`. */
export class FimDatabase {
  readonly what = 'Files';
  readonly comesWith = 'their synchronisation';
  readonly counters: FimCounters;
  readonly sync: TableSync<FimBatch, Refusal>;
  readonly reader: FimReader;
  readonly handover: FimHandover;
  readonly #store: LmdbStore;
  readonly #writer: BatchWriter<FimBatch>;
  readonly #garbage: SlotGarbage;
  readonly #memory: ComponentMemory;
  readonly #tables: FimTables;
  readonly #knows: (agent: string) => boolean;
  readonly #refuse: (reason: Refusal, agent: string) => void;

  /** @throws StoreError */
  static async open(parts: FimDatabaseParts): Promise<FimDatabase> {
    return new FimDatabase(parts, await openFimStore(parts.directory));
  }

  private constructor({ logger, setProblem, knows, now }: FimDatabaseParts, store: LmdbStore) {
    this.#store = store;
    this.#knows = knows;
    const tables = (this.#tables = fimTables(store));
    const memory = (this.#memory = readMemory(tables));
    this.reader = { tables, memory };
    this.#writer = new BatchWriter({
      store,
      begin: (before) => new FimBatch(tables, memory, before),
      setProblem,
      what: 'Files of agents',
    });
    this.handover = new FimHandover(this.reader, this.#writer);
    const { rows, numbers, hashes, findings } = tables;
    this.#garbage = new SlotGarbage(
      tables.garbage,
      removingRows(store, tables.garbage, [rows, numbers, hashes, findings]),
    );
    const refusals = new Refusals('An event or state of files', TEXTS, logger);
    this.#refuse = refusals.refuse;
    this.counters = new FimCounters(refusals.counts);
    this.sync = new TableSync<FimBatch, Refusal>({
      writer: this.#writer,
      rows,
      memory,
      counters: this.counters.sync,
      knows,
      onRefused: this.#refuse,
      component: (agent, name) => {
        const component = componentOfName(name);
        return component === undefined ? undefined : componentKey(agent, component);
      },
      readState: (agent, message) => {
        const told = readState(message, Math.floor(now() / 1000));
        if (told === undefined) return 'the state has no index, attributes or type';
        return told === 'ignored' ? undefined : (batch) => applyState(batch, agent, told);
      },
      checksumOf,
      onDropped: () => {
        this.#garbage.wake();
      },
    });
  }

  /** Resolves with the error when the disk did not take a commit in time; the process should end then. */
  get broken(): Promise<StoreError> {
    return this.#store.broken;
  }

  /** Takes away what is left of agents that are not registered any more. */
  async start(): Promise<void> {
    const agents = [...this.#memory.components.keys()].map(agentOfKey);
    const gone = [...new Set([...agents, ...[...this.#tables.scans.entries()].map(([agent]) => agent)])].filter(
      (agent) => !this.#knows(agentIdText(agent)),
    );
    if (gone.length > 0) await this.forget(gone.map(agentIdText));
    this.#garbage.wake();
  }

  /** How far a journal is stored. */
  get position(): { readonly journal: string; readonly position: number } {
    const { journal, position } = this.#memory.state;
    return { journal, position };
  }

  /** Whether anything is stored of an agent. */
  holds(agent: string): boolean {
    const components: readonly StoredComponent[] = [...FIM_COMPONENTS, 'rootcheck'];
    if (components.some((component) => this.#memory.components.has(componentKey(agent, component)))) return true;
    return this.#tables.scans.get(Number(agent)) !== undefined;
  }

  /** Applies what events of a journal change. @returns how far it is stored then @throws BusError `gap`, `disk_full`, `disk_failed` */
  apply(events: JournalEvents<FimOperation['kind']>): Promise<number> {
    return this.#writer.write((batch) => {
      const apply = (operation: FimOperation): boolean => {
        const refusal = this.#knows(operation.agent) ? applyOperation(batch, operation) : 'unknown_agent';
        if (refusal !== undefined) this.#refuse(refusal, operation.agent);
        return refusal === undefined;
      };
      return applyOperations(batch, events, apply, this.counters.events);
    });
  }

  /** Takes away all that is stored of agents. @throws BusError `disk_full`, `disk_failed` */
  forget(agents: readonly string[]): Promise<void> {
    return this.#drop(agents, [...FIM_COMPONENTS, 'rootcheck'], true);
  }

  /** Takes away the files of agents; when they were scanned last is still known. */
  clearFiles(agents: readonly string[]): Promise<void> {
    return this.#drop(agents, FIM_COMPONENTS, false);
  }

  /** Takes away what rootcheck found on agents. */
  clearFindings(agents: readonly string[]): Promise<void> {
    return this.#drop(agents, ['rootcheck'], false);
  }

  /** State of a component's synchronisation. */
  syncInfo(agent: string, component: FimComponent): SyncInfo | undefined {
    return this.#memory.components.get(componentKey(agent, component))?.sync;
  }

  /** Resolves when nothing is left of what was taken away. */
  emptied(): Promise<void> {
    return this.#garbage.emptied();
  }

  /** Keys of all large tables. For tests: they may be many. */
  storedKeys(): number {
    const { rows, numbers, hashes, findings } = this.#tables;
    const all = { from: Buffer.from([0]), to: Buffer.alloc(SLOT_BYTES, 0xff) };
    return [rows, numbers, hashes, findings].reduce((count, table) => count + [...table.keys(all)].length, 0);
  }

  /** All entries of a component, in the order of their paths. For tests: they may be many. */
  rows(agent: string, component: StoredComponent): { readonly path: Buffer; readonly row: FimRow }[] {
    const record = this.#memory.components.get(componentKey(agent, component));
    if (record === undefined) return [];
    return [...this.#tables.rows.entries(slotRange(record.slot))].map(({ key, value }) => ({
      path: keyInSlot(key),
      row: decodeRow(value),
    }));
  }

  /** Members of the daemon's statistics. */
  stats(): Record<string, unknown> {
    const { components, state } = this.#memory;
    let rows = 0;
    for (const record of components.values()) rows += record.rows;
    return { ...this.counters, writes: { ...this.#writer.counters }, rows, position: state.position };
  }

  async close(): Promise<void> {
    await this.#garbage.stop();
    await this.#writer.drained();
    await this.#store.close();
  }

  async #drop(agents: readonly string[], components: readonly StoredComponent[], scans: boolean): Promise<void> {
    await this.#writer.write((batch) => {
      for (const agent of agents) {
        for (const component of components) batch.dropComponent(componentKey(agent, component));
        if (scans) batch.removeScan(agent);
      }
    });
    this.#garbage.wake();
  }
}

const TEXTS: Readonly<Record<Refusal, string | undefined>> = {
  malformed: 'it is neither JSON nor the text form of older agents, or something is missing from it',
  // Events of agents that were removed meanwhile.
  unknown_agent: undefined,
  path_too_long: 'its path is too long',
  row_too_large: 'it is too large',
  too_many_rows: 'the agent has too many of them, or too long ones',
  finding_too_large: 'the finding of rootcheck is too large',
  too_many_findings: 'rootcheck has found too much on it',
};
