/** Which alerts of a segment: a byte for each, 1 for those, or what holds for every one. */
export type RowMask = 'all' | 'none' | Uint8Array;

/** Those in both; the first may be changed. */
export function bothMasks(one: RowMask, other: RowMask): RowMask {
  if (one === 'none' || other === 'none') return 'none';
  if (one === 'all') return other;
  if (other === 'all') return one;
  for (let row = 0; row < one.length; row += 1) one[row] = (one[row] ?? 0) & (other[row] ?? 0);
  return one;
}

/** Those in either; the first may be changed. */
export function eitherMask(one: RowMask, other: RowMask): RowMask {
  if (one === 'all' || other === 'all') return 'all';
  if (one === 'none') return other;
  if (other === 'none') return one;
  for (let row = 0; row < one.length; row += 1) one[row] = (one[row] ?? 0) | (other[row] ?? 0);
  return one;
}

/** Whether a row is one of them. */
export function hasRow(mask: RowMask, row: number): boolean {
  return mask === 'all' || (mask !== 'none' && mask[row] === 1);
}
