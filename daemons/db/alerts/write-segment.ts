import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { brotliCompressSync, crc32 } from 'node:zlib';
import { syncDirectoryNow } from '../../../lib/files/sync-directory.js';
import { FAMILIES } from './alert-fields.js';
import { encodeColumn, encodeTimes } from './column-codec.js';
import type { OpenSegment } from './open-segment.js';
import { packing } from './page-packing.js';
import { encodeFoot, type Extent, type StoredPage } from './segment-format.js';
import { encodeWords } from './word-index.js';

const FILE_MODE = 0o640;
/** What a segment is called until it is whole. */
export const UNFINISHED = '.new';

/**
 * Writes a segment to its file, which is there whole and on the disk, or not at all.
 * @throws Error of the file system
 */
export async function writeSegment(segment: OpenSegment, path: string): Promise<void> {
  const { pages, words } = await segment.seal();
  const file = new SegmentOutput(`${path}${UNFINISHED}`);
  try {
    const stored = pages.map(({ firstRow, rows, place, packed = Buffer.alloc(0) }): StoredPage => ({
      firstRow,
      rows,
      place,
      ...file.append(packed),
    }));
    const times = file.append(packed(encodeTimes(segment.times(), segment.rows)));
    const families = FAMILIES.map((_, index) => file.append(packed(encodeColumn(segment.family(index), segment.rows))));
    const encoded = encodeWords(words.pairs);
    const { from, end, rows } = segment;
    // Without alerts there is no time, either: it says that what lies between two places has none any more.
    const [oldest, newest] = rows === 0 ? [0, 0] : [segment.oldest, segment.newest];
    file.append(
      encodeFoot({
        ...{ from, end, rows, oldest, newest, pages: stored, times, families },
        fullPages: [...words.full],
        words: file.append(encoded.words),
        wordEnds: file.append(packed(encoded.ends)),
      }),
    );
    file.sync();
  } finally {
    file.close();
  }
  renameSync(`${path}${UNFINISHED}`, path);
  syncDirectoryNow(dirname(path));
}

function packed(bytes: Buffer): Buffer {
  return brotliCompressSync(bytes, packing(bytes.length));
}

class SegmentOutput {
  readonly #fd: number;
  #at = 0;

  constructor(path: string) {
    this.#fd = openSync(path, 'w', FILE_MODE);
  }

  append(bytes: Buffer): Extent {
    for (let done = 0; done < bytes.length;) done += writeSync(this.#fd, bytes, done);
    const extent = { at: this.#at, bytes: bytes.length, sum: crc32(bytes) };
    this.#at += bytes.length;
    return extent;
  }

  sync(): void {
    fsyncSync(this.#fd);
  }

  close(): void {
    closeSync(this.#fd);
  }
}
