import { Packr } from 'msgpackr';
import { StoreError } from '../../../lib/store/store-error.js';

/** A whole number; as its digits when it is larger than a number can hold exactly. */
export type WholeNumber = number | string;

/** An entry as the agent told it (integrity-and-inventory.md 7.1); absent columns were not told. */
export type FimColumns = {
  /** Opaque: never computed here. */
  readonly checksum: string;
  /** Epoch seconds by the agent's clock. */
  readonly date: number;
  readonly type: string;
  /** Path of a registry entry, whose key is its index. */
  readonly file?: string | undefined;
  readonly arch?: string | undefined;
  readonly valueName?: string | undefined;
  readonly valueType?: string | undefined;
  readonly size?: WholeNumber | undefined;
  readonly perm?: string | undefined;
  readonly uid?: string | undefined;
  readonly gid?: string | undefined;
  readonly md5?: string | undefined;
  readonly sha1?: string | undefined;
  readonly sha256?: string | undefined;
  readonly uname?: string | undefined;
  readonly gname?: string | undefined;
  readonly attributes?: string | undefined;
  readonly symbolicPath?: string | undefined;
  readonly mtime?: WholeNumber | undefined;
  readonly inode?: WholeNumber | undefined;
};

/** A stored entry. */
export type FimRow = FimColumns & {
  /** Its number in the index of hashes, never used twice. */
  readonly number: number;
  /** 1 after it was added, and one more for each modification. */
  readonly changes: number;
  /** Its last modification was counted when a state told it; the event that tells it, too, is still to come. */
  readonly ahead: boolean;
};

/** A checksum of 20 bytes in front, or none: then it is among the columns. */
const DIGEST = 1;
const TEXT = 0;
const DIGEST_BYTES = 20;
const DIGEST_END = 1 + DIGEST_BYTES;
const CHECKSUM = /^[0-9a-f]{40}$/;
const HASH = /^(?:[0-9a-f]{2}){16,64}$/;

const packr = new Packr({ useRecords: false, moreTypes: false });
type Stored = string | number | boolean | Buffer | null;

/** Bytes of an entry. Checksum and hashes take half the room of their texts; checksums are read without the rest. */
export function encodeRow(row: FimRow): Buffer {
  const isDigest = CHECKSUM.test(row.checksum);
  const columns: Stored[] = [
    row.number,
    row.changes,
    row.ahead,
    row.date,
    row.type,
    isDigest ? null : row.checksum,
    row.file ?? null,
    row.arch ?? null,
    row.valueName ?? null,
    row.valueType ?? null,
    row.size ?? null,
    row.perm ?? null,
    row.uid ?? null,
    row.gid ?? null,
    packHash(row.md5),
    packHash(row.sha1),
    packHash(row.sha256),
    row.uname ?? null,
    row.gname ?? null,
    row.attributes ?? null,
    row.symbolicPath ?? null,
    row.mtime ?? null,
    row.inode ?? null,
  ];
  const packed = packr.pack(columns);
  const start = isDigest ? DIGEST_END : 1;
  const bytes = Buffer.allocUnsafe(start + packed.length);
  bytes[0] = isDigest ? DIGEST : TEXT;
  if (isDigest) bytes.write(row.checksum, 1, 'hex');
  packed.copy(bytes, start);
  return bytes;
}

/** @throws StoreError `damaged` */
export function decodeRow(bytes: Buffer): FimRow {
  const columns = unpack(bytes);
  const text = (index: number): string | undefined => {
    const value = columns[index];
    return typeof value === 'string' ? value : undefined;
  };
  const whole = (index: number): WholeNumber | undefined => {
    const value = columns[index];
    return typeof value === 'number' || typeof value === 'string' ? value : undefined;
  };
  const [number, changes, ahead, date] = columns;
  if (typeof number !== 'number' || typeof changes !== 'number' || typeof date !== 'number') throw damaged();
  return {
    number,
    changes,
    ahead: ahead === true,
    date,
    type: text(4) ?? '',
    checksum: checksumOf(bytes),
    file: text(6),
    arch: text(7),
    valueName: text(8),
    valueType: text(9),
    size: whole(10),
    perm: text(11),
    uid: text(12),
    gid: text(13),
    md5: unpackHash(columns[14]),
    sha1: unpackHash(columns[15]),
    sha256: unpackHash(columns[16]),
    uname: text(17),
    gname: text(18),
    attributes: text(19),
    symbolicPath: text(20),
    mtime: whole(21),
    inode: whole(22),
  };
}

/** Text of the checksum of an encoded entry. @throws StoreError `damaged` */
export function checksumOf(bytes: Buffer): string {
  if (bytes[0] === DIGEST) return bytes.toString('hex', 1, DIGEST_END);
  const checksum = unpack(bytes)[5];
  return typeof checksum === 'string' ? checksum : '';
}

function unpack(bytes: Buffer): readonly Stored[] {
  try {
    const columns: unknown = packr.unpack(bytes.subarray(bytes[0] === DIGEST ? DIGEST_END : 1));
    if (Array.isArray(columns)) return columns as Stored[];
  } catch (error) {
    throw damaged(error);
  }
  throw damaged();
}

function packHash(hash: string | undefined): Stored {
  if (hash === undefined) return null;
  return HASH.test(hash) ? Buffer.from(hash, 'hex') : hash;
}

function unpackHash(stored: Stored | undefined): string | undefined {
  if (typeof stored === 'string') return stored;
  return stored instanceof Uint8Array ? Buffer.from(stored).toString('hex') : undefined;
}

function damaged(cause?: unknown): StoreError {
  return new StoreError('damaged', 'queue/db/fim: an entry is not what it should be', { cause });
}
