import { FIM_COMPONENTS, type FimComponent } from '../../../lib/events/fim/fim-component.js';
import { requireFields } from '../query/require-fields.js';
import type { FimRow } from './fim-row.js';

/** An entry as lists look at it. */
export type FimCandidate = { readonly row: FimRow; readonly file: string };

type FieldValue = string | number | undefined;
type Field = {
  readonly name: string;
  readonly isDate: boolean;
  /** Dates are epoch seconds. */
  readonly read: (candidate: FimCandidate) => FieldValue;
};

function column(name: string, read: (row: FimRow) => FieldValue): Field {
  return { name, isDate: false, read: ({ row }) => read(row) };
}

function date(name: string, read: (row: FimRow) => FieldValue): Field {
  return { name, isDate: true, read: ({ row }) => read(row) };
}

/** Fields of `GET /syscheck/{agent_id}` (integrity-and-inventory.md 8.1), in the order of its items. */
const FIELDS: readonly Field[] = [
  { name: 'file', isDate: false, read: ({ file }) => file },
  column('perm', ({ perm }) => perm),
  column('sha1', ({ sha1 }) => sha1),
  column('changes', ({ changes }) => changes),
  column('md5', ({ md5 }) => md5),
  column('inode', ({ inode }) => inode),
  column('size', ({ size }) => size),
  column('uid', ({ uid }) => uid),
  column('gname', ({ gname }) => gname),
  date('mtime', ({ mtime }) => mtime),
  column('sha256', ({ sha256 }) => sha256),
  date('date', (row) => row.date),
  column('uname', ({ uname }) => uname),
  column('type', ({ type }) => type),
  column('gid', ({ gid }) => gid),
  column('attributes', ({ attributes }) => attributes),
  column('arch', ({ arch }) => arch),
  column('value.name', ({ valueName }) => valueName),
  column('value.type', ({ valueType }) => valueType),
];

/** Names of all fields, and of those that are dates. */
export const FIM_FIELDS: readonly string[] = FIELDS.map(({ name }) => name);
export const FIM_DATES: readonly string[] = FIELDS.filter(({ isDate }) => isDate).map(({ name }) => name);

const BY_NAME = new Map(FIELDS.map((field) => [field.name, field]));
const VALUE_PREFIX = 'value.';

/**
 * Fields by their names, each once, in the order of the items; `value` is all of its members.
 * @throws QueryError 1403 (sort), 1724 (select)
 */
export function fimFields(names: readonly string[], code: 1403 | 1724): readonly string[] {
  const members = names.flatMap((name) => (name === 'value' ? ['value.name', 'value.type'] : [name]));
  requireFields(members, FIM_FIELDS, code);
  return [...new Set(members)];
}

/** What `q` compares: dates in epoch milliseconds, `date=0` is no date. */
export function queryValue(name: string): (candidate: FimCandidate) => unknown {
  const field = BY_NAME.get(name);
  if (field === undefined) return () => undefined;
  const { read, isDate } = field;
  if (!isDate) return read;
  return (candidate) => {
    const seconds = Number(read(candidate) ?? 0);
    return seconds === 0 ? undefined : seconds * 1000;
  };
}

/** What sorting compares: texts in lower case. */
export function sortValue(name: string): (candidate: FimCandidate) => FieldValue {
  const read = BY_NAME.get(name)?.read ?? (() => undefined);
  return (candidate) => {
    const value = read(candidate);
    return typeof value === 'string' ? value.toLowerCase() : value;
  };
}

/** What the texts of dates and of numbers are made of. */
const DATE_CHARACTERS = /^[\d:tz-]*$/;
const NUMBER_CHARACTERS = /^[\d-]*$/;
const NUMBERS: ReadonlySet<string> = new Set(['changes', 'inode', 'size']);

/** Tells whether a text is in any field, whatever the case. @param wanted in lower case */
export function textSearch(wanted: string): (candidate: FimCandidate) => boolean {
  // Most searches are for names, and showing two dates costs more than all the rest.
  const fields = FIELDS.filter(({ name, isDate }) => {
    if (isDate) return DATE_CHARACTERS.test(wanted);
    return !NUMBERS.has(name) || NUMBER_CHARACTERS.test(wanted);
  });
  return (candidate) => {
    for (const { read, isDate } of fields) {
      const value = read(candidate);
      if (value === undefined) continue;
      const text = isDate ? (isoTime(value) ?? '') : String(value);
      if (text.toLowerCase().includes(wanted)) return true;
    }
    return false;
  };
}

/** The entry as the API shows it: columns that were not told are left out. */
export function fimItem(candidate: FimCandidate, names: readonly string[] = FIM_FIELDS): Record<string, unknown> {
  const item: Record<string, unknown> = {};
  for (const name of names) {
    const field = BY_NAME.get(name);
    const value = field?.read(candidate);
    if (field === undefined || value === undefined) continue;
    if (field.isDate) {
      item[name] = isoTime(value);
    } else if (name === 'perm') {
      item[name] = shownPermissions(String(value));
    } else if (!name.startsWith(VALUE_PREFIX)) {
      item[name] = value;
    } else {
      const nested = (item['value'] ??= {}) as Record<string, unknown>;
      nested[name.slice(VALUE_PREFIX.length)] = value;
    }
  }
  return item;
}

/** Components that hold entries of a type; all without one. */
export function componentsOf(type: string | undefined): readonly FimComponent[] {
  if (type === undefined) return FIM_COMPONENTS;
  return FIM_COMPONENTS.filter((component) => component === (type === 'file' ? 'fim_file' : `fim_${type}`));
}

/** Latest moment that a date can show. */
const LAST_SECOND = 253_402_300_799;

/** `2023-11-14T22:21:40Z`; null for 0 and for what is no time. */
export function isoTime(seconds: FieldValue): string | null {
  const number = Number(seconds);
  if (!(number > 0 && number <= LAST_SECOND)) return null;
  return `${new Date(number * 1000).toISOString().slice(0, 19)}Z`;
}

/** Access lists of Windows are objects. Old agents tell octal digits, which stay a text (product.md 2.4). */
function shownPermissions(text: string): unknown {
  if (!text.startsWith('{')) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
