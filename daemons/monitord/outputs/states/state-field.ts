import {
  addressOf,
  dateOf,
  flagOf,
  listOf,
  type NumberType,
  realOf,
  type StateRow,
  type StateValue,
  textOf,
  wholeOf,
} from './state-values.js';

/** Type of a field, as mappings call it. */
export type FieldType =
  | NumberType
  | 'keyword'
  /** A keyword that is searched whatever its length. */
  | 'whole_keyword'
  | 'match_only_text'
  | 'date'
  | 'ip'
  | 'boolean'
  /** A fraction with two digits. */
  | 'scaled_float';

/** A field of a document. */
export type StateField = {
  readonly path: readonly string[];
  readonly type: FieldType;
  /** Absent: it is in the mapping alone. */
  readonly write?: (row: StateRow) => StateValue;
};

type Reader = (row: StateRow, column: string) => StateValue;

/** Fields of one kind. @param words `path=column`, separated by blanks */
function fields(type: FieldType, words: string, read: Reader): StateField[] {
  return words.split(' ').map((word) => {
    const [path = '', column = ''] = word.split('=');
    return field(path, type, (row) => read(row, column));
  });
}

/** A field that is written in a way of its own. */
export function field(path: string, type: FieldType, write?: StateField['write']): StateField {
  return { path: path.split('.'), type, ...(write === undefined ? {} : { write }) };
}

/** Texts. */
export function texts(words: string, type: FieldType = 'keyword'): StateField[] {
  return fields(type, words, textOf);
}

/** Numbers that are 0 when the row has none. */
export function counts(words: string, type: NumberType = 'long'): StateField[] {
  // One that the type does not take is left out, as it is not 0.
  return fields(type, words, (row, column) => (row[column] === undefined ? 0 : wholeOf(row, column, type)));
}

/** Numbers that are left out when the row has none, or one below 0. */
export function optional(words: string, type: NumberType): StateField[] {
  return fields(type, words, (row, column) => notNegative(wholeOf(row, column, type)));
}

/** Numbers as texts, left out likewise. */
export function optionalTexts(words: string): StateField[] {
  return fields('keyword', words, (row, column) => {
    const value = notNegative(wholeOf(row, column, 'long'));
    return value === undefined ? undefined : String(value);
  });
}

/** Yes or no, from numbers; always written. */
export function flags(words: string): StateField[] {
  return fields('boolean', words, flagOf);
}

export function dates(words: string): StateField[] {
  return fields('date', words, dateOf);
}

/** Dates of numbers that are above 0. */
export function positiveDates(words: string): StateField[] {
  return fields('date', words, (row, column) => ((realOf(row, column) ?? 0) > 0 ? dateOf(row, column) : undefined));
}

export function addresses(words: string): StateField[] {
  return fields('ip', words, (row, column) => addressOf(textOf(row, column)));
}

/** Lists of texts. */
export function lists(separator: string, words: string): StateField[] {
  return fields('keyword', words, (row, column) => listOf(row, column, separator));
}

/** Fields that mappings have and no document. @param words paths */
export function mapped(type: FieldType, words: string): StateField[] {
  return words.split(' ').map((path) => field(path, type));
}

function notNegative(value: number | string | undefined): number | string | undefined {
  return value === undefined || (typeof value === 'number' ? value < 0 : value.startsWith('-')) ? undefined : value;
}
