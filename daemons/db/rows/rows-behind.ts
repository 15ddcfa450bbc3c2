import type { BinaryTable } from '../../../lib/store/binary-table.js';
import { keyInSlot, rowKey, slotRange } from './row-keys.js';

/** Rows of a slot behind a key, in their order; keys as the component knows them. */
export function* rowsBehind(
  table: BinaryTable,
  slot: number,
  after: Buffer | undefined,
): Generator<{ readonly key: Buffer; readonly value: Buffer }> {
  const range = slotRange(slot);
  const from = after === undefined ? {} : { from: rowKey(slot, after), fromExclusive: true };
  for (const { key, value } of table.entries({ ...range, ...from })) yield { key: keyInSlot(key), value };
}
