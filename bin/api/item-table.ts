import { isObject } from '../../lib/json/is-object.js';
import { shownText } from '../terminal/shown-text.js';
import { textTable } from '../terminal/text-table.js';

/** Widest cell: what is longer is for `-o json`. */
const MAX_CELL = 60;
/** Blanks between two columns. */
const GAP = 2;
const EMPTY = '-';

/** How items are shown. */
export type TableOptions = {
  /** Columns of the terminal. */
  readonly width: number;
  /** Fields in this order, and no others; a field stands for those below it. */
  readonly fields?: readonly string[];
};

/** Lines of a table, and columns that had no room. */
export type ItemTable = { readonly lines: readonly string[]; readonly left: readonly string[] };

/**
 * Items as a table: a column a field, those of objects in them with dots. A single item with more than fits is shown with a
 * line a field.
 */
export function itemTable(items: readonly unknown[], { width, fields }: TableOptions): ItemTable {
  const rows = items.map(flattened);
  const columns = chosenColumns(rows, fields);
  const cells = new Map(columns.map((column) => [column, rows.map((row) => row.get(column) ?? EMPTY)]));
  const shown: string[] = [];
  let used = 0;
  for (const [column, values] of cells) {
    const longest = values.reduce((most, { length }) => Math.max(most, length), column.length);
    const needed = longest + (shown.length > 0 ? GAP : 0);
    if (shown.length > 0 && fields === undefined && used + needed > width) break;
    shown.push(column);
    used += needed;
  }
  const left = columns.slice(shown.length);
  const [only] = rows;
  if (rows.length === 1 && only !== undefined && left.length > 0) {
    return { lines: textTable([...only], 2), left: [] };
  }
  const heading = shown.map((column) => column.toUpperCase());
  const lines = rows.map((_row, index) => shown.map((column) => cells.get(column)?.[index] ?? EMPTY));
  return { lines: textTable([heading, ...lines], shown.length), left };
}

/** Fields that some item has, in the order they are met; or the given ones. */
function chosenColumns(rows: readonly ReadonlyMap<string, string>[], fields: readonly string[] | undefined): string[] {
  const all = new Set<string>();
  for (const row of rows) for (const column of row.keys()) all.add(column);
  if (fields === undefined) return [...all];
  return fields.flatMap((field) => {
    const below = [...all].filter((column) => column === field || column.startsWith(`${field}.`));
    return below.length === 0 ? [field] : below;
  });
}

function flattened(item: unknown): Map<string, string> {
  const cells = new Map<string, string>();
  if (isObject(item)) addFields(cells, '', item);
  else cells.set('item', cellOf(item));
  return cells;
}

function addFields(cells: Map<string, string>, prefix: string, fields: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(fields)) {
    const column = shownText(`${prefix}${name}`);
    if (isObject(value) && Object.keys(value).length > 0) addFields(cells, `${column}.`, value);
    else cells.set(column, cellOf(value));
  }
}

function cellOf(value: unknown): string {
  const text = shownText(textOf(value));
  if (text === '') return EMPTY;
  return text.length > MAX_CELL ? `${text.slice(0, MAX_CELL - 1)}…` : text;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.map(String).join(',');
  return JSON.stringify(value);
}
