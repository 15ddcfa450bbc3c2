import type { FimColumns } from '../../../lib/events/fim/fim-columns.js';
import { ComponentBatch } from '../rows/component-batch.js';
import type { ComponentMemory } from '../rows/component-store.js';
import { MAX_ROW_BYTES } from '../rows/row-limits.js';
import { hashKey, isIndexed, numberKey } from './fim-keys.js';
import { MAX_ROWS, MAX_ROWS_BYTES } from './fim-limits.js';
import { decodeRow, encodeRow, type FimCount, type FimRow } from './fim-row.js';
import type { FimTables, ScanRecord } from './fim-store.js';

/** What of the tables of scans and findings a transaction changes; undefined is what it takes away. */
type Overlay = {
  readonly scans: Map<number, ScanRecord | undefined>;
  readonly findings: Map<string, Buffer>;
};

/** Why an entry is not stored. */
export type RowRefusal = 'too_many_rows' | 'row_too_large';

/** One transaction of the store of files. */
export class FimBatch extends ComponentBatch {
  readonly #tables: FimTables;
  #under: Overlay | undefined;
  readonly #own: Overlay = { scans: new Map(), findings: new Map() };

  /** @param before is on its way to the disk: when it fails, this one must not be written */
  constructor(tables: FimTables, memory: ComponentMemory, before?: FimBatch) {
    super(tables, memory, before);
    this.#tables = tables;
    this.#under = before === undefined ? undefined : before.#own;
  }

  override done(): void {
    super.done();
    this.#under = undefined;
  }

  scan(agent: string): ScanRecord | undefined {
    const key = Number(agent);
    const own = this.#own.scans.has(key) ? this.#own.scans : this.#under?.scans;
    return own?.has(key) === true ? own.get(key) : this.#tables.scans.get(key);
  }

  setScan(agent: string, record: ScanRecord): void {
    this.#own.scans.set(Number(agent), record);
    this.changed.push(this.#tables.scans.put(Number(agent), record));
  }

  removeScan(agent: string): void {
    this.#own.scans.set(Number(agent), undefined);
    this.changed.push(this.#tables.scans.remove(Number(agent)));
  }

  /**
   * Adds an entry or replaces it.
   * @param columns what was told
   * @param count makes what is counted of it, from what is stored of it
   */
  putRow(
    component: number,
    path: Buffer,
    columns: FimColumns,
    count: (before: FimRow | undefined) => FimCount,
  ): RowRefusal | undefined {
    const record = this.ensureComponent(component);
    const found = this.find(record, path);
    const before = found.bytes === undefined ? undefined : decodeRow(found.bytes);
    if (before === undefined && record.rows >= MAX_ROWS) return 'too_many_rows';
    const number = before?.number ?? this.state.nextNumber;
    const encoded = encodeRow(columns, count(before), number);
    if (encoded.length > MAX_ROW_BYTES) return 'row_too_large';
    const growth = encoded.length - (found.bytes?.length ?? 0);
    if (growth > 0 && record.bytes + growth > MAX_ROWS_BYTES) return 'too_many_rows';
    if (before === undefined) {
      this.changed.push(this.#tables.numbers.put(numberKey(record.slot, this.nextNumber()), path));
    }
    this.store(component, found, encoded, before?.checksum !== columns.checksum);
    this.#indexHashes(record.slot, number, before, columns);
    return undefined;
  }

  /** @returns whether it was there */
  deleteRow(component: number, path: Buffer): boolean {
    const record = this.component(component);
    if (record === undefined) return false;
    const found = this.find(record, path);
    if (found.bytes === undefined) return false;
    const before = decodeRow(found.bytes);
    this.take(component, found);
    this.changed.push(this.#tables.numbers.remove(numberKey(record.slot, before.number)));
    this.#indexHashes(record.slot, before.number, before, undefined);
    return true;
  }

  /** An entry of the table of findings. */
  finding(key: Buffer): Buffer | undefined {
    const name = key.toString('latin1');
    return this.#own.findings.get(name) ?? this.#under?.findings.get(name) ?? this.#tables.findings.get(key);
  }

  putFinding(key: Buffer, value: Buffer): void {
    this.#own.findings.set(key.toString('latin1'), value);
    this.changed.push(this.#tables.findings.put(key, value));
  }

  #indexHashes(slot: number, number: number, before: FimRow | undefined, after: FimColumns | undefined): void {
    for (const name of ['md5', 'sha1', 'sha256'] as const) {
      const old = before?.[name];
      const next = after?.[name];
      if (old === next) continue;
      const { hashes } = this.#tables;
      if (isIndexed(old)) this.changed.push(hashes.remove(hashKey(slot, old, number)));
      if (isIndexed(next)) this.changed.push(hashes.put(hashKey(slot, next, number), NOTHING));
    }
  }
}

const NOTHING = Buffer.alloc(0);
