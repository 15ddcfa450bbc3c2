import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BinaryTable } from '../../../lib/store/binary-table.js';
import { rowKey } from './fim-keys.js';
import { ROWS_PER_TURN } from './fim-limits.js';
import { checksumOf } from './fim-row.js';

/**
 * Sum of a range of entries: SHA1 of the texts of their checksums, in the order of their paths as bytes, both ends
 * included (integrity-and-inventory.md 5.1). Reads piece by piece, others have their turn between two.
 * @returns undefined when the range is empty
 */
export async function rangeChecksum(
  rows: BinaryTable,
  slot: number,
  begin: Buffer,
  end: Buffer,
): Promise<string | undefined> {
  const sum = createHash('sha1');
  const to = rowKey(slot, end);
  let from = rowKey(slot, begin);
  let fromExclusive = false;
  let found = 0;
  while (Buffer.compare(from, to) <= 0) {
    let count = 0;
    let texts = '';
    for (const { key, value } of rows.entries({ from, fromExclusive, to, limit: ROWS_PER_TURN })) {
      texts += checksumOf(value);
      from = key;
      count += 1;
    }
    sum.update(texts, 'utf8');
    found += count;
    if (count < ROWS_PER_TURN) break;
    fromExclusive = true;
    await nextTurn();
  }
  return found === 0 ? undefined : sum.digest('hex');
}
