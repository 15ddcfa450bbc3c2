import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { isErrno } from '../../../lib/files/is-errno.js';
import type { AlertPlace } from './alert-place.js';
import { type AlertSegment, type FamilyColumn, SegmentDamage, type SegmentPage } from './alert-segment.js';
import { decodeColumn, decodeTimes } from './column-codec.js';
import { unpack } from './page-packing.js';
import { PageText } from './page-text.js';
import type { SegmentCache } from './segment-cache.js';
import { decodeFoot, type Extent, footBytes, type SegmentFoot, TAIL_BYTES } from './segment-format.js';
import { bucketOf, isWhole, visitPages } from './word-index.js';

/** Where what was read is kept: few pages, since each is read once as a rule, and columns. */
export type SegmentCaches = { readonly columns: SegmentCache; readonly pages: SegmentCache };

/** What a tuple takes beside its text, a line beside its bytes, and a tuple's text for each byte as it lies on the disk. */
const ENTRY_BYTES = 64;
const LINE_BYTES = 8;
const TEXT_FACTOR = 2;

/** Segments that were opened. */
let opened = 0;

/** A sealed segment. Its foot is in memory, the rest is read when it is asked for. */
export class SegmentFile implements AlertSegment {
  readonly path: string;
  /** Bytes of the file. */
  readonly bytes: number;
  readonly #foot: SegmentFoot;
  readonly #caches: SegmentCaches;
  /** Another file may come to be at the path: what was read of this one is not of that. */
  readonly #key: string;

  private constructor(path: string, bytes: number, foot: SegmentFoot, caches: SegmentCaches) {
    this.path = path;
    this.bytes = bytes;
    this.#foot = foot;
    this.#caches = caches;
    opened += 1;
    this.#key = `${path}#${String(opened)}`;
  }

  /** @throws SegmentDamage, and errors of the file system */
  static open(path: string, caches: SegmentCaches): SegmentFile {
    const fd = openSync(path, 'r');
    try {
      const { size } = fstatSync(fd);
      const tail = readAt(fd, Math.max(0, size - TAIL_BYTES), TAIL_BYTES);
      const length = footBytes(tail, size);
      const foot = decodeFoot(readAt(fd, size - TAIL_BYTES - length, length), tail);
      return new SegmentFile(path, size, foot, caches);
    } catch (error) {
      if (isSystemError(error)) throw error;
      throw new SegmentDamage(path, error instanceof Error ? error.message : String(error));
    } finally {
      closeSync(fd);
    }
  }

  get from(): AlertPlace {
    return this.#foot.from;
  }

  get end(): AlertPlace {
    return this.#foot.end;
  }

  get rows(): number {
    return this.#foot.rows;
  }

  get oldest(): number {
    return this.#foot.oldest;
  }

  get newest(): number {
    return this.#foot.newest;
  }

  get pages(): readonly SegmentPage[] {
    return this.#foot.pages;
  }

  times(): Float64Array {
    return this.#column('times', this.#foot.times, (bytes) => {
      const value = decodeTimes(unpack(bytes), this.rows);
      return { value, bytes: value.byteLength };
    });
  }

  family(index: number): FamilyColumn {
    return this.#column(String(index), this.#foot.families[index], (packed) => {
      const bytes = unpack(packed);
      const value = decodeColumn(bytes, this.rows);
      return { value, bytes: value.codes.byteLength + bytes.length * TEXT_FACTOR + value.tuples.length * ENTRY_BYTES };
    });
  }

  visitPages(hash: number, mark: (page: number) => void): void {
    for (const page of this.#foot.fullPages) mark(page);
    const ends = this.#column('words', this.#foot.wordEnds, (packed) => {
      const value = unpack(packed);
      return { value, bytes: value.length };
    });
    const { from, to } = bucketOf(hash, ends);
    // The sum of all words is for who reads the whole file: a bucket has one of its own.
    const bucket = this.#read({ at: this.#foot.words.at + from, bytes: to - from, sum: undefined });
    if (!isWhole(hash, bucket, ends)) throw new SegmentDamage(this.path, 'the sum of words is wrong');
    visitPages(hash, bucket, mark);
  }

  page(index: number): PageText {
    const extent = this.#foot.pages[index];
    return this.#caches.pages.get(`${this.#key}:${String(index)}`, () => {
      const value = this.#guarded(() => {
        const page = new PageText(unpack(this.#read(extent)));
        if (page.rows !== extent?.rows) throw new Error('a page has other alerts');
        return page;
      });
      return { value, bytes: value.bytes.buffer.byteLength + value.rows * LINE_BYTES };
    });
  }

  #column<T>(name: string, extent: Extent | undefined, decode: (bytes: Buffer) => { value: T; bytes: number }): T {
    return this.#caches.columns.get(`${this.#key}:${name}`, () => this.#guarded(() => decode(this.#read(extent))));
  }

  /** What is wrong with its content is damage; what the file system says is not. */
  #guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (isSystemError(error) || error instanceof SegmentDamage) throw error;
      throw new SegmentDamage(this.path, error instanceof Error ? error.message : String(error));
    }
  }

  #read(extent: { readonly at: number; readonly bytes: number; readonly sum: number | undefined } | undefined): Buffer {
    if (extent === undefined) throw new SegmentDamage(this.path, 'a part is missing');
    const fd = openSync(this.path, 'r');
    try {
      const bytes = readAt(fd, extent.at, extent.bytes);
      if (extent.sum !== undefined && crc32(bytes) !== extent.sum) throw new Error('a sum is wrong');
      return bytes;
    } catch (error) {
      if (isSystemError(error)) throw error;
      throw new SegmentDamage(this.path, error instanceof Error ? error.message : String(error));
    } finally {
      closeSync(fd);
    }
  }
}

/** @throws Error when the file is shorter */
function readAt(fd: number, at: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  for (let done = 0; done < length;) {
    const count = readSync(fd, bytes, done, length - done, at + done);
    if (count === 0) throw new Error('it is too short');
    done += count;
  }
  return bytes;
}

/** A file that is gone, or whose medium does not give it back, is damaged; what else the system says is not the file's. */
function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && !isErrno(error, 'ENOENT') && !isErrno(error, 'EIO');
}
