import type { Change } from '../../../lib/store/commit-queue.js';
import { componentKey, type Component } from './fim-component.js';
import { hashBytes, hashKey, numberKey, rowKey } from './fim-keys.js';
import { MAX_ROW_BYTES, MAX_ROWS } from './fim-limits.js';
import { decodeRow, encodeRow, type FimColumns, type FimRow } from './fim-row.js';
import {
  NO_SYNC,
  STATE_KEY,
  type ComponentRecord,
  type FimTables,
  type ScanRecord,
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

/** Why an entry is not stored. */
export type RowRefusal = 'too_many_rows' | 'row_too_large';

/**
 * One transaction: what its tasks change, on top of what is committed. Each task sees what those before it have changed;
 * nobody else does until it is committed.
 */
export class FimBatch {
  readonly #tables: FimTables;
  readonly #memory: FimMemory;
  readonly #components = new Map<number, ComponentRecord | undefined>();
  readonly #changed = new Set<number>();
  readonly #scans = new Map<number, ScanRecord>();
  readonly #rows = new Map<string, FimRow | undefined>();
  readonly #findings = new Map<string, Buffer>();
  readonly #changes: Change[] = [];
  #state: StateRecord;

  constructor(tables: FimTables, memory: FimMemory) {
    this.#tables = tables;
    this.#memory = memory;
    this.#state = memory.state;
  }

  /** How many changes there are, roughly. */
  get size(): number {
    return this.#changes.length;
  }

  get state(): StateRecord {
    return this.#state;
  }

  /** Notes how far a journal is stored. */
  moveTo(journal: string, position: number, applied: number): void {
    this.#state = { ...this.#state, journal, position, applied };
  }

  component(agent: string, component: Component): ComponentRecord | undefined {
    const key = componentKey(agent, component);
    return this.#components.has(key) ? this.#components.get(key) : this.#memory.components.get(key);
  }

  setComponent(agent: string, component: Component, record: ComponentRecord): void {
    this.#components.set(componentKey(agent, component), record);
  }

  /** The component, made when it is not there. */
  ensureComponent(agent: string, component: Component): ComponentRecord {
    const known = this.component(agent, component);
    if (known !== undefined) return known;
    const slot = this.#state.nextSlot;
    this.#state = { ...this.#state, nextSlot: slot + 1 };
    const record = { slot, rows: 0, sync: NO_SYNC };
    this.setComponent(agent, component, record);
    return record;
  }

  /** Takes all entries of a component away at once; what is known of its synchronisation goes, too. */
  dropComponent(agent: string, component: Component): void {
    const record = this.component(agent, component);
    if (record === undefined) return;
    const key = componentKey(agent, component);
    this.#components.set(key, undefined);
    this.#changed.add(key);
    this.#changes.push(this.#tables.garbage.put(record.slot, true));
  }

  scan(agent: string): ScanRecord | undefined {
    return this.#scans.get(Number(agent)) ?? this.#tables.scans.get(Number(agent));
  }

  setScan(agent: string, record: ScanRecord): void {
    this.#scans.set(Number(agent), record);
    this.#changes.push(this.#tables.scans.put(Number(agent), record));
  }

  removeScan(agent: string): void {
    this.#scans.delete(Number(agent));
    this.#changes.push(this.#tables.scans.remove(Number(agent)));
  }

  row(agent: string, component: Component, path: Buffer): FimRow | undefined {
    const record = this.component(agent, component);
    return record === undefined ? undefined : this.#row(record.slot, path);
  }

  /**
   * Adds an entry or replaces it.
   * @param columns what was told
   * @param count the two members that are counted here
   */
  putRow(
    agent: string,
    component: Component,
    path: Buffer,
    columns: FimColumns,
    count: Pick<FimRow, 'changes' | 'ahead'>,
  ): RowRefusal | undefined {
    const record = this.ensureComponent(agent, component);
    const before = this.#row(record.slot, path);
    if (before === undefined && record.rows >= MAX_ROWS) return 'too_many_rows';
    const number = before?.number ?? this.#state.nextNumber;
    const row: FimRow = { ...columns, ...count, number };
    const encoded = encodeRow(row);
    if (encoded.length > MAX_ROW_BYTES) return 'row_too_large';
    if (before === undefined) {
      this.#state = { ...this.#state, nextNumber: number + 1 };
      this.#changes.push(this.#tables.numbers.put(numberKey(record.slot, number), path));
    }
    this.#setRow(record.slot, path, row);
    this.#changes.push(this.#tables.rows.put(rowKey(record.slot, path), encoded));
    this.#indexHashes(record.slot, before, row);
    if (before?.checksum !== row.checksum) this.#tableChanged(agent, component, before === undefined ? 1 : 0);
    return undefined;
  }

  /** @returns whether it was there */
  deleteRow(agent: string, component: Component, path: Buffer): boolean {
    const record = this.component(agent, component);
    const before = record === undefined ? undefined : this.#row(record.slot, path);
    if (record === undefined || before === undefined) return false;
    this.#setRow(record.slot, path, undefined);
    this.#changes.push(
      this.#tables.rows.remove(rowKey(record.slot, path)),
      this.#tables.numbers.remove(numberKey(record.slot, before.number)),
    );
    this.#indexHashes(record.slot, before, undefined);
    this.#tableChanged(agent, component, -1);
    return true;
  }

  /** An entry of the table of findings. */
  finding(key: Buffer): Buffer | undefined {
    return this.#findings.get(key.toString('latin1')) ?? this.#tables.findings.get(key);
  }

  putFinding(key: Buffer, value: Buffer): void {
    this.#findings.set(key.toString('latin1'), value);
    this.#changes.push(this.#tables.findings.put(key, value));
  }

  /** Everything that goes to disk. */
  changes(): Change[] {
    const { components, state } = this.#tables;
    for (const [key, record] of this.#components) {
      this.#changes.push(record === undefined ? components.remove(key) : components.put(key, record));
    }
    if (this.#state !== this.#memory.state) this.#changes.push(state.put(STATE_KEY, this.#state));
    return this.#changes;
  }

  /** It is committed: memory follows. */
  done(): void {
    this.#memory.state = this.#state;
    for (const [key, record] of this.#components) {
      if (record === undefined) this.#memory.components.delete(key);
      else this.#memory.components.set(key, record);
    }
    for (const key of this.#changed) this.#memory.versions.set(key, (this.#memory.versions.get(key) ?? 0) + 1);
  }

  #row(slot: number, path: Buffer): FimRow | undefined {
    const name = rowName(slot, path);
    if (this.#rows.has(name)) return this.#rows.get(name);
    const bytes = this.#tables.rows.get(rowKey(slot, path));
    return bytes === undefined ? undefined : decodeRow(bytes);
  }

  #setRow(slot: number, path: Buffer, row: FimRow | undefined): void {
    this.#rows.set(rowName(slot, path), row);
  }

  /** A sum of the whole table that was known is not known any more. */
  #tableChanged(agent: string, component: Component, rows: number): void {
    const record = this.ensureComponent(agent, component);
    const { sync } = record;
    this.#changed.add(componentKey(agent, component));
    if (rows === 0 && sync.managerChecksum === '') return;
    this.setComponent(agent, component, {
      ...record,
      rows: record.rows + rows,
      sync: sync.managerChecksum === '' ? sync : { ...sync, managerChecksum: '' },
    });
  }

  #indexHashes(slot: number, before: FimRow | undefined, after: FimRow | undefined): void {
    const number = (after ?? before)?.number ?? 0;
    for (const name of ['md5', 'sha1', 'sha256'] as const) {
      const old = before?.[name];
      const next = after?.[name];
      if (old === next) continue;
      const gone = hashBytes(old);
      if (gone !== undefined) this.#changes.push(this.#tables.hashes.remove(hashKey(slot, gone, number)));
      const come = hashBytes(next);
      if (come !== undefined) this.#changes.push(this.#tables.hashes.put(hashKey(slot, come, number), NOTHING));
    }
  }
}

const NOTHING = Buffer.alloc(0);

function rowName(slot: number, path: Buffer): string {
  return `${String(slot)}:${path.toString('latin1')}`;
}
