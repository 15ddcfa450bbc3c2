import { closeSync, openSync, readSync } from 'node:fs';
import { ifPresentSync } from '../files/if-present.js';
import { checkLmdbFile, usedBytes } from './check-lmdb-file.js';

/** Header of a page: its number, transaction, padding, flags, and the bounds of its free space. */
const HEADER_BYTES = 24;
const FLAGS_OFFSET = 18;
const LOWER_OFFSET = 20;
const UPPER_OFFSET = 22;
/** Instead of the bounds, in the first page of an entry of several: how many these are. */
const PAGES_OFFSET = 20;
/** Kinds: all that a page on disk has of flags. Those of a transaction in work (dirty, loose, kept) would end the next one. */
const BRANCH = 0x01;
const LEAF = 0x02;
const OVERFLOW = 0x04;

/** Header of a node: what it holds (size, or number of a page), flags, size of its key. */
const NODE_BYTES = 8;
const NODE_FLAGS_OFFSET = 4;
const KEY_SIZE_OFFSET = 6;
const BIG_DATA = 0x01;
const SUB_TABLE = 0x02;

/** Record of a table, and where a meta page has those of the free pages and of the table of tables. */
const TABLE_BYTES = 48;
const FREE_OFFSET = 48;
const MAIN_OFFSET = 96;
const PAGE_SIZE_OFFSET = 48;
const TRANSACTION_OFFSET = 152;
/** An item of a list of free pages, and of an entry with such a list its number of items. */
const ITEM_BYTES = 8;
/** Root of an empty table. */
const NO_PAGE = 0xffff_ffff_ffff_ffffn;
/** Pages above each other; LMDB has as many at most. */
const MAX_DEPTH = 32;

/**
 * Follows all pages of an LMDB file that its newest transaction uses: LMDB trusts what they say of each other, so that a page
 * that was overwritten ends the process, or loses entries without an error. It reads the whole file. What entries hold is
 * not looked at, but for the lists of free pages: one that is in use would be written over.
 * @param path of `data.mdb`
 * @returns what is wrong, or undefined when nothing is, or there is no file yet
 */
export function checkLmdbPages(path: string): string | undefined {
  const damage = checkLmdbFile(path);
  if (damage !== undefined) return damage;
  const bytes = readUsed(path);
  if (bytes === undefined) return undefined;
  try {
    new Pages(bytes).check();
    return undefined;
  } catch (error) {
    if (error instanceof PageError) return error.message;
    throw error;
  }
}

class PageError extends Error {
  override readonly name = 'PageError';
}

/** Entries are lists of free pages, tables, or values of somebody. */
type TableKind = 'free' | 'tables' | 'values';

type Counts = { branch: number; leaf: number; overflow: number; entries: number };

class Pages {
  readonly #bytes: Buffer;
  readonly #size: number;
  readonly #seen = new Set<number>([0, 1]);
  /** Offsets and sizes of lists of free pages. */
  readonly #freeLists: { readonly data: number; readonly size: number }[] = [];

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#size = bytes.readUInt32LE(PAGE_SIZE_OFFSET);
  }

  check(): void {
    const transaction = (page: number) => this.#bytes.readBigUInt64LE(page * this.#size + TRANSACTION_OFFSET);
    const meta = transaction(1) > transaction(0) ? this.#size : 0;
    this.#checkTable(meta + FREE_OFFSET, 'free');
    this.#checkTable(meta + MAIN_OFFSET, 'tables');
    for (const { data, size } of this.#freeLists) this.#checkFreeList(data, size);
  }

  /** Items from 1 on: a page, nought, or a negative number of pages and the first of them. */
  #checkFreeList(data: number, size: number): void {
    const item = (index: number) => Number(this.#bytes.readBigInt64LE(data + index * ITEM_BYTES));
    const count = size < ITEM_BYTES ? -1 : item(0);
    if (count < 0 || (count + 1) * ITEM_BYTES > size) throw new PageError('a list of its free pages is damaged');
    for (let index = 1; index <= count; index += 1) {
      const first = item(index);
      if (first === 0) continue;
      const isRun = first < 0;
      if (isRun) index += 1;
      const page = isRun && index <= count ? item(index) : first;
      this.#takeFree(page, isRun ? -first : 1);
    }
  }

  #takeFree(first: number, count: number): void {
    if (first < 2 || first + count > this.#bytes.length / this.#size) {
      throw new PageError('a list of its free pages is damaged');
    }
    for (let page = first; page < first + count; page += 1) {
      if (this.#seen.has(page)) throw new PageError('a page of it is free and in use');
      this.#seen.add(page);
    }
  }

  /** @param record offset of the record of a table @param kind what its entries are */
  #checkTable(record: number, kind: TableKind): void {
    const root = this.#bytes.readBigUInt64LE(record + 40);
    const counts: Counts = { branch: 0, leaf: 0, overflow: 0, entries: 0 };
    if (root !== NO_PAGE) this.#checkPage(Number(root), counts, 1, kind);
    const said = [8, 16, 24, 32].map((offset) => Number(this.#bytes.readBigUInt64LE(record + offset)));
    const found = [counts.branch, counts.leaf, counts.overflow, counts.entries];
    if (said.some((count, index) => count !== found[index])) {
      throw new PageError('pages or entries of a table are missing');
    }
  }

  #checkPage(page: number, counts: Counts, depth: number, table: TableKind): void {
    const start = this.#enter(page, 1);
    const kind = this.#bytes.readUInt16LE(start + FLAGS_OFFSET);
    if ((kind !== BRANCH && kind !== LEAF) || depth > MAX_DEPTH) throw damagedPage(page);
    const isLeaf = kind === LEAF;
    counts[isLeaf ? 'leaf' : 'branch'] += 1;
    for (const node of this.#nodes(page, start, isLeaf)) {
      if (isLeaf) this.#checkEntry(page, node, counts, table);
      else this.#checkPage(this.#numberOf(node), counts, depth + 1, table);
    }
  }

  /** Offsets of the nodes of a page, each inside of it with its key. */
  #nodes(page: number, start: number, isLeaf: boolean): number[] {
    const lower = this.#bytes.readUInt16LE(start + LOWER_OFFSET);
    const upper = this.#bytes.readUInt16LE(start + UPPER_OFFSET);
    const room = this.#size - HEADER_BYTES;
    if (lower > upper || upper > room || lower % 2 !== 0 || lower === 0) throw damagedPage(page);
    return Array.from({ length: lower / 2 }, (_, index) => {
      const place = this.#bytes.readUInt16LE(start + HEADER_BYTES + 2 * index);
      if (place < upper || place + NODE_BYTES > room) throw damagedPage(page);
      const node = start + HEADER_BYTES + place;
      const end =
        node + NODE_BYTES + this.#bytes.readUInt16LE(node + KEY_SIZE_OFFSET) + (isLeaf ? this.#inline(node) : 0);
      if (end > start + this.#size) throw damagedPage(page);
      return node;
    });
  }

  #checkEntry(page: number, node: number, counts: Counts, table: TableKind): void {
    counts.entries += 1;
    const flags = this.#bytes.readUInt16LE(node + NODE_FLAGS_OFFSET);
    const data = node + NODE_BYTES + this.#bytes.readUInt16LE(node + KEY_SIZE_OFFSET);
    if (flags === 0) {
      if (table === 'free') this.#freeLists.push({ data, size: this.#dataSize(node) });
      return;
    }
    if (flags === BIG_DATA) {
      const first = Number(this.#bytes.readBigUInt64LE(data));
      const pages = Number(this.#bytes.readBigUInt64LE(data + 16));
      if (pages * this.#size < HEADER_BYTES + this.#dataSize(node)) throw damagedPage(page);
      const start = this.#enter(first, pages);
      if (this.#bytes.readUInt16LE(start + FLAGS_OFFSET) !== OVERFLOW) throw damagedPage(first);
      // LMDB frees as many as the first page itself says.
      if (this.#bytes.readUInt32LE(start + PAGES_OFFSET) !== pages) throw damagedPage(first);
      counts.overflow += pages;
      if (table === 'free') this.#freeLists.push({ data: start + HEADER_BYTES, size: this.#dataSize(node) });
      return;
    }
    if (flags !== SUB_TABLE || table !== 'tables' || this.#dataSize(node) !== TABLE_BYTES) throw damagedPage(page);
    this.#checkTable(data, 'values');
  }

  /** Takes pages that must be in the file, bear the number of the first and be used once. @returns the offset of the first */
  #enter(page: number, count: number): number {
    const start = page * this.#size;
    if (count < 1 || start + count * this.#size > this.#bytes.length) throw damagedPage(page);
    if (this.#bytes.readBigUInt64LE(start) !== BigInt(page)) throw damagedPage(page);
    for (let number = page; number < page + count; number += 1) {
      if (this.#seen.has(number)) throw damagedPage(number);
      this.#seen.add(number);
    }
    return start;
  }

  /** Bytes of its data that lie in the node. */
  #inline(node: number): number {
    const big = (this.#bytes.readUInt16LE(node + NODE_FLAGS_OFFSET) & BIG_DATA) !== 0;
    return big ? HEADER_BYTES : this.#dataSize(node);
  }

  #dataSize(node: number): number {
    return this.#bytes.readUInt32LE(node);
  }

  /** The page that a node of a branch leads to: 48 bits. */
  #numberOf(node: number): number {
    return this.#bytes.readUIntLE(node, 6);
  }
}

function damagedPage(page: number): PageError {
  return new PageError(`its page ${page} is damaged`);
}

function readUsed(path: string): Buffer | undefined {
  const file = ifPresentSync(() => openSync(path, 'r'));
  if (file === undefined) return undefined;
  try {
    const used = usedBytes(file);
    // Nothing was written yet.
    if (typeof used === 'string') return undefined;
    const bytes = Buffer.alloc(used);
    for (let read = 0; read < used;) {
      const count = readSync(file, bytes, read, used - read, read);
      if (count === 0) break;
      read += count;
    }
    return bytes;
  } finally {
    closeSync(file);
  }
}
