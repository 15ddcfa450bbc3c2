import { fieldPath, fieldValue, type ListItem } from './field-values.js';
import { QueryError } from './query-error.js';

export type SortOrder = { readonly fields: readonly string[]; readonly descending: boolean };

/**
 * Parses `sort`: one sign for all fields, none is ascending. A blank in front is a `+` that the URL lost.
 */
export function parseSort(text: string): SortOrder {
  const sign = text.charAt(0);
  const signed = sign === '-' || sign === '+' || sign === ' ';
  const fields = (signed ? text.slice(1) : text).split(',').map((field) => field.trim());
  return { fields, descending: sign === '-' };
}

/**
 * Items in order (rest-api.md 4.5): numbers as numbers, text case-insensitively, items that lack the field last when
 * ascending and first when descending; equal ones keep their places. Bare values sort by themselves.
 * @param allowed fields the list can be sorted by; without them the members of the first item
 * @throws QueryError 1403
 */
export function sortItems<T extends ListItem>(items: readonly T[], order: SortOrder, allowed?: readonly string[]): T[] {
  const [first] = items;
  if (first === undefined) return [];
  if (typeof first !== 'object' || first === null) return byKeys(items, [(item) => sortKey(item)], order.descending);
  checkFields(order.fields, allowed ?? Object.keys(first));
  const keys = order.fields.map((field) => {
    const path = fieldPath(field);
    return (item: T) => sortKey(fieldValue(item, path));
  });
  return byKeys(items, keys, order.descending);
}

function checkFields(fields: readonly string[], allowed: readonly string[]): void {
  const known = new Set(allowed);
  const wrong = fields.filter((field) => !known.has(field) && !known.has(field.split('.', 1)[0] ?? ''));
  if (wrong.length === 0) return;
  throw new QueryError(1403, {
    remediationExtra: `Allowed sort fields: ${allowed.join(', ')}. Wrong fields: ${wrong.join(', ')}`,
  });
}

type Key = number | string | undefined;

function sortKey(value: unknown): Key {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'number') return value;
  return (typeof value === 'string' ? value : JSON.stringify(value)).toLowerCase();
}

/** Keys are made once an item, not once a comparison. */
function byKeys<T>(items: readonly T[], keys: readonly ((item: T) => Key)[], descending: boolean): T[] {
  const columns = keys.map((key) => items.map(key));
  const places = items.map((_item, index) => index);
  const sign = descending ? -1 : 1;
  places.sort((a, b) => {
    for (const column of columns) {
      const order = compareKeys(column[a], column[b]);
      if (order !== 0) return sign * order;
    }
    return a - b;
  });
  return places.map((place) => items[place] as T);
}

function compareKeys(left: Key, right: Key): number {
  if (left === right) return 0;
  if (left === undefined) return 1;
  if (right === undefined) return -1;
  if (typeof left !== typeof right) return typeof left === 'number' ? -1 : 1;
  return left < right ? -1 : 1;
}
