import type { FimColumns } from '../../../lib/events/fim/fim-columns.js';
import type { Change } from '../../../lib/store/commit-queue.js';
import { componentKey, type StoredComponent } from './fim-component.js';
import { hashKey, isIndexed, numberKey, rowKey } from './fim-keys.js';
import { MAX_ROW_BYTES, MAX_ROWS } from './fim-limits.js';
import { decodeRow, encodeRow, type FimCount, type FimRow } from './fim-row.js';
import {
  type ComponentRecord,
  type FimTables,
  NO_SYNC,
  type ScanRecord,
  STATE_KEY,
  type StateRecord,
} from './fim-store.js';

/** What of the store is in memory, as it was last committed. */
export type FimMemory = {
  state: StateRecord;
  /** By `componentKey`. */
  readonly components: Map<number, ComponentRecord>;
  /** How often entries of a component were changed since the start: whoever reads piece by piece can tell. */
  readonly versions: Map<number, number>;
};

/** What a transaction makes of the store; undefined is what it takes away. */
type Overlay = {
  state: StateRecord;
  readonly components: Map<number, ComponentRecord | undefined>;
  /** How many entries of a component are changed. */
  readonly changed: Map<number, number>;
  readonly scans: Map<number, ScanRecord | undefined>;
  /** Encoded: a buffer is quicker kept than all that is read from it. */
  readonly rows: Map<string, Buffer | undefined>;
  readonly findings: Map<string, Buffer>;
};

/** Why an entry is not stored. */
export type RowRefusal = 'too_many_rows' | 'row_too_large';

/**
 * One transaction: what its tasks change, on top of what is committed, or of the transaction that is on its way to the disk.
 * Each task sees what those before it have changed; nobody else does until it is committed.
 */
export class FimBatch {
  readonly #tables: FimTables;
  readonly #memory: FimMemory;
  /** The transaction before this one, as long as it is not committed. */
  #under: Overlay | undefined;
  readonly #own: Overlay;
  readonly #changes: Change[] = [];

  /** @param before is on its way to the disk: when it fails, this one must not be written */
  constructor(tables: FimTables, memory: FimMemory, before?: FimBatch) {
    this.#tables = tables;
    this.#memory = memory;
    this.#under = before === undefined ? undefined : before.#own;
    this.#own = {
      state: this.#under === undefined ? memory.state : this.#under.state,
      components: new Map(),
      changed: new Map(),
      scans: new Map(),
      rows: new Map(),
      findings: new Map(),
    };
  }

  /** How many changes there are, roughly. */
  get size(): number {
    return this.#changes.length;
  }

  get state(): StateRecord {
    return this.#own.state;
  }

  /** Notes how far a journal is stored. */
  moveTo(journal: string, position: number, applied: number): void {
    this.#own.state = { ...this.#own.state, journal, position, applied };
  }

  component(agent: string, component: StoredComponent): ComponentRecord | undefined {
    const key = componentKey(agent, component);
    if (this.#own.components.has(key)) return this.#own.components.get(key);
    const under = this.#under?.components;
    return under?.has(key) === true ? under.get(key) : this.#memory.components.get(key);
  }

  /** Changes with each entry of the component that is changed, those that are not committed yet included. */
  version(agent: string, component: StoredComponent): number {
    const key = componentKey(agent, component);
    const committed = this.#memory.versions.get(key) ?? 0;
    return committed + (this.#under?.changed.get(key) ?? 0) + (this.#own.changed.get(key) ?? 0);
  }

  setComponent(agent: string, component: StoredComponent, record: ComponentRecord): void {
    this.#own.components.set(componentKey(agent, component), record);
  }

  /** The component, made when it is not there. */
  ensureComponent(agent: string, component: StoredComponent): ComponentRecord {
    const known = this.component(agent, component);
    if (known !== undefined) return known;
    const slot = this.#own.state.nextSlot;
    this.#own.state = { ...this.#own.state, nextSlot: slot + 1 };
    const record = { slot, rows: 0, sync: NO_SYNC };
    this.setComponent(agent, component, record);
    return record;
  }

  /** Takes all entries of a component away at once; what is known of its synchronisation goes, too. */
  dropComponent(agent: string, component: StoredComponent): void {
    const record = this.component(agent, component);
    if (record === undefined) return;
    const key = componentKey(agent, component);
    this.#own.components.set(key, undefined);
    this.#noteChange(key);
    this.#changes.push(this.#tables.garbage.put(record.slot, true));
  }

  scan(agent: string): ScanRecord | undefined {
    const key = Number(agent);
    const own = this.#own.scans.has(key) ? this.#own.scans : this.#under?.scans;
    return own?.has(key) === true ? own.get(key) : this.#tables.scans.get(key);
  }

  setScan(agent: string, record: ScanRecord): void {
    this.#own.scans.set(Number(agent), record);
    this.#changes.push(this.#tables.scans.put(Number(agent), record));
  }

  removeScan(agent: string): void {
    this.#own.scans.set(Number(agent), undefined);
    this.#changes.push(this.#tables.scans.remove(Number(agent)));
  }

  /**
   * Adds an entry or replaces it.
   * @param columns what was told
   * @param count makes what is counted of it, from what is stored of it
   */
  putRow(
    agent: string,
    component: StoredComponent,
    path: Buffer,
    columns: FimColumns,
    count: (before: FimRow | undefined) => FimCount,
  ): RowRefusal | undefined {
    const record = this.ensureComponent(agent, component);
    const name = rowName(record.slot, path);
    const key = rowKey(record.slot, path);
    const before = this.#row(name, key);
    if (before === undefined && record.rows >= MAX_ROWS) return 'too_many_rows';
    const number = before?.number ?? this.#own.state.nextNumber;
    const encoded = encodeRow(columns, count(before), number);
    if (encoded.length > MAX_ROW_BYTES) return 'row_too_large';
    if (before === undefined) {
      this.#own.state = { ...this.#own.state, nextNumber: number + 1 };
      this.#changes.push(this.#tables.numbers.put(numberKey(record.slot, number), path));
    }
    this.#own.rows.set(name, encoded);
    this.#changes.push(this.#tables.rows.put(key, encoded));
    this.#indexHashes(record.slot, number, before, columns);
    if (before?.checksum !== columns.checksum) this.#tableChanged(agent, component, before === undefined ? 1 : 0);
    return undefined;
  }

  /** @returns whether it was there */
  deleteRow(agent: string, component: StoredComponent, path: Buffer): boolean {
    const record = this.component(agent, component);
    if (record === undefined) return false;
    const name = rowName(record.slot, path);
    const key = rowKey(record.slot, path);
    const before = this.#row(name, key);
    if (before === undefined) return false;
    this.#own.rows.set(name, undefined);
    this.#changes.push(
      this.#tables.rows.remove(key),
      this.#tables.numbers.remove(numberKey(record.slot, before.number)),
    );
    this.#indexHashes(record.slot, before.number, before, undefined);
    this.#tableChanged(agent, component, -1);
    return true;
  }

  /** An entry of the table of findings. */
  finding(key: Buffer): Buffer | undefined {
    const name = key.toString('latin1');
    return this.#own.findings.get(name) ?? this.#under?.findings.get(name) ?? this.#tables.findings.get(key);
  }

  putFinding(key: Buffer, value: Buffer): void {
    this.#own.findings.set(key.toString('latin1'), value);
    this.#changes.push(this.#tables.findings.put(key, value));
  }

  /** Everything that goes to disk. */
  changes(): Change[] {
    const { components, state } = this.#tables;
    for (const [key, record] of this.#own.components) {
      this.#changes.push(record === undefined ? components.remove(key) : components.put(key, record));
    }
    if (this.#own.state !== this.#memory.state) this.#changes.push(state.put(STATE_KEY, this.#own.state));
    return this.#changes;
  }

  /** It is committed: memory follows. */
  done(): void {
    this.#memory.state = this.#own.state;
    for (const [key, record] of this.#own.components) {
      if (record === undefined) this.#memory.components.delete(key);
      else this.#memory.components.set(key, record);
    }
    for (const [key, count] of this.#own.changed) {
      this.#memory.versions.set(key, (this.#memory.versions.get(key) ?? 0) + count);
    }
    // Counted now: the transaction after this one adds what is left here.
    this.#own.changed.clear();
    this.#under = undefined;
  }

  #row(name: string, key: Buffer): FimRow | undefined {
    const bytes = this.#stored(name, key);
    return bytes === undefined ? undefined : decodeRow(bytes);
  }

  #stored(name: string, key: Buffer): Buffer | undefined {
    const { rows } = this.#own;
    if (rows.has(name)) return rows.get(name);
    const under = this.#under?.rows;
    return under?.has(name) === true ? under.get(name) : this.#tables.rows.get(key);
  }

  #noteChange(component: number): void {
    this.#own.changed.set(component, (this.#own.changed.get(component) ?? 0) + 1);
  }

  /** A sum of the whole table that was known is not known any more. */
  #tableChanged(agent: string, component: StoredComponent, rows: number): void {
    const record = this.ensureComponent(agent, component);
    const { sync } = record;
    this.#noteChange(componentKey(agent, component));
    if (rows === 0 && sync.managerChecksum === '') return;
    this.setComponent(agent, component, {
      ...record,
      rows: record.rows + rows,
      sync: sync.managerChecksum === '' ? sync : { ...sync, managerChecksum: '' },
    });
  }

  #indexHashes(slot: number, number: number, before: FimRow | undefined, after: FimColumns | undefined): void {
    for (const name of ['md5', 'sha1', 'sha256'] as const) {
      const old = before?.[name];
      const next = after?.[name];
      if (old === next) continue;
      const { hashes } = this.#tables;
      if (isIndexed(old)) this.#changes.push(hashes.remove(hashKey(slot, old, number)));
      if (isIndexed(next)) this.#changes.push(hashes.put(hashKey(slot, next, number), NOTHING));
    }
  }
}

const NOTHING = Buffer.alloc(0);

function rowName(slot: number, path: Buffer): string {
  return `${String(slot)}:${path.toString('latin1')}`;
}
