import { Packr } from 'msgpackr';
import { StoreError } from '../../../lib/store/store-error.js';
import { isHex, RowPacker } from './row-packer.js';

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

/** What is counted of an entry here. */
export type FimCount = {
  /** 1 after it was added, and one more for each modification. */
  readonly changes: number;
  /** Its last modification was counted when a state told it; the event that tells it, too, is still to come. */
  readonly ahead: boolean;
};

/** A stored entry. */
export type FimRow = FimColumns &
  FimCount & {
    /** Its number in the index of hashes, never used twice. */
    readonly number: number;
  };

/** A checksum of 20 bytes in front, or none: then it is among the columns. */
const DIGEST = 1;
const TEXT = 0;
const DIGEST_BYTES = 20;
const DIGEST_END = 1 + DIGEST_BYTES;
/** Columns of an entry, always all of them. */
const COLUMNS = 23;

const packr = new Packr({ useRecords: false, moreTypes: false });
const packer = new RowPacker();
type Stored = string | number | boolean | Buffer | null;

/**
 * Bytes of an entry. Checksum and hashes take half the room of their texts; checksums are read without the rest.
 * @param number its number in the index of hashes
 */
export function encodeRow(row: FimColumns, { changes, ahead }: FimCount, number: number): Buffer {
  const isDigest = isHex(row.checksum) && row.checksum.length === 2 * DIGEST_BYTES;
  packer.begin(isDigest ? DIGEST : TEXT);
  if (isDigest) packer.hex(row.checksum);
  packer.array(COLUMNS);
  packer.number(number);
  packer.number(changes);
  packer.boolean(ahead);
  packer.number(row.date);
  packer.text(row.type);
  packer.text(isDigest ? undefined : row.checksum);
  packer.text(row.file);
  packer.text(row.arch);
  packer.text(row.valueName);
  packer.text(row.valueType);
  packer.whole(row.size);
  packer.text(row.perm);
  packer.text(row.uid);
  packer.text(row.gid);
  packer.hash(row.md5);
  packer.hash(row.sha1);
  packer.hash(row.sha256);
  packer.text(row.uname);
  packer.text(row.gname);
  packer.text(row.attributes);
  packer.text(row.symbolicPath);
  packer.whole(row.mtime);
  packer.whole(row.inode);
  return packer.end();
}

/**
 * An entry of the store; its columns are read when they are asked for, most are not. The bytes must stay as they are.
 * @throws StoreError `damaged`
 */
export function decodeRow(bytes: Buffer): FimRow {
  return new StoredRow(bytes);
}

class StoredRow implements FimRow {
  readonly #bytes: Buffer;
  readonly #columns: readonly Stored[];

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#columns = unpack(bytes);
    const [number, changes, , date] = this.#columns;
    if (typeof number !== 'number' || typeof changes !== 'number' || typeof date !== 'number') throw damaged();
  }

  get number(): number {
    return Number(this.#columns[0]);
  }
  get changes(): number {
    return Number(this.#columns[1]);
  }
  get ahead(): boolean {
    return this.#columns[2] === true;
  }
  get date(): number {
    return Number(this.#columns[3]);
  }
  get type(): string {
    return this.#text(4) ?? '';
  }
  get checksum(): string {
    return checksumOf(this.#bytes);
  }
  get file(): string | undefined {
    return this.#text(6);
  }
  get arch(): string | undefined {
    return this.#text(7);
  }
  get valueName(): string | undefined {
    return this.#text(8);
  }
  get valueType(): string | undefined {
    return this.#text(9);
  }
  get size(): WholeNumber | undefined {
    return this.#whole(10);
  }
  get perm(): string | undefined {
    return this.#text(11);
  }
  get uid(): string | undefined {
    return this.#text(12);
  }
  get gid(): string | undefined {
    return this.#text(13);
  }
  get md5(): string | undefined {
    return unpackHash(this.#columns[14]);
  }
  get sha1(): string | undefined {
    return unpackHash(this.#columns[15]);
  }
  get sha256(): string | undefined {
    return unpackHash(this.#columns[16]);
  }
  get uname(): string | undefined {
    return this.#text(17);
  }
  get gname(): string | undefined {
    return this.#text(18);
  }
  get attributes(): string | undefined {
    return this.#text(19);
  }
  get symbolicPath(): string | undefined {
    return this.#text(20);
  }
  get mtime(): WholeNumber | undefined {
    return this.#whole(21);
  }
  get inode(): WholeNumber | undefined {
    return this.#whole(22);
  }

  #text(index: number): string | undefined {
    const value = this.#columns[index];
    return typeof value === 'string' ? value : undefined;
  }

  #whole(index: number): WholeNumber | undefined {
    const value = this.#columns[index];
    return typeof value === 'number' || typeof value === 'string' ? value : undefined;
  }
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

function unpackHash(stored: Stored | undefined): string | undefined {
  if (typeof stored === 'string') return stored;
  if (!(stored instanceof Uint8Array)) return undefined;
  return Buffer.from(stored.buffer, stored.byteOffset, stored.length).toString('hex');
}

function damaged(cause?: unknown): StoreError {
  return new StoreError('damaged', 'queue/db/fim: an entry is not what it should be', { cause });
}
