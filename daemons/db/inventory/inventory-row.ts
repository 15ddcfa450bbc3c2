import {
  INVENTORY_TABLES,
  type InventoryTable,
  type InventoryTableName,
} from '../../../lib/events/inventory/inventory-tables.js';
import type { CellValue, ToldRow } from '../../../lib/events/inventory/read-row.js';
import type { Column } from '../rows/row-columns.js';
import { RowPacker } from '../rows/row-packer.js';
import { RowShape } from '../rows/row-shape.js';

/** Columns in front of those of the table. */
const SCAN_TIME = 0;
const CHECKSUM = 1;
const FIRST_CELL = 2;
const STORE = 'queue/db/inventory';

const SHAPES = Object.fromEntries(
  INVENTORY_TABLES.map(({ name, columns }) => [name, new RowShape(columns.length + FIRST_CELL, CHECKSUM, STORE)]),
) as Readonly<Record<InventoryTableName, RowShape>>;

const packer = new RowPacker();

/** Bytes of a row of the inventory. */
export function encodeInventoryRow({ name }: InventoryTable, { cells, checksum, scanTime }: ToldRow): Buffer {
  const text = SHAPES[name].begin(packer, checksum);
  packer.text(scanTime);
  packer.text(text);
  for (const cell of cells) packer.whole(cell);
  return packer.end();
}

/** A stored row; its cells are read when they are asked for. The bytes must stay as they are. */
export class StoredRow {
  readonly #shape: RowShape;
  readonly #bytes: Buffer;

  constructor(table: InventoryTableName, bytes: Buffer) {
    this.#shape = SHAPES[table];
    this.#bytes = bytes;
  }

  /** How many it has. */
  get bytes(): number {
    return this.#bytes.length;
  }

  /** @throws StoreError `damaged` */
  get scanTime(): string {
    return String(this.#shape.column(this.#bytes, SCAN_TIME) ?? '');
  }

  /** @throws StoreError `damaged` */
  get checksum(): string {
    return this.#shape.checksum(this.#bytes);
  }

  /** @param index of the column of the table @throws StoreError `damaged` */
  cell(index: number): CellValue {
    return cellOf(this.#shape.column(this.#bytes, FIRST_CELL + index));
  }

  /** All of them, in the order of the table's columns. @throws StoreError `damaged` */
  cells(): CellValue[] {
    return this.#shape.columns(this.#bytes, FIRST_CELL).map(cellOf);
  }
}

/** Whether two rows of a table say the same: they may be of different scans. @throws StoreError `damaged` */
export function isSameContent(table: InventoryTableName, one: Buffer, other: Buffer): boolean {
  const shape = SHAPES[table];
  return shape.from(one, FIRST_CELL).equals(shape.from(other, FIRST_CELL));
}

/** Text of the checksum of a row of any table. @throws StoreError `damaged` */
export function inventoryChecksum(bytes: Buffer): string {
  return CHECKSUMS.checksum(bytes);
}

/** The checksum lies alike in the rows of all tables. */
const CHECKSUMS = new RowShape(undefined, CHECKSUM, STORE);

function cellOf(value: Column): CellValue {
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}
