import type { FimColumns, WholeNumber } from '../../../lib/events/fim/fim-columns.js';
import type { Column } from '../rows/row-columns.js';
import { RowPacker } from '../rows/row-packer.js';
import { RowShape } from '../rows/row-shape.js';

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

/** Columns of an entry, always all of them. */
const COLUMNS = 23;
const CHECKSUM = 5;
/** Its own number, how often it changed, and the date. */
const NUMBERS = [0, 1, 3];

const SHAPE = new RowShape(COLUMNS, CHECKSUM, 'queue/db/fim');
const packer = new RowPacker();

/**
 * Bytes of an entry. Checksum and hashes take half the room of their texts; checksums are read without the rest.
 * @param number its number in the index of hashes
 */
export function encodeRow(row: FimColumns, { changes, ahead }: FimCount, number: number): Buffer {
  const checksum = SHAPE.begin(packer, row.checksum);
  packer.number(number);
  packer.number(changes);
  packer.boolean(ahead);
  packer.number(row.date);
  packer.text(row.type);
  packer.text(checksum);
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

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    SHAPE.check(bytes, NUMBERS);
  }

  get number(): number {
    return Number(SHAPE.column(this.#bytes, 0));
  }
  get changes(): number {
    return Number(SHAPE.column(this.#bytes, 1));
  }
  get ahead(): boolean {
    return SHAPE.column(this.#bytes, 2) === true;
  }
  get date(): number {
    return Number(SHAPE.column(this.#bytes, 3));
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
    return unpackHash(SHAPE.column(this.#bytes, 14));
  }
  get sha1(): string | undefined {
    return unpackHash(SHAPE.column(this.#bytes, 15));
  }
  get sha256(): string | undefined {
    return unpackHash(SHAPE.column(this.#bytes, 16));
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
    const value = SHAPE.column(this.#bytes, index);
    return typeof value === 'string' ? value : undefined;
  }

  #whole(index: number): WholeNumber | undefined {
    const value = SHAPE.column(this.#bytes, index);
    return typeof value === 'number' || typeof value === 'string' ? value : undefined;
  }
}

/** Text of the checksum of an encoded entry. @throws StoreError `damaged` */
export function checksumOf(bytes: Buffer): string {
  return SHAPE.checksum(bytes);
}

function unpackHash(stored: Column): string | undefined {
  if (typeof stored === 'string') return stored;
  return stored instanceof Buffer ? stored.toString('hex') : undefined;
}
