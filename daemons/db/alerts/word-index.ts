import { crc32 } from 'node:zlib';
import { ByteReader, ByteWriter } from './byte-codec.js';

/** Words lie in buckets by the high bits of their numbers, so that one is found by reading one bucket. */
const BUCKET_BITS = 12;
const BUCKETS = 1 << BUCKET_BITS;
/** Bits that are kept of the rest: of a hundred thousand words of a segment few share them. */
const KEPT_BITS = 16;
const PAGES = 65_536;
/** Of each bucket: where it ends, and the sum of its bytes behind all ends. */
const END_BYTES = 4;
const SUM_BYTES = 2;

/** The words of a segment as they are written: buckets one behind the other, and where each ends. */
export type EncodedWords = { readonly words: Buffer; readonly ends: Buffer };

/** @param pairs as `WordPages.pairs`; they are sorted in place */
export function encodeWords(pairs: Float64Array): EncodedWords {
  pairs.sort();
  const words = new ByteWriter(pairs.length * 4);
  const ends = Buffer.alloc(BUCKETS * (END_BYTES + SUM_BYTES));
  let bucket = 0;
  let last = 0;
  for (let at = 0; at < pairs.length;) {
    const key = keyOf(pairs[at] ?? 0);
    const pages: number[] = [];
    for (; at < pairs.length && keyOf(pairs[at] ?? 0) === key; at += 1) {
      const page = (pairs[at] ?? 0) % PAGES;
      pages.push(page);
    }
    for (const next = Math.floor(key / (1 << KEPT_BITS)); bucket < next; bucket += 1) {
      ends.writeUInt32LE(words.length, bucket * END_BYTES);
      last = 0;
    }
    const low = key % (1 << KEPT_BITS);
    words.varint(low - last);
    last = low;
    writePages(words, pages);
  }
  for (; bucket < BUCKETS; bucket += 1) ends.writeUInt32LE(words.length, bucket * END_BYTES);
  const bytes = words.bytes();
  for (bucket = 0; bucket < BUCKETS; bucket += 1) {
    const { from, to } = extentOf(bucket, ends);
    ends.writeUInt16LE(sumOf(bytes.subarray(from, to)), BUCKETS * END_BYTES + bucket * SUM_BYTES);
  }
  return { words: bytes, ends };
}

/** One page as its number, several as their count and the distances between them. */
function writePages(words: ByteWriter, found: number[]): void {
  // Words that share the bits that are kept come one behind the other, each with its pages in order.
  const pages = isAscending(found) ? found : [...new Set(found)].sort((a, b) => a - b);
  const [first = 0] = pages;
  if (pages.length === 1) {
    words.varint(first * 2 + 1);
    return;
  }
  words.varint(pages.length * 2);
  let last = 0;
  for (const page of pages) {
    words.varint(page - last);
    last = page;
  }
}

function isAscending(values: readonly number[]): boolean {
  return values.every((value, index) => index === 0 || value > (values[index - 1] ?? 0));
}

function keyOf(pair: number): number {
  return Math.floor(Math.floor(pair / PAGES) / 2 ** (32 - BUCKET_BITS - KEPT_BITS));
}

/** Where the bucket of a word lies in `words`. @param ends as they were written */
export function bucketOf(hash: number, ends: Buffer): BucketExtent {
  return extentOf(bucketNumber(hash), ends);
}

/** Whether the bytes of the bucket of a word are those that were written. */
export function isWhole(hash: number, bucket: Buffer, ends: Buffer): boolean {
  return ends.readUInt16LE(BUCKETS * END_BYTES + bucketNumber(hash) * SUM_BYTES) === sumOf(bucket);
}

type BucketExtent = { readonly from: number; readonly to: number };

function extentOf(bucket: number, ends: Buffer): BucketExtent {
  const from = bucket === 0 ? 0 : ends.readUInt32LE((bucket - 1) * END_BYTES);
  return { from, to: ends.readUInt32LE(bucket * END_BYTES) };
}

function bucketNumber(hash: number): number {
  return (hash === 0 ? 1 : hash) >>> (32 - BUCKET_BITS);
}

function sumOf(bytes: Buffer): number {
  return crc32(bytes) & 0xffff;
}

/** Pages with a word. @param bucket bytes of its bucket. @param mark called with each */
export function visitPages(hash: number, bucket: Buffer, mark: (page: number) => void): void {
  const wanted = ((hash === 0 ? 1 : hash) >>> (32 - BUCKET_BITS - KEPT_BITS)) % (1 << KEPT_BITS);
  const reader = new ByteReader(bucket);
  for (let low = 0; !reader.isAtEnd;) {
    low += reader.varint();
    const head = reader.varint();
    const isWanted = low === wanted;
    if (head % 2 === 1) {
      if (isWanted) mark((head - 1) / 2);
    } else {
      for (let left = head / 2, page = 0; left > 0; left -= 1) {
        page += reader.varint();
        if (isWanted) mark(page);
      }
    }
    if (low >= wanted) return;
  }
}
