import { brotliCompressSync, crc32 } from 'node:zlib';
import { type AlertPlace, parsePlace, placeText } from './alert-place.js';
import type { SegmentPage } from './alert-segment.js';
import { packing, unpack } from './page-packing.js';

/** At the end of each file. */
const MAGIC = 'svcalrt1';
/** Length of the foot, its sum, and the magic word. */
export const TAIL_BYTES = 8 + MAGIC.length;
/** A foot has some tens of bytes a page. */
const MAX_FOOT_BYTES = 8 * 1024 * 1024;

/** Bytes of a file, with their sum. */
export type Extent = { readonly at: number; readonly bytes: number; readonly sum: number };
/** A page in a file. */
export type StoredPage = SegmentPage & Extent;

/** What a sealed segment says of itself at its end. */
export type SegmentFoot = {
  readonly from: AlertPlace;
  readonly end: AlertPlace;
  readonly rows: number;
  readonly oldest: number;
  readonly newest: number;
  readonly pages: readonly StoredPage[];
  /** Pages that have too many words to be told from others. */
  readonly fullPages: readonly number[];
  readonly times: Extent;
  readonly families: readonly Extent[];
  readonly words: Extent;
  readonly wordEnds: Extent;
};

type FootJson = Omit<SegmentFoot, 'from' | 'end' | 'pages'> & {
  readonly from: string;
  readonly end: string;
  readonly pages: readonly (readonly [rows: number, file: number, offset: number, bytes: number, sum: number])[];
};

/** The foot with the tail behind it. */
export function encodeFoot(foot: SegmentFoot): Buffer {
  const json: FootJson = {
    ...foot,
    from: placeText(foot.from),
    end: placeText(foot.end),
    pages: foot.pages.map(({ rows, place, bytes, sum }) => [rows, place.file, place.offset, bytes, sum]),
  };
  const text = Buffer.from(JSON.stringify(json));
  const packed = brotliCompressSync(text, packing(text.length));
  const tail = Buffer.alloc(TAIL_BYTES);
  tail.writeUInt32LE(packed.length, 0);
  tail.writeUInt32LE(crc32(packed), 4);
  tail.write(MAGIC, 8, 'latin1');
  return Buffer.concat([packed, tail]);
}

/** Bytes of the foot before the tail. @throws Error when it is no tail */
export function footBytes(tail: Buffer, fileBytes: number): number {
  if (tail.length < TAIL_BYTES || tail.toString('latin1', 8) !== MAGIC) throw new Error('its end is missing');
  const bytes = tail.readUInt32LE(0);
  if (bytes > MAX_FOOT_BYTES || bytes + TAIL_BYTES > fileBytes) throw new Error('its end is wrong');
  return bytes;
}

/** @throws Error when it is not what was written */
export function decodeFoot(packed: Buffer, tail: Buffer): SegmentFoot {
  if (crc32(packed) !== tail.readUInt32LE(4)) throw new Error('the sum of its foot is wrong');
  const json = JSON.parse(unpack(packed).toString('utf8')) as FootJson;
  const [from, end] = [parsePlace(json.from), parsePlace(json.end)];
  if (from === undefined || end === undefined) throw new Error('it says no place');
  let [at, firstRow] = [0, 0];
  const pages = json.pages.map(([rows, file, offset, bytes, sum]) => {
    const page = { firstRow, rows, place: { file, offset }, at, bytes, sum };
    at += bytes;
    firstRow += rows;
    return page;
  });
  return { ...json, from, end, pages };
}
