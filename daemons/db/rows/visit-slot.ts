import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BinaryTable } from '../../../lib/store/binary-table.js';
import { slotRange } from './row-keys.js';
import { ROWS_PER_TURN } from './row-limits.js';

/**
 * Goes over the rows of a slot in the order of their keys, piece by piece: others have their turn between two.
 * @param each tells whether to go on
 * @returns how many rows were looked at since the last turn of the event loop
 */
export async function visitSlot(
  rows: BinaryTable,
  slot: number,
  each: (key: Buffer, value: Buffer) => boolean,
): Promise<number> {
  let { from } = slotRange(slot);
  const { to } = slotRange(slot);
  for (let fromExclusive = false; ; fromExclusive = true) {
    let count = 0;
    for (const { key, value } of rows.entries({ from, fromExclusive, to, toExclusive: true, limit: ROWS_PER_TURN })) {
      count += 1;
      if (!each(key, value)) return count;
      from = key;
    }
    if (count < ROWS_PER_TURN) return count;
    await nextTurn();
  }
}
