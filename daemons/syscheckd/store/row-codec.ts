import type { FileAttributes } from '../../../lib/fim/entry-checksum.js';
import type { FimMode } from '../../../lib/fim/fim-messages.js';
import { StoreError } from '../../../lib/store/store-error.js';
import type { FileRow } from './file-row.js';

/*
 * A row in bytes: what a scan asks of every file comes first, at fixed places, so that the rest need not be looked at.
 *
 *   0      1       7       9     10          16
 *   format number  checks  mode  last event  stamp, checksum, then the columns below, each with its form in front
 */
const FORMAT = 1;
const NUMBER_AT = 1;
const CHECKS_AT = 7;
const MODE_AT = 9;
const LAST_EVENT_AT = 10;
const STAMP_AT = 16;
/** Numbers and times take six bytes. */
const INTEGER_BYTES = 6;
const MOST_INTEGER = 2 ** (8 * INTEGER_BYTES) - 1;

/** How a column is written. */
const FORM = {
  absent: 0,
  /** Three bytes of length, then the bytes of the byte string. */
  text: 1,
  /** A byte of length, then pairs of hex digits. */
  hex: 2,
  /** As hex; `:`, `-` and a filler at the end are digits that decimal numbers do not have. */
  digits: 3,
  /** A double. */
  number: 4,
} as const;

const HEX = /^(?:[0-9a-f]{2}){1,255}$/;
const DIGITS = /^[0-9:-]{1,510}$/;
const MOST_TEXT = 0xff_ffff;

const MODES: readonly FimMode[] = ['scheduled', 'realtime', 'whodata'];

const TEXTS = ['perm', 'uid', 'gid', 'user_name', 'group_name', 'inode', 'attributes'] as const;
const HASHES = ['hash_md5', 'hash_sha1', 'hash_sha256'] as const;
const NUMBERS = ['size', 'mtime'] as const;

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
  const writer = new RowWriter();
  writer.head(row);
  writer.text(row.stamp);
  writer.text(row.attributes.checksum);
  writer.text(path);
  writer.text(row.inode);
  writer.text(row.dev);
  for (const name of TEXTS) writer.text(row.attributes[name]);
  for (const name of HASHES) writer.text(row.attributes[name]);
  for (const name of NUMBERS) writer.number(row.attributes[name]);
  return writer.take();
}

/** @param path that of the key; one kept with the row counts before it @throws StoreError `damaged` */
export function decodeRow(bytes: Buffer, path: string): FileRow {
  const reader = new RowReader(bytes);
  const { number, checks, lastEvent, mode } = reader.head();
  const stamp = reader.text();
  const checksum = reader.text() ?? '';
  const kept = reader.text();
  const inode = reader.text() ?? '';
  const dev = reader.text() ?? '';
  const attributes: { -readonly [Name in keyof FileAttributes]: FileAttributes[Name] } = { checksum };
  for (const name of TEXTS) {
    const text = reader.text();
    if (text !== undefined) attributes[name] = text;
  }
  for (const name of HASHES) {
    const text = reader.text();
    if (text !== undefined) attributes[name] = text;
  }
  for (const name of NUMBERS) {
    const value = reader.number();
    if (value !== undefined) attributes[name] = value;
  }
  return { path: kept ?? path, number, attributes, checks, inode, dev, stamp, lastEvent, mode };
}

/** What a scan asks of a row, without reading the rest. @throws StoreError `damaged` */
export function decodeHead(bytes: Buffer): RowHead {
  const reader = new RowReader(bytes);
  const { number, checks } = reader.head();
  return { number, checks, stamp: reader.text() };
}

/** @throws StoreError `damaged` */
export function numberOf(bytes: Buffer): number {
  if (bytes.length < STAMP_AT) throw damaged();
  return bytes.readUIntBE(NUMBER_AT, INTEGER_BYTES);
}

/** What the synchronisation compares, without reading the rest. @throws StoreError `damaged` */
export function decodeChecksum(bytes: Buffer): { readonly checksum: string; readonly path: string | undefined } {
  const reader = new RowReader(bytes);
  reader.head();
  reader.skipText();
  return { checksum: reader.text() ?? '', path: reader.text() };
}

/** Grows for texts that are longer than usual. */
let scratch = Buffer.allocUnsafe(4096);

class RowWriter {
  #at = 0;

  head({ number, checks, mode, lastEvent }: StoredRow): void {
    scratch[0] = FORMAT;
    scratch.writeUIntBE(integer(number), NUMBER_AT, INTEGER_BYTES);
    scratch.writeUInt16BE(checks, CHECKS_AT);
    scratch[MODE_AT] = MODES.indexOf(mode);
    scratch.writeUIntBE(integer(lastEvent), LAST_EVENT_AT, INTEGER_BYTES);
    this.#at = STAMP_AT;
  }

  text(text: string | undefined): void {
    if (text === undefined) {
      this.#room(1);
      scratch[this.#at++] = FORM.absent;
    } else if (DIGITS.test(text)) {
      const coded = text.replaceAll(':', 'a').replaceAll('-', 'b');
      this.#packed(FORM.digits, coded.length % 2 === 0 ? coded : `${coded}f`);
    } else if (HEX.test(text)) {
      this.#packed(FORM.hex, text);
    } else {
      if (text.length > MOST_TEXT) throw new RangeError(`a text of ${text.length} bytes cannot be kept`);
      this.#room(4 + text.length);
      scratch[this.#at] = FORM.text;
      scratch.writeUIntBE(text.length, this.#at + 1, 3);
      scratch.write(text, this.#at + 4, 'latin1');
      this.#at += 4 + text.length;
    }
  }

  number(value: number | undefined): void {
    this.#room(9);
    scratch[this.#at++] = value === undefined ? FORM.absent : FORM.number;
    if (value !== undefined) this.#at = scratch.writeDoubleBE(value, this.#at);
  }

  take(): Buffer {
    return Buffer.from(scratch.subarray(0, this.#at));
  }

  #packed(form: number, hex: string): void {
    const length = hex.length / 2;
    this.#room(2 + length);
    scratch[this.#at] = form;
    scratch[this.#at + 1] = length;
    scratch.write(hex, this.#at + 2, 'hex');
    this.#at += 2 + length;
  }

  #room(bytes: number): void {
    if (this.#at + bytes <= scratch.length) return;
    scratch = Buffer.concat([scratch], 2 * (this.#at + bytes));
  }
}

function integer(value: number): number {
  if (!Number.isInteger(value) || value < 0 || value > MOST_INTEGER) {
    throw new RangeError(`${value} is no number of a row`);
  }
  return value;
}

class RowReader {
  readonly #bytes: Buffer;
  #at = STAMP_AT;

  constructor(bytes: Buffer) {
    if (bytes.length < STAMP_AT || bytes[0] !== FORMAT) throw damaged();
    this.#bytes = bytes;
  }

  head(): Pick<FileRow, 'number' | 'checks' | 'mode' | 'lastEvent'> {
    const mode = MODES[this.#bytes[MODE_AT] ?? 0];
    if (mode === undefined) throw damaged();
    return {
      number: this.#bytes.readUIntBE(NUMBER_AT, INTEGER_BYTES),
      checks: this.#bytes.readUInt16BE(CHECKS_AT),
      mode,
      lastEvent: this.#bytes.readUIntBE(LAST_EVENT_AT, INTEGER_BYTES),
    };
  }

  text(): string | undefined {
    const { form, from, to } = this.#next();
    switch (form) {
      case FORM.absent:
        return undefined;
      case FORM.text:
        return this.#bytes.toString('latin1', from, to);
      case FORM.hex:
        return this.#bytes.toString('hex', from, to);
      case FORM.digits: {
        const coded = this.#bytes.toString('hex', from, to);
        const digits = coded.endsWith('f') ? coded.slice(0, -1) : coded;
        return digits.replaceAll('a', ':').replaceAll('b', '-');
      }
      default:
        throw damaged();
    }
  }

  skipText(): void {
    this.#next();
  }

  number(): number | undefined {
    const { form, from } = this.#next();
    if (form === FORM.absent) return undefined;
    if (form !== FORM.number) throw damaged();
    return this.#bytes.readDoubleBE(from);
  }

  /** Form and place of the next column. */
  #next(): { readonly form: number; readonly from: number; readonly to: number } {
    const bytes = this.#bytes;
    const form = bytes[this.#at] ?? -1;
    let from = this.#at + 1;
    let length = 0;
    if (form === FORM.text) {
      length = ((bytes[from] ?? 0) << 16) | ((bytes[from + 1] ?? 0) << 8) | (bytes[from + 2] ?? 0);
      from += 3;
    } else if (form === FORM.hex || form === FORM.digits) {
      length = bytes[from] ?? 0;
      from += 1;
    } else if (form === FORM.number) {
      length = 8;
    } else if (form !== FORM.absent) {
      throw damaged();
    }
    const to = from + length;
    if (to > bytes.length) throw damaged();
    this.#at = to;
    return { form, from, to };
  }
}

function damaged(): StoreError {
  return new StoreError('damaged', 'queue/fim/db: a row is not what it should be');
}
