import { createHash } from 'node:crypto';
import { bytesOf } from '../../../lib/fim/byte-order.js';
import type { BinaryEntry, BinaryTable } from '../../../lib/store/binary-table.js';
import type { Change } from '../../../lib/store/commit-queue.js';
import type { FileRow } from './file-row.js';
import { decodeChecksum, decodeHead, decodeRow, encodeRow, numberOf, type RowHead } from './row-codec.js';

/** Longest path that is its own key; the store takes keys of 1,978 bytes. */
const MOST_KEY_PATH = 1900;
/** Rows read in one go: well below a millisecond. */
const ROWS_A_PIECE = 256;
/** The byte after `/`. */
const AFTER_SLASH = '0';
/** A zero byte is in no path. */
const LONG_MARK = '\0';
const AFTER_LONG_MARK = '\x01';

/** Whether a path is longer than a key: such rows are found by its beginning and a digest. */
export function isLongPath(path: string): boolean {
  return path.length > MOST_KEY_PATH;
}

/** A row as the synchronisation walks over it; the rest of it is read when it is asked for. */
export type KeyedRow = { readonly path: string; readonly checksum: string; readonly value: Buffer };

/** What is committed of the rows, in the byte order of their paths. */
export class RowTable {
  readonly #table: BinaryTable;

  constructor(table: BinaryTable) {
    this.#table = table;
  }

  /** @throws StoreError `damaged`, as all that follow */
  get(path: string): FileRow | undefined {
    const value = this.#table.get(keyOf(path));
    return value === undefined ? undefined : decodeRow(value, path);
  }

  head(path: string): RowHead | undefined {
    const value = this.#table.get(keyOf(path));
    return value === undefined ? undefined : decodeHead(value);
  }

  put(row: FileRow): Change {
    return this.#table.put(keyOf(row.path), encodeRow(row, isLongPath(row.path) ? row.path : undefined));
  }

  remove(path: string): Change {
    return this.#table.remove(keyOf(path));
  }

  /** Rows in pieces; between two of them the table may change. @param wanted by the row's number */
  *pieces(wanted: (number: number) => boolean): Generator<FileRow[], void, undefined> {
    for (const piece of this.#entries('\0', '\xff')) {
      yield piece.flatMap(({ key, value }) => (wanted(numberOf(value)) ? [decodeRow(value, pathOf(key))] : []));
    }
  }

  /** Rows of paths below `path/`, in pieces. */
  *below(path: string): Generator<FileRow[], void, undefined> {
    const start = path === '/' ? '/' : `${path}/`;
    const isShort = start.length <= MOST_KEY_PATH;
    const from = isShort ? start : longStart(start);
    const to = isShort ? start.slice(0, -1) + AFTER_SLASH : longEnd(start);
    for (const piece of this.#entries(from, to)) {
      const rows = piece.map(({ key, value }) => decodeRow(value, pathOf(key)));
      yield isShort ? rows : rows.filter((row) => row.path.startsWith(start));
    }
  }

  /** The first row, or the last. */
  end(which: 'first' | 'last'): KeyedRow | undefined {
    const range = { from: bytesOf('\0'), to: bytesOf('\xff'), limit: 1, reverse: which === 'last' };
    for (const { key, value } of this.#table.entries(range)) {
      const row = keyed(key, value);
      if (!isLongPath(row.path)) return row;
      const group = this.#longOnes(row.path);
      return which === 'first' ? group[0] : group.at(-1);
    }
    return undefined;
  }

  /** Rows with `begin <= path <= end` in their order. Read in pieces: whoever pauses holds nothing of the store. */
  *range(begin: string, end: string): Generator<KeyedRow, void, undefined> {
    const from = isLongPath(begin) ? longStart(begin) : begin;
    const to = isLongPath(end) ? longEnd(end) : end;
    let done = '';
    for (const piece of this.#entries(from, to, true)) {
      for (const { key, value } of piece) {
        const row = keyed(key, value);
        if (!isLongPath(row.path)) {
          yield row;
          continue;
        }
        // Those with the same beginning stand together, in the order of their digests.
        const start = row.path.slice(0, MOST_KEY_PATH);
        if (start === done) continue;
        done = start;
        for (const long of this.#longOnes(row.path)) if (long.path >= begin && long.path <= end) yield long;
      }
    }
  }

  /** Rows of all long paths that begin as this one, in their order. */
  #longOnes(path: string): KeyedRow[] {
    const rows: KeyedRow[] = [];
    for (const piece of this.#entries(longStart(path), longEnd(path))) {
      for (const { key, value } of piece) rows.push(keyed(key, value));
    }
    return rows.sort((first, second) => (first.path < second.path ? -1 : 1));
  }

  *#entries(from: string, to: string, inclusive = false): Generator<BinaryEntry[], void, undefined> {
    const last = bytesOf(to);
    let next = { from: bytesOf(from), fromExclusive: false };
    for (;;) {
      const range = { ...next, to: last, toExclusive: !inclusive, limit: ROWS_A_PIECE };
      const piece = [...this.#table.entries(range)];
      const end = piece.at(-1);
      if (end === undefined) return;
      yield piece;
      if (piece.length < ROWS_A_PIECE) return;
      next = { from: end.key, fromExclusive: true };
    }
  }
}

function keyOf(path: string): Buffer {
  if (!isLongPath(path)) return bytesOf(path);
  return Buffer.concat([bytesOf(longStart(path)), createHash('sha1').update(path, 'latin1').digest()]);
}

/** Begins the keys of long paths: behind the path that is as long as a key, before all others. */
function longStart(path: string): string {
  return path.slice(0, MOST_KEY_PATH) + LONG_MARK;
}

function longEnd(path: string): string {
  return path.slice(0, MOST_KEY_PATH) + AFTER_LONG_MARK;
}

/** That of a short path; a row keeps a long one itself. */
function pathOf(key: Buffer): string {
  return key.toString('latin1');
}

function keyed(key: Buffer, value: Buffer): KeyedRow {
  const { checksum, path } = decodeChecksum(value);
  return { path: path ?? pathOf(key), checksum, value };
}
