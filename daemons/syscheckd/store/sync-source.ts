import type { FimRow } from '../../../lib/events/fim/fim-messages.js';
import type { RangeSource } from '../../../lib/sync/range-sync.js';
import type { FileRow } from './file-row.js';
import { decodeRow } from './row-codec.js';
import type { KeyedRow, RowTable } from './row-table.js';

/** The rows that are on disk, as they are synchronised with the manager (integrity-and-inventory.md 5). */
export class SyncSource implements RangeSource<FimRow> {
  readonly #rows: RowTable;

  constructor(rows: RowTable) {
    this.#rows = rows;
  }

  first(): FimRow | undefined {
    return asRow(this.#rows.end('first'));
  }

  last(): FimRow | undefined {
    return asRow(this.#rows.end('last'));
  }

  /** Holds nothing of the store between two rows, however long whoever asks pauses. */
  *range(begin: string, end: string): Generator<FimRow, void, undefined> {
    for (const row of this.#rows.range(begin, end)) yield new LazyRow(row);
  }
}

function asRow(row: KeyedRow | undefined): FimRow | undefined {
  return row && new LazyRow(row);
}

/** Of most rows only the checksum is asked for. */
class LazyRow implements FimRow {
  readonly #row: KeyedRow;
  #rest: FileRow | undefined;

  constructor(row: KeyedRow) {
    this.#row = row;
  }

  get key(): string {
    return this.#row.path;
  }

  get checksum(): string {
    return this.#row.checksum;
  }

  get attributes(): FimRow['attributes'] {
    return this.#decoded.attributes;
  }

  get inode(): string {
    return this.#decoded.inode;
  }

  get lastEvent(): number {
    return this.#decoded.lastEvent;
  }

  get #decoded(): FileRow {
    return (this.#rest ??= decodeRow(this.#row.value, this.#row.path));
  }
}
