import { compareKeys } from '../../../lib/fim/byte-order.js';
import type { RangeSource } from '../../../lib/sync/range-sync.js';
import type { FinishedRow } from './finished-row.js';

/** What became of a row since the last scan. */
export type RowChange = { readonly operation: 'INSERTED' | 'MODIFIED' | 'DELETED'; readonly row: FinishedRow };

/** The rows of a table as the last scan left them, in the order of their keys. */
export class TableRows implements RangeSource<FinishedRow> {
  #rows: readonly FinishedRow[] = [];

  get rows(): readonly FinishedRow[] {
    return this.#rows;
  }

  /** @param rows in the order of their keys, each key once */
  replace(rows: readonly FinishedRow[]): void {
    this.#rows = rows;
  }

  first(): FinishedRow | undefined {
    return this.#rows[0];
  }

  last(): FinishedRow | undefined {
    return this.#rows.at(-1);
  }

  *range(begin: string, end: string): Generator<FinishedRow, void, undefined> {
    const rows = this.#rows;
    for (let at = placeOf(rows, begin); at < rows.length; at += 1) {
      const row = rows[at];
      if (row === undefined || compareKeys(row.key, end) > 0) return;
      yield row;
    }
  }
}

/** What differs between two scans, in the order of the keys. Rows are told apart by their checksums. */
export function* changesBetween(
  before: readonly FinishedRow[],
  after: readonly FinishedRow[],
): Generator<RowChange, void, undefined> {
  let old = 0;
  for (const row of after) {
    let known = before[old];
    while (known !== undefined && compareKeys(known.key, row.key) < 0) {
      yield { operation: 'DELETED', row: known };
      old += 1;
      known = before[old];
    }
    if (known?.key !== row.key) {
      yield { operation: 'INSERTED', row };
      continue;
    }
    old += 1;
    if (known.checksum !== row.checksum) yield { operation: 'MODIFIED', row };
  }
  for (const row of before.slice(old)) yield { operation: 'DELETED', row };
}

/** Place of the first row that is not before a key. */
function placeOf(rows: readonly FinishedRow[], key: string): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareKeys(rows[middle]?.key ?? '', key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
