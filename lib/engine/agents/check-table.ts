import type { CheckIds, SharedValues } from './shared-values.js';

/** A check of a policy as it was last reported. */
export type StoredCheck = {
  readonly policyId: string;
  readonly result: string;
  readonly scanId: number;
};

/** A check with its id. */
export type CheckEntry = readonly [number, StoredCheck];

/** All checks as plain data, from the oldest to the newest: id, and which of the values it has. */
export type CheckColumns = {
  readonly ids: CheckIds;
  readonly codes: Uint8Array | Uint16Array;
  readonly values: readonly StoredCheck[];
};

/** Room for that many more checks at least is made at once. */
const LEAST_GROWTH = 16;
/** Newest values that are compared with one to be stored; a value that is kept twice does no harm. */
const COMPARED_VALUES = 32;
/** Values from that many on are looked through for those that nobody has any more. */
const LEAST_VALUES = 8;
/** Values that a byte can name. */
const BYTE_VALUES = 256;

const NO_IDS = new Int32Array(0);
const NO_CODES = new Uint8Array(0);

/**
 * The checks of one agent in the order in which they were set last. A few values, policy with scan and result, stand for all
 * checks, and one byte of each check names its own. Ids and bytes are rings: an agent tells its checks in the same order again
 * and again, so that the one that is set is the oldest as a rule, and becomes the newest where it is. That leaves the ids
 * as they are, so that agents with the same policy share one list of them.
 */
export class CheckTable {
  #ids: CheckIds = NO_IDS;
  /** What `#values` each check has. */
  #codes: Uint8Array | Uint16Array = NO_CODES;
  #values: StoredCheck[] = [];
  /** Values at which those that nobody has are looked for next. */
  #sweepAt = LEAST_VALUES;
  #start = 0;
  #size = 0;
  /** Whether others may have the same list of ids. */
  #idsAreShared = true;

  /** A table of these checks. */
  static of({ ids, codes, values }: CheckColumns, shared: SharedValues): CheckTable {
    const table = new CheckTable();
    // Copies: what was read is a part of something larger.
    table.#ids = ids.slice();
    table.#codes = codes.slice();
    table.#values = values.map(({ policyId, result, scanId }) => ({
      policyId: shared.text(policyId),
      result: shared.text(result),
      scanId,
    }));
    table.#size = ids.length;
    table.#idsAreShared = false;
    table.compact(shared);
    return table;
  }

  get size(): number {
    return this.#size;
  }

  get(id: number): StoredCheck | undefined {
    const slot = this.#find(id);
    return slot < 0 ? undefined : this.#valueAt(slot);
  }

  /** Stores a check; it is the newest then. */
  set(id: number, check: StoredCheck): void {
    // The value nobody has any more must not keep others from a byte.
    const code = this.#codeOf(check);
    const slot = this.#find(id);
    if (slot >= 0 && slot === this.#start && this.#size === this.#ids.length) {
      this.#codes[slot] = code;
      this.#start = this.#physical(1);
      return;
    }
    if (slot >= 0) this.#removeAt(slot);
    this.#append(id, code);
  }

  /** Forgets the one that was not set for longest. */
  deleteOldest(): void {
    if (this.#size > 0) this.#removeAt(this.#start);
  }

  /** Removes the checks of a policy that are not of this scan; all of them without one. */
  deletePolicy(policyId: string, exceptScan?: number): void {
    const goes = this.#values.map((value) => value.policyId === policyId && value.scanId !== exceptScan);
    if (!goes.includes(true)) return;
    const kept: number[] = [];
    for (let index = 0; index < this.#size; index += 1) {
      const slot = this.#physical(index);
      if (goes[this.#codes[slot] ?? 0] !== true) kept.push(slot);
    }
    if (kept.length < this.#size) this.#keep(kept, kept.length);
  }

  /** From the oldest to the newest. */
  *entries(): Generator<CheckEntry> {
    for (let index = 0; index < this.#size; index += 1) {
      const slot = this.#physical(index);
      const value = this.#valueAt(slot);
      if (value !== undefined) yield [this.#ids[slot] ?? 0, value];
    }
  }

  /** All checks; nothing of it changes any more. */
  columns(): CheckColumns {
    return { ...this.#copy(this.#slots(), this.#size), values: [...this.#values] };
  }

  /** Takes as little room as it can, with ids that are shared: to be called when no more checks are expected for long. */
  compact(shared: SharedValues): void {
    this.#sweep();
    if (this.#idsAreShared && this.#size === this.#ids.length) return;
    this.#keep(this.#slots(), this.#size);
    this.#ids = shared.ids(this.#ids);
    this.#idsAreShared = true;
  }

  #physical(index: number): number {
    const slot = this.#start + index;
    return slot < this.#ids.length ? slot : slot - this.#ids.length;
  }

  /** From the oldest to the newest. */
  #slots(): number[] {
    return Array.from({ length: this.#size }, (_, index) => this.#physical(index));
  }

  #valueAt(slot: number): StoredCheck | undefined {
    return this.#values[this.#codes[slot] ?? 0];
  }

  /** Where in the rings a check is; -1 when it is not there. */
  #find(id: number): number {
    const ids = this.#ids;
    const start = this.#start;
    if (this.#size === 0) return -1;
    if (ids[start] === id) return start;
    const end = start + this.#size;
    const slot = ids.indexOf(id, start);
    if (slot >= 0) return slot < end ? slot : -1;
    const wrapped = end > ids.length ? ids.indexOf(id) : -1;
    return wrapped < end - ids.length ? wrapped : -1;
  }

  #append(id: number, code: number): void {
    if (this.#size === this.#ids.length) {
      this.#keep(this.#slots(), this.#size + Math.max(LEAST_GROWTH, this.#size >> 2));
    }
    this.#ownIds(id);
    const slot = this.#physical(this.#size);
    // Minus zero is the same as zero.
    this.#ids[slot] = id === 0 ? 0 : id;
    this.#codes[slot] = code;
    this.#size += 1;
  }

  #removeAt(slot: number): void {
    const length = this.#ids.length;
    if (slot === this.#start) {
      this.#start = this.#physical(1);
      this.#size -= 1;
      return;
    }
    this.#ownIds(0);
    const end = this.#start + this.#size;
    for (const ring of [this.#ids, this.#codes]) {
      if (end <= length) {
        ring.copyWithin(slot, slot + 1, end);
      } else if (slot < this.#start) {
        ring.copyWithin(slot, slot + 1, end - length);
      } else {
        ring.copyWithin(slot, slot + 1, length);
        ring[length - 1] = ring[0] ?? 0;
        ring.copyWithin(0, 1, end - length);
      }
    }
    this.#size -= 1;
  }

  /** Makes rings of so much room that have these slots alone, in this order. */
  #keep(slots: readonly number[], room: number): void {
    const { ids, codes } = this.#copy(slots, room);
    this.#ids = ids;
    this.#codes = codes;
    this.#start = 0;
    this.#size = slots.length;
    this.#idsAreShared = false;
  }

  #copy(slots: readonly number[], room: number): Pick<CheckColumns, 'ids' | 'codes'> {
    const ids = this.#ids instanceof Int32Array ? new Int32Array(room) : new Float64Array(room);
    const codes = this.#codes instanceof Uint8Array ? new Uint8Array(room) : new Uint16Array(room);
    for (const [index, slot] of slots.entries()) {
      ids[index] = this.#ids[slot] ?? 0;
      codes[index] = this.#codes[slot] ?? 0;
    }
    return { ids, codes };
  }

  /** Before ids are changed. @param id one that must have room */
  #ownIds(id: number): void {
    if (this.#ids instanceof Int32Array && (id | 0) !== id) {
      this.#ids = Float64Array.from(this.#ids);
    } else if (this.#idsAreShared) {
      this.#ids = this.#ids.slice();
    }
    this.#idsAreShared = false;
  }

  /** Which of the values this is; it becomes one when it is none. */
  #codeOf({ policyId, result, scanId }: StoredCheck): number {
    const last = this.#values.length - 1;
    for (let code = last; code >= 0 && code > last - COMPARED_VALUES; code -= 1) {
      const value = this.#values[code];
      if (value?.scanId === scanId && value.result === result && value.policyId === policyId) return code;
    }
    if (this.#values.length >= this.#sweepAt) this.#sweep();
    if (this.#values.length === BYTE_VALUES && this.#codes instanceof Uint8Array) {
      this.#codes = Uint16Array.from(this.#codes);
    }
    return this.#values.push({ policyId, result, scanId }) - 1;
  }

  /** Forgets values that no check has. */
  #sweep(): void {
    const values: StoredCheck[] = [];
    const codes = new Map<number, number>();
    const swept = new Uint16Array(this.#codes.length);
    for (let index = 0; index < this.#size; index += 1) {
      const slot = this.#physical(index);
      const code = this.#codes[slot] ?? 0;
      let now = codes.get(code);
      if (now === undefined) {
        const value = this.#values[code];
        if (value === undefined) continue;
        now = values.push(value) - 1;
        codes.set(code, now);
      }
      swept[slot] = now;
    }
    this.#codes = values.length <= BYTE_VALUES ? Uint8Array.from(swept) : swept;
    this.#values = values.slice();
    this.#sweepAt = Math.max(LEAST_VALUES, 2 * values.length);
  }
}
