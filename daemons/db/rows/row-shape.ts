import { StoreError } from '../../../lib/store/store-error.js';
import { behindColumn, type Column, readColumn } from './row-columns.js';
import { isHex, type RowPacker } from './row-packer.js';

/** A checksum of 20 bytes in front, or none: then it is among the columns. */
const DIGEST = 1;
const TEXT = 0;
const DIGEST_BYTES = 20;
const DIGEST_END = 1 + DIGEST_BYTES;

/**
 * How the rows of a store lie in their bytes: the checksum, which is read without the rest, and then all columns as
 * MessagePack; those are read one by one, most of them never.
 */
export class RowShape {
  readonly #columns: number | undefined;
  readonly #checksum: number;
  readonly #store: string;

  /**
   * @param columns of each row, at most 65535; undefined where rows of several shapes are looked at
   * @param checksum the column of checksums that are no SHA1
   * @param store its directory, for errors
   */
  constructor(columns: number | undefined, checksum: number, store: string) {
    this.#columns = columns;
    this.#checksum = checksum;
    this.#store = store;
  }

  /** Begins a row; all columns are to follow. @returns what the column of the checksum is to be */
  begin(packer: RowPacker, checksum: string): string | undefined {
    const isDigest = isHex(checksum) && checksum.length === 2 * DIGEST_BYTES;
    packer.begin(isDigest ? DIGEST : TEXT);
    if (isDigest) packer.hex(checksum);
    packer.array(this.#columns ?? 0);
    return isDigest ? undefined : checksum;
  }

  /** @throws StoreError `damaged` unless all columns are there, numbers in those that hold nothing else */
  check(bytes: Buffer, numbers: readonly number[]): void {
    let at = this.#first(bytes);
    for (let index = 0; index < (this.#columns ?? 0); index += 1) {
      const end = behindColumn(bytes, at);
      if (end === undefined || end > bytes.length) throw this.damaged();
      if (numbers.includes(index) && typeof readColumn(bytes, at, end) !== 'number') throw this.damaged();
      at = end;
    }
    if (at !== bytes.length) throw this.damaged();
  }

  /** Text of the checksum of a row. @throws StoreError `damaged` */
  checksum(bytes: Buffer): string {
    if (bytes[0] === DIGEST) return bytes.toString('hex', 1, DIGEST_END);
    const checksum = this.column(bytes, this.#checksum);
    return typeof checksum === 'string' ? checksum : '';
  }

  /** @throws StoreError `damaged` */
  column(bytes: Buffer, index: number): Column {
    let at: number | undefined = this.#first(bytes);
    for (let before = 0; before < index && at !== undefined; before += 1) at = behindColumn(bytes, at);
    const end = at === undefined ? undefined : behindColumn(bytes, at);
    if (at === undefined || end === undefined || end > bytes.length) throw this.damaged();
    return readColumn(bytes, at, end);
  }

  /** Values of the columns from one on. @throws StoreError `damaged` */
  columns(bytes: Buffer, index = 0): Column[] {
    const columns: Column[] = [];
    let at = this.#first(bytes);
    let place = 0;
    for (; at < bytes.length; place += 1) {
      const end = behindColumn(bytes, at);
      if (end === undefined || end > bytes.length) throw this.damaged();
      if (place >= index) columns.push(readColumn(bytes, at, end));
      at = end;
    }
    if (place !== this.#columns) throw this.damaged();
    return columns;
  }

  /** The columns from one on, as they are stored. @throws StoreError `damaged` */
  from(bytes: Buffer, index: number): Buffer {
    let at: number | undefined = this.#first(bytes);
    for (let before = 0; before < index && at !== undefined; before += 1) at = behindColumn(bytes, at);
    if (at === undefined) throw this.damaged();
    return bytes.subarray(at);
  }

  damaged(): StoreError {
    return new StoreError('damaged', `${this.#store}: a row is not what it should be`);
  }

  /** @throws StoreError `damaged` */
  #first(bytes: Buffer): number {
    const start = bytes[0] === DIGEST ? DIGEST_END : 1;
    const length = (bytes[start + 1] ?? 0) * 0x100 + (bytes[start + 2] ?? 0);
    // A list of as many values, in its long form.
    if (bytes[start] !== 0xdc || (this.#columns !== undefined && length !== this.#columns)) throw this.damaged();
    return start + 3;
  }
}
