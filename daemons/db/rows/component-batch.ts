import type { Change } from '../../../lib/store/commit-queue.js';
import {
  type ComponentMemory,
  type ComponentRecord,
  type ComponentTables,
  NO_SYNC,
  STATE_KEY,
  type StateRecord,
} from './component-store.js';
import { rowKey } from './row-keys.js';

/** What a transaction makes of the store; undefined is what it takes away. */
type Overlay = {
  state: StateRecord;
  readonly components: Map<number, ComponentRecord | undefined>;
  /** How many rows of a component are changed. */
  readonly changed: Map<number, number>;
  /** Encoded: a buffer is quicker kept than all that is read from it. */
  readonly rows: Map<string, Buffer | undefined>;
};

/** A row that is looked at to be changed. */
export type FoundRow = {
  readonly record: ComponentRecord;
  /** In the table of rows. */
  readonly key: Buffer;
  readonly name: string;
  /** As it is stored; undefined where it is not. */
  readonly bytes: Buffer | undefined;
};

/**
 * One transaction: what its tasks change, on top of what is committed, or of the transaction that is on its way to the disk.
 * Each task sees what those before it have changed; nobody else does until it is committed. What a component is named by is
 * the store's; here it is a number.
 */
export class ComponentBatch {
  protected readonly changed: Change[] = [];
  readonly #tables: ComponentTables;
  readonly #memory: ComponentMemory;
  /** The transaction before this one, as long as it is not committed. */
  #under: Overlay | undefined;
  readonly #own: Overlay;

  /** @param before is on its way to the disk: when it fails, this one must not be written */
  constructor(tables: ComponentTables, memory: ComponentMemory, before?: ComponentBatch) {
    this.#tables = tables;
    this.#memory = memory;
    this.#under = before === undefined ? undefined : before.#own;
    this.#own = {
      state: this.#under === undefined ? memory.state : this.#under.state,
      components: new Map(),
      changed: new Map(),
      rows: new Map(),
    };
  }

  /** How many changes there are, roughly. */
  get size(): number {
    return this.changed.length;
  }

  get state(): StateRecord {
    return this.#own.state;
  }

  /** Notes how far a journal is stored. */
  moveTo(journal: string, position: number, applied: number): void {
    this.#own.state = { ...this.#own.state, journal, position, applied };
  }

  /** A number that is never given out again. */
  nextNumber(): number {
    const number = this.#own.state.nextNumber;
    this.#own.state = { ...this.#own.state, nextNumber: number + 1 };
    return number;
  }

  component(component: number): ComponentRecord | undefined {
    if (this.#own.components.has(component)) return this.#own.components.get(component);
    const under = this.#under?.components;
    return under?.has(component) === true ? under.get(component) : this.#memory.components.get(component);
  }

  /** Changes with each row of the component that is changed, those that are not committed yet included. */
  version(component: number): number {
    const committed = this.#memory.versions.get(component) ?? 0;
    return committed + (this.#under?.changed.get(component) ?? 0) + (this.#own.changed.get(component) ?? 0);
  }

  setComponent(component: number, record: ComponentRecord): void {
    this.#own.components.set(component, record);
  }

  /** The component, made when it is not there. */
  ensureComponent(component: number): ComponentRecord {
    const known = this.component(component);
    if (known !== undefined) return known;
    const record = { slot: this.takeSlot(), rows: 0, bytes: 0, sync: NO_SYNC };
    this.setComponent(component, record);
    return record;
  }

  /** Takes all rows of a component away at once; what is known of its synchronisation goes, too. @returns whether there was one */
  dropComponent(component: number): boolean {
    const record = this.component(component);
    if (record === undefined) return false;
    this.#own.components.set(component, undefined);
    this.#noteChange(component);
    this.changed.push(this.#tables.garbage.put(record.slot, true));
    return true;
  }

  /** Everything that goes to disk. */
  changes(): Change[] {
    const { components, state } = this.#tables;
    for (const [key, record] of this.#own.components) {
      this.changed.push(record === undefined ? components.remove(key) : components.put(key, record));
    }
    if (this.#own.state !== this.#memory.state) this.changed.push(state.put(STATE_KEY, this.#own.state));
    return this.changed;
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

  /** Whether a component has a row, as this transaction sees it. */
  hasRow(component: number, rowId: Buffer): boolean {
    const record = this.component(component);
    return record !== undefined && this.find(record, rowId).bytes !== undefined;
  }

  /** A slot that no keys begin with. */
  protected takeSlot(): number {
    const slot = this.#own.state.nextSlot;
    this.#own.state = { ...this.#own.state, nextSlot: slot + 1 };
    return slot;
  }

  /** A row of a component as this transaction sees it. */
  protected find(record: ComponentRecord, rowId: Buffer): FoundRow {
    const name = `${String(record.slot)}:${rowId.toString('latin1')}`;
    const key = rowKey(record.slot, rowId);
    return { record, key, name, bytes: this.#stored(name, key) };
  }

  /**
   * Stores a row that was found, or that is new.
   * @param isNews whether the sum of its component is another one now
   */
  protected store(component: number, { key, name, bytes }: FoundRow, encoded: Buffer, isNews: boolean): void {
    this.#own.rows.set(name, encoded);
    this.changed.push(this.#tables.rows.put(key, encoded));
    const growth = encoded.length - (bytes?.length ?? 0);
    this.#tableChanged(component, { rows: bytes === undefined ? 1 : 0, bytes: growth, isNews });
  }

  /** Takes a row away that was found. */
  protected take(component: number, { key, name, bytes }: FoundRow): void {
    this.#own.rows.set(name, undefined);
    this.changed.push(this.#tables.rows.remove(key));
    this.#tableChanged(component, { rows: -1, bytes: -(bytes?.length ?? 0), isNews: true });
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

  /** After news, a sum of the whole table that was known is not known any more. */
  #tableChanged(
    component: number,
    { rows, bytes, isNews }: { readonly rows: number; readonly bytes: number; readonly isNews: boolean },
  ): void {
    const record = this.ensureComponent(component);
    const { sync } = record;
    if (isNews) this.#noteChange(component);
    const losesSum = isNews && sync.managerChecksum !== '';
    if (rows === 0 && bytes === 0 && !losesSum) return;
    this.setComponent(component, {
      ...record,
      rows: record.rows + rows,
      bytes: Math.max(0, record.bytes + bytes),
      sync: losesSum ? { ...sync, managerChecksum: '' } : sync,
    });
  }
}
