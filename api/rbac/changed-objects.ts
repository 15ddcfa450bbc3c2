import { ApiError } from '../http/api-error.js';
import type { FailedItem } from '../http/envelope.js';
import type { ErrorCode } from '../http/error-code.js';

/** What an operation on several objects did, and to which it did nothing, and why. */
export type ChangedObjects<T> = { readonly changed: readonly T[]; readonly failed: readonly FailedItem[] };

/** Nothing was done, since the object itself cannot be changed. */
export function nothingChanged<T>(id: number, code: ErrorCode): ChangedObjects<T> {
  return { changed: [], failed: [{ id, error: new ApiError(code) }] };
}

/** The ids for which `fault` has no code, and the others with theirs. */
export function sortOut(
  ids: readonly number[],
  fault: (id: number) => ErrorCode | undefined,
): { readonly good: number[]; readonly failed: FailedItem[] } {
  const good: number[] = [];
  const failed: FailedItem[] = [];
  for (const id of new Set(ids)) {
    const code = fault(id);
    if (code === undefined) good.push(id);
    else failed.push({ id, error: new ApiError(code) });
  }
  return { good, failed };
}

/**
 * Objects that are removed by one request. When it is decided anew, since only part of it was made, what its first try has
 * removed is still its own doing.
 */
export class Removal<T> {
  readonly #table: { get(id: number): T | undefined };
  readonly #chosen = new Map<number, T>();

  constructor(table: { get(id: number): T | undefined }) {
    this.#table = table;
  }

  /** Whether there is one, or was one at the first try. */
  has(id: number): boolean {
    return this.#table.get(id) !== undefined || this.#chosen.has(id);
  }

  /** The objects as they were, in the order of the ids. */
  of(ids: readonly number[]): T[] {
    return ids.flatMap((id) => {
      const object = this.#table.get(id) ?? this.#chosen.get(id);
      if (object === undefined) return [];
      this.#chosen.set(id, object);
      return object;
    });
  }
}

/** Puts ids into an ordered list, from a place on; at the end when the list is not that long. @param place from 0 */
export function withLinks(list: readonly number[], ids: readonly number[], place = list.length): number[] {
  return [...list.slice(0, place), ...ids, ...list.slice(place)];
}

/** The list without some ids. */
export function withoutLinks(list: readonly number[], ids: readonly number[]): number[] {
  return list.filter((id) => !ids.includes(id));
}
