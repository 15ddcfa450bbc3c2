import type { FileAttributes } from '../../../lib/events/fim/file-attributes.js';
import type { FimMode } from '../../../lib/events/fim/fim-messages.js';
import { StoreError } from '../../../lib/store/store-error.js';
import { ColumnReader, ColumnWriter } from './columns.js';
import type { FileRow } from './file-row.js';

/*
 * A row in bytes: what a scan asks of every file comes first, so that the rest need not be looked at. A hundred thousand
 * rows are mapped into memory, so that what a stamp says already is not said again.
 *
 *   0      1       7       9     10          16
 *   format number  checks  mode  last event  stamp, checksum, path, and the other columns
 */
const FORMAT = 1;
const NUMBER_AT = 1;
const CHECKS_AT = 7;
const MODE_AT = 9;
const LAST_EVENT_AT = 10;
const COLUMNS_AT = 16;
/** Numbers and times take six bytes. */
const INTEGER_BYTES = 6;
const MOST_INTEGER = 2 ** (8 * INTEGER_BYTES) - 1;

const MODES: readonly FimMode[] = ['scheduled', 'realtime', 'whodata'];
const TEXTS = ['perm', 'uid', 'gid', 'user_name', 'group_name', 'attributes'] as const;
const HASHES = ['hash_md5', 'hash_sha1', 'hash_sha256'] as const;

/** A row without its path, which is its key. */
export type StoredRow = Omit<FileRow, 'path'>;

/** What a scan asks of a row. */
export type RowHead = Pick<FileRow, 'number' | 'checks' | 'stamp'>;

/**
 * Bytes of a row.
 * @param path kept with the row when the key does not hold it whole
 * @throws RangeError for a number, time or text that cannot be kept
 */
export function encodeRow(row: StoredRow, path?: string): Buffer {
  const { stamp, attributes } = row;
  const writer = new ColumnWriter(COLUMNS_AT);
  const said = readStamp(stamp);
  writer.text(stamp);
  writer.text(attributes.checksum);
  writer.text(path);
  writer.textUnless(row.dev, said.dev);
  writer.textUnless(row.inode, said.inode);
  writer.textUnless(attributes.inode, row.inode);
  writer.numberUnless(attributes.size, said.size);
  writer.numberUnless(attributes.mtime, said.mtime);
  for (const name of TEXTS) writer.text(attributes[name]);
  for (const name of HASHES) writer.text(attributes[name]);
  const bytes = writer.take();
  bytes[0] = FORMAT;
  bytes.writeUIntBE(integer(row.number), NUMBER_AT, INTEGER_BYTES);
  bytes.writeUInt16BE(row.checks, CHECKS_AT);
  bytes[MODE_AT] = MODES.indexOf(row.mode);
  bytes.writeUIntBE(integer(row.lastEvent), LAST_EVENT_AT, INTEGER_BYTES);
  return bytes;
}

/** @param path that of the key; one kept with the row counts before it @throws StoreError `damaged` */
export function decodeRow(bytes: Buffer, path: string): FileRow {
  const reader = columnsOf(bytes);
  const mode = MODES[bytes[MODE_AT] ?? MODES.length];
  const stamp = reader.text();
  const said = readStamp(stamp);
  const checksum = reader.text();
  const kept = reader.text();
  const dev = reader.text(said.dev);
  const inode = reader.text(said.inode);
  const watchedInode = reader.text(inode);
  const size = reader.number(said.size);
  const mtime = reader.number(said.mtime);
  if (mode === undefined || checksum === undefined || dev === undefined || inode === undefined) throw damaged();
  const attributes: { -readonly [Name in keyof FileAttributes]: FileAttributes[Name] } = { checksum };
  if (watchedInode !== undefined) attributes.inode = watchedInode;
  if (size !== undefined) attributes.size = size;
  if (mtime !== undefined) attributes.mtime = mtime;
  for (const name of TEXTS) {
    const text = reader.text();
    if (text !== undefined) attributes[name] = text;
  }
  for (const name of HASHES) {
    const text = reader.text();
    if (text !== undefined) attributes[name] = text;
  }
  return {
    path: kept ?? path,
    number: numberOf(bytes),
    attributes,
    checks: bytes.readUInt16BE(CHECKS_AT),
    inode,
    dev,
    stamp,
    lastEvent: bytes.readUIntBE(LAST_EVENT_AT, INTEGER_BYTES),
    mode,
  };
}

/** What a scan asks of a row, without reading the rest. @throws StoreError `damaged` */
export function decodeHead(bytes: Buffer): RowHead {
  const stamp = columnsOf(bytes).text();
  return { number: numberOf(bytes), checks: bytes.readUInt16BE(CHECKS_AT), stamp };
}

/** @throws StoreError `damaged` */
export function numberOf(bytes: Buffer): number {
  if (bytes.length < COLUMNS_AT) throw damaged();
  return bytes.readUIntBE(NUMBER_AT, INTEGER_BYTES);
}

/** What the synchronisation compares, without reading the rest. @throws StoreError `damaged` */
export function decodeChecksum(bytes: Buffer): { readonly checksum: string; readonly path: string | undefined } {
  const reader = columnsOf(bytes);
  reader.skip();
  return { checksum: reader.text() ?? '', path: reader.text() };
}

/** What a stamp says of its file: as `EntryReader` makes one, whole seconds behind the last nine digits of the times. */
type StampFacts = {
  readonly dev?: string | undefined;
  readonly inode?: string | undefined;
  readonly size?: number | undefined;
  readonly mtime?: number | undefined;
};

const NOTHING: StampFacts = {};
const STAMP = /^(\d{1,20}):(\d{1,20}):(\d{1,15}):(\d{1,10})\d{9}:/;

function readStamp(stamp: string | undefined): StampFacts {
  const parts = stamp === undefined ? null : STAMP.exec(stamp);
  if (parts === null) return NOTHING;
  return { dev: parts[1], inode: parts[2], size: Number(parts[3]), mtime: Number(parts[4]) };
}

function columnsOf(bytes: Buffer): ColumnReader {
  if (bytes.length < COLUMNS_AT || bytes[0] !== FORMAT) throw damaged();
  return new ColumnReader(bytes, COLUMNS_AT, damaged);
}

function integer(value: number): number {
  if (!Number.isInteger(value) || value < 0 || value > MOST_INTEGER) {
    throw new RangeError(`${value} is no number of a row`);
  }
  return value;
}

function damaged(): StoreError {
  return new StoreError('damaged', 'queue/fim/db: a row is not what it should be');
}
