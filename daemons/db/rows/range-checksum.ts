import { setImmediate as nextTurn } from 'node:timers/promises';
import { RangeHash } from '../../../lib/events/sync/range-hash.js';
import type { BinaryTable } from '../../../lib/store/binary-table.js';
import { rowKey } from './row-keys.js';
import { ROWS_PER_TURN } from './row-limits.js';

/**
 * Sum of a range of entries, both ends included (integrity-and-inventory.md 5.1). Reads piece by piece, others have their turn between two.
 * @param checksumOf of a stored row
 * @returns undefined when the range is empty
 */
export async function rangeChecksum(
  rows: BinaryTable,
  checksumOf: (bytes: Buffer) => string,
  slot: number,
  begin: Buffer,
  end: Buffer,
): Promise<{ readonly digest: string; readonly rows: number } | undefined> {
  const sum = new RangeHash();
  const to = rowKey(slot, end);
  let from = rowKey(slot, begin);
  let fromExclusive = false;
  while (Buffer.compare(from, to) <= 0) {
    let count = 0;
    for (const { key, value } of rows.entries({ from, fromExclusive, to, limit: ROWS_PER_TURN })) {
      sum.add(checksumOf(value));
      from = key;
      count += 1;
    }
    if (count < ROWS_PER_TURN) break;
    fromExclusive = true;
    await nextTurn();
  }
  return sum.rows === 0 ? undefined : { digest: sum.digest(), rows: sum.rows };
}
