import { setImmediate as nextTurn } from 'node:timers/promises';
import { BusError } from '../../../lib/bus/bus-error.js';
import type { StoredOperation } from '../../../lib/bus/contracts/db-events.js';
import type { StateRecord } from './component-store.js';
import { TURN_MS } from './row-limits.js';

/** What a call of `apply` brings (lib/bus/contracts/db-events.ts). */
export type JournalEvents<Kind extends string> = {
  readonly journal: string;
  readonly operations: readonly StoredOperation<Kind>[];
  readonly upTo: number;
  readonly after?: number | undefined;
};

/** The part of a transaction that remembers how far a journal is stored. */
export type PositionBatch = {
  readonly state: StateRecord;
  moveTo(journal: string, position: number, applied: number): void;
};

/** Events that changed something, and those that a replay brought again. */
export class AppliedCounters {
  applied = 0;
  repeated = 0;
}

/**
 * Applies operations of a journal, all in one transaction; those that were applied before change nothing.
 * @param apply stores one; it sees to what cannot be stored, and says whether something was
 * @param repeat is told of one that was applied before, the answer to which may not have been heard
 * @returns how far the journal is stored then
 * @throws BusError `gap` when those before them are not stored
 */
export async function applyOperations<Kind extends string>(
  batch: PositionBatch,
  { journal, operations, upTo, after = 0 }: JournalEvents<Kind>,
  apply: (operation: StoredOperation<Kind>) => boolean,
  counters: AppliedCounters,
  repeat: (operation: StoredOperation<Kind>) => void = () => {},
): Promise<number> {
  const isKnown = batch.state.journal === journal;
  const from = isKnown ? batch.state.applied : 0;
  if (from < after) {
    throw new BusError(
      'gap',
      `Events before ${String(after)} of the journal are not stored, only those before ${String(from)}`,
    );
  }
  let turnAt = performance.now();
  for (const operation of operations) {
    if (operation.position < from) {
      counters.repeated += 1;
      repeat(operation);
    } else if (apply(operation)) {
      counters.applied += 1;
    }
    if (performance.now() - turnAt >= TURN_MS) {
      await nextTurn();
      turnAt = performance.now();
    }
  }
  const position = Math.max(isKnown ? batch.state.position : 0, upTo);
  const applied = Math.max(from, position, (operations.at(-1)?.position ?? -1) + 1);
  if (!isKnown || batch.state.position !== position || batch.state.applied !== applied) {
    batch.moveTo(journal, position, applied);
  }
  return position;
}
