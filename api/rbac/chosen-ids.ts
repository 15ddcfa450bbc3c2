import type { FailedItem } from '../http/envelope.js';
import type { PermittedIds } from './permitted-ids.js';

/** Objects of access control that a request is about: those the caller may act on, and why not the others. */
export type ChosenIds = {
  readonly ids: readonly number[];
  readonly failed: readonly FailedItem[];
  /** Whether everything was meant: what cannot be done is left out silently then (rest-api.md 5.2). */
  readonly isAll: boolean;
};

/** Those that are named, or of `everything` when all are meant. */
export function chosenIds(permitted: PermittedIds, everything: readonly { readonly id: number }[]): ChosenIds {
  const ids = permitted.chosen(everything.map(({ id }) => String(id))).map(Number);
  return { ids, failed: permitted.failed, isAll: permitted.isAll };
}
