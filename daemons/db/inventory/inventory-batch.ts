import { Packr } from 'msgpackr';
import type { InventoryTable, InventoryTableName } from '../../../lib/events/inventory/inventory-tables.js';
import type { ToldRow } from '../../../lib/events/inventory/read-row.js';
import { ComponentBatch } from '../rows/component-batch.js';
import type { ComponentRecord } from '../rows/component-store.js';
import { MAX_ROW_BYTES, MAX_ROW_KEY_BYTES } from '../rows/row-limits.js';
import { tableOfNumber } from './inventory-component.js';
import { changeKey, nameHash, nameKey } from './inventory-keys.js';
import { MAX_CHANGES, MAX_TABLE_BYTES, MAX_TABLE_ROWS } from './inventory-limits.js';
import { encodeInventoryRow, isSameContent, StoredRow } from './inventory-row.js';
import { FOLLOWER_KEY, type FollowerRecord, type InventoryMemory, type InventoryTables } from './inventory-store.js';

/** Why a row is not stored. */
export type InventoryRefusal = 'too_many_rows' | 'row_too_large' | 'key_too_long';

/** Column that the rows of a table are often looked for by on many hosts. */
const NAME_COLUMNS: Readonly<Partial<Record<InventoryTableName, string>>> = {
  packages: 'name',
  hotfixes: 'hotfix',
  processes: 'name',
  ports: 'local_port',
};

/** What a change is of: one row, all rows of a table of an agent, or all that there was of an agent. */
export type ChangeKind = 'row' | 'cleared' | 'removed';
const KINDS: readonly ChangeKind[] = ['row', 'cleared', 'removed'];

const NOTHING = Buffer.alloc(0);
const packr = new Packr({ useRecords: false, moreTypes: false });

/** Index of the column that a table's rows are looked for by; undefined where there is none. */
export function nameColumn({ name, columns }: InventoryTable): number | undefined {
  const wanted = NAME_COLUMNS[name];
  const index = columns.findIndex((column) => column.name === wanted);
  return index === -1 ? undefined : index;
}

/** A change as it is stored. */
export function readChange(bytes: Buffer): {
  readonly kind: ChangeKind;
  readonly component: number;
  readonly key: Buffer;
} {
  const [kind = 0, component = 0, key = NOTHING] = packr.unpack(bytes) as [number?, number?, Buffer?];
  return { kind: KINDS[kind] ?? 'row', component, key };
}

/** One transaction of the store of inventories. */
export class InventoryBatch extends ComponentBatch {
  readonly #tables: InventoryTables;
  readonly #memory: InventoryMemory;
  #follower: FollowerRecord | undefined;

  /** @param before is on its way to the disk: when it fails, this one must not be written */
  constructor(tables: InventoryTables, memory: InventoryMemory, before?: InventoryBatch) {
    super(tables, memory, before);
    this.#tables = tables;
    this.#memory = memory;
    this.#follower = before === undefined ? memory.follower : before.#follower;
  }

  override done(): void {
    super.done();
    this.#memory.follower = this.#follower;
  }

  get follower(): FollowerRecord | undefined {
    return this.#follower;
  }

  /** Adds a row or replaces it. */
  putRow(component: number, table: InventoryTable, key: Buffer, row: ToldRow): InventoryRefusal | undefined {
    if (key.length > MAX_ROW_KEY_BYTES) return 'key_too_long';
    const record = this.ensureComponent(component);
    const found = this.find(record, key);
    if (found.bytes === undefined && record.rows >= MAX_TABLE_ROWS) return 'too_many_rows';
    const encoded = encodeInventoryRow(table, row);
    if (encoded.length > MAX_ROW_BYTES) return 'row_too_large';
    const { bytes } = found;
    const growth = encoded.length - (bytes?.length ?? 0);
    if (growth > 0 && record.bytes + growth > MAX_TABLE_BYTES) return 'too_many_rows';
    if (bytes?.equals(encoded) === true) return undefined;
    const before = bytes === undefined ? undefined : new StoredRow(table.name, bytes);
    this.store(component, found, encoded, before?.checksum !== row.checksum);
    if (bytes !== undefined && isSameContent(table.name, bytes, encoded)) return undefined;
    this.#index(table, record, key, before, new StoredRow(table.name, encoded));
    this.#note('row', component, key);
    return undefined;
  }

  /** @returns whether it was there */
  deleteRow(component: number, key: Buffer): boolean {
    const record = this.component(component);
    const table = tableOfNumber(component);
    if (record === undefined || table === undefined) return false;
    const found = this.find(record, key);
    if (found.bytes === undefined) return false;
    this.take(component, found);
    this.#index(table, record, key, new StoredRow(table.name, found.bytes), undefined);
    this.#note('row', component, key);
    return true;
  }

  override dropComponent(component: number): boolean {
    const isThere = super.dropComponent(component);
    if (isThere) this.#note('cleared', component, NOTHING);
    return isThere;
  }

  /** Takes all away that is stored of an agent. @param components all of its tables */
  forgetAgent(components: readonly number[]): void {
    const there = components.filter((component) => super.dropComponent(component));
    if (there[0] !== undefined) this.#note('removed', there[0], NOTHING);
  }

  /** Begins to tell somebody of changes, from now on. @returns number of the last change before */
  follow(name: string): number {
    this.unfollow();
    const slot = this.takeSlot();
    const last = this.nextNumber();
    this.#setFollower({ name, slot, acknowledged: last });
    return last;
  }

  /** Nobody is told of changes any more. */
  unfollow(): void {
    if (this.#follower === undefined) return;
    this.changed.push(this.#tables.garbage.put(this.#follower.slot, true));
    this.#setFollower(undefined);
  }

  /** Lets go of changes that the follower has. @param keys of them */
  acknowledge(number: number, keys: readonly Buffer[]): void {
    if (this.#follower === undefined || number <= this.#follower.acknowledged) return;
    for (const key of keys) this.changed.push(this.#tables.changes.remove(key));
    this.#setFollower({ ...this.#follower, acknowledged: number });
  }

  #setFollower(follower: FollowerRecord | undefined): void {
    const table = this.#tables.follower;
    this.#follower = follower;
    this.changed.push(follower === undefined ? table.remove(FOLLOWER_KEY) : table.put(FOLLOWER_KEY, follower));
  }

  #note(kind: ChangeKind, component: number, key: Buffer): void {
    const follower = this.#follower;
    if (follower === undefined) return;
    const number = this.nextNumber();
    // It begins anew when it comes back: a copy of everything is less than so many changes.
    if (number - follower.acknowledged > MAX_CHANGES) {
      this.unfollow();
      return;
    }
    const value = Buffer.from(packr.pack([KINDS.indexOf(kind), component, key]));
    this.changed.push(this.#tables.changes.put(changeKey(follower.slot, number), value));
  }

  #index(
    table: InventoryTable,
    { slot }: ComponentRecord,
    key: Buffer,
    before: StoredRow | undefined,
    after: StoredRow | undefined,
  ): void {
    const column = nameColumn(table);
    if (column === undefined) return;
    const old = before?.cell(column);
    const next = after?.cell(column);
    if (old === next) return;
    const { names } = this.#tables;
    if (old !== undefined) this.changed.push(names.remove(nameKey(slot, nameHash(old), key)));
    if (next !== undefined) this.changed.push(names.put(nameKey(slot, nameHash(next), key), NOTHING));
  }
}
