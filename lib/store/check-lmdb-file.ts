import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { ifPresentSync } from '../files/if-present.js';

/** First number of both meta pages of an LMDB file, behind the page header of 24 bytes. */
const MAGIC = 0xbeefc0de;
const MAGIC_OFFSET = 24;
/** The first table record of a meta page begins with the page size. */
const PAGE_SIZE_OFFSET = 48;
const LAST_PAGE_OFFSET = 144;
const TRANSACTION_OFFSET = 152;
const META_BYTES = 160;

/**
 * Looks whether a file can be an LMDB environment: LMDB maps it into memory and trusts it, so that a file of something
 * else, or one that was cut off, ends the process instead of giving an error.
 * @param path of `data.mdb`
 * @returns what is wrong, or undefined when it looks right or is not there yet
 */
export function checkLmdbFile(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = ifPresentSync(() => openSync(path, 'r'));
  } catch (error) {
    return String(error);
  }
  if (file === undefined) return undefined;
  try {
    const { size } = fstatSync(file);
    // LMDB makes the file first and its meta pages later: an empty one is as good as none.
    if (size === 0) return undefined;
    const used = usedBytes(file);
    if (typeof used === 'string') return used;
    return size < used ? `it has ${size} bytes and must have ${used}: it was cut off` : undefined;
  } finally {
    closeSync(file);
  }
}

/**
 * Bytes of an LMDB file up to the end of its last page; the file may be longer.
 * @param file descriptor of `data.mdb`
 * @returns what is wrong with the file when that cannot be said
 */
export function usedBytes(file: number): number | string {
  const first = readMeta(file, 0);
  if (first === undefined) return 'it is not an LMDB file';
  const { pageSize } = first;
  if (pageSize < 512 || pageSize > 65_536 || (pageSize & (pageSize - 1)) !== 0) return 'its page size is not valid';
  const second = readMeta(file, pageSize);
  if (second === undefined) return 'its second meta page is damaged';
  const newest = second.transaction > first.transaction ? second : first;
  return Number(newest.lastPage + 1n) * pageSize;
}

type Meta = { readonly pageSize: number; readonly lastPage: bigint; readonly transaction: bigint };

function readMeta(file: number, offset: number): Meta | undefined {
  const bytes = Buffer.alloc(META_BYTES);
  if (readSync(file, bytes, 0, META_BYTES, offset) < META_BYTES) return undefined;
  if (bytes.readUInt32LE(MAGIC_OFFSET) !== MAGIC) return undefined;
  return {
    pageSize: bytes.readUInt32LE(PAGE_SIZE_OFFSET),
    lastPage: bytes.readBigUInt64LE(LAST_PAGE_OFFSET),
    transaction: bytes.readBigUInt64LE(TRANSACTION_OFFSET),
  };
}
