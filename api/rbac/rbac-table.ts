import { isDeepStrictEqual } from 'node:util';
import { MAX_BUILT_IN_ID } from '../../lib/cluster/access-records.js';
import type { Change } from '../../lib/store/commit-queue.js';
import type { StoreTable } from '../../lib/store/store-table.js';

/** What all objects of access control have. Names are unique within their kind. */
export type RbacObject = { readonly id: number; readonly name: string };

/** A change that is in memory and waits to be written; `undo` takes it back. */
export type PendingChange = { readonly change: Change; readonly undo: () => unknown };

/** Objects of one kind: a table of the store that is held in memory whole, by id and by name. */
export class RbacTable<T extends RbacObject> {
  readonly #stored: StoreTable<number, T>;
  readonly #byId = new Map<number, T>();
  readonly #byName = new Map<string, T>();
  #given = MAX_BUILT_IN_ID;

  constructor(stored: StoreTable<number, T>) {
    this.#stored = stored;
  }

  /** Takes what is on the disk. */
  load(): void {
    for (const [, object] of this.#stored.entries()) this.#remember(object);
  }

  /** All as they are on the disk, in the order of their ids: one state for all tables that are asked in the same turn. */
  committed(): T[] {
    return [...this.#stored.entries()].map(([, object]) => object);
  }

  get size(): number {
    return this.#byId.size;
  }

  get(id: number): T | undefined {
    return this.#byId.get(id);
  }

  named(name: string): T | undefined {
    return this.#byName.get(name);
  }

  /** All of them in the order of their ids. */
  all(): T[] {
    return [...this.#byId.values()].sort((a, b) => a.id - b.id);
  }

  /** Those of the ids that there are, in the order of the ids given. */
  some(ids: readonly number[]): T[] {
    return ids.flatMap((id) => this.#byId.get(id) ?? []);
  }

  /** Ids up to this one are not given any more, whether there are objects that have them or not. */
  set given(id: number) {
    this.#given = Math.max(id, MAX_BUILT_IN_ID);
  }

  /** Id of the next object that somebody makes: one more than the highest, 100 for the first. */
  nextId(): number {
    let highest = this.#given;
    for (const id of this.#byId.keys()) highest = Math.max(highest, id);
    return highest + 1;
  }

  /**
   * Has these objects, and no others, in memory and on the disk. What is there already is left alone.
   * @throws StoreError `damaged`
   */
  exchange(wanted: ReadonlyMap<number, T>): PendingChange[] {
    const stored = new Map(this.#stored.entries());
    const gone = new Set([...stored.keys(), ...this.#byId.keys()].filter((id) => !wanted.has(id)));
    const isThere = (object: T): boolean =>
      isDeepStrictEqual(stored.get(object.id), object) && isDeepStrictEqual(this.#byId.get(object.id), object);
    return [
      ...[...gone].map((id) => this.removeId(id)),
      ...[...wanted.values()].filter((object) => !isThere(object)).map((object) => this.put(object)),
    ];
  }

  /** Adds an object, or replaces the one with its id. */
  put(object: T): PendingChange {
    const before = this.#byId.get(object.id);
    if (before !== undefined) this.#forget(before);
    this.#remember(object);
    return { change: this.#stored.put(object.id, object), undo: () => this.#restore(object, before) };
  }

  remove(object: T): PendingChange {
    return this.removeId(object.id);
  }

  /** Takes the object of an id away, if there is one. */
  removeId(id: number): PendingChange {
    const before = this.#byId.get(id);
    if (before !== undefined) this.#forget(before);
    return { change: this.#stored.remove(id), undo: () => before !== undefined && this.#remember(before) };
  }

  #restore(now: T, before: T | undefined): void {
    this.#forget(now);
    if (before !== undefined) this.#remember(before);
  }

  #remember(object: T): void {
    this.#byId.set(object.id, object);
    this.#byName.set(object.name, object);
  }

  #forget(object: T): void {
    this.#byId.delete(object.id);
    // Between two changes of a cluster another may have the name already.
    if (this.#byName.get(object.name)?.id === object.id) this.#byName.delete(object.name);
  }
}
