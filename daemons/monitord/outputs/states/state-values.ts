import { isIP } from 'node:net';

/** A row of an inventory by its columns; what the agent did not tell is left out. */
export type StateRow = Readonly<Record<string, string | number>>;

/** A value of a document; undefined: the member is left out. */
export type StateValue = string | number | boolean | readonly string[] | undefined;

/** Whole numbers that a type of a mapping takes; a document with another one is refused as a whole. */
const RANGES = {
  short: [-(2n ** 15n), 2n ** 15n - 1n],
  integer: [-(2n ** 31n), 2n ** 31n - 1n],
  long: [-(2n ** 63n), 2n ** 63n - 1n],
  unsigned_long: [0n, 2n ** 64n - 1n],
} as const;
export type NumberType = keyof typeof RANGES;

/** What agents write for a text that they do not know. */
const UNKNOWN = ' ';
const DIGITS = /^-?\d{1,20}$/;
const SECOND_MS = 1000;
/** Dates have four digits of a year: these are the first and the last, epoch milliseconds. */
const FIRST_DATE = Date.UTC(1000, 0, 1);
const LAST_DATE = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const LOCAL = /^(\d{4})\/(\d\d)\/(\d\d) (\d\d):(\d\d):(\d\d)$/;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z$/;

/** The text of a column; undefined when there is none, or none is known. */
export function textOf(row: StateRow, column: string): string | undefined {
  const value = row[column];
  if (value === undefined || value === '' || value === UNKNOWN) return undefined;
  return String(value);
}

/**
 * The whole number of a column, its fraction cut off. One that is larger than a number can hold is given by its digits, which
 * servers read as a number.
 * @returns undefined when there is none, or the type does not take it
 */
export function wholeOf(row: StateRow, column: string, type: NumberType): number | string | undefined {
  const value = row[column];
  const number = typeof value === 'string' && DIGITS.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return undefined;
  const [least, most] = RANGES[type];
  const whole = Math.trunc(number);
  if (Number.isSafeInteger(whole)) return whole >= least && whole <= most ? whole : undefined;
  const large = BigInt(typeof value === 'string' ? value : whole);
  return large >= least && large <= most ? String(large) : undefined;
}

/** A number with a fraction; undefined when there is none. */
export function realOf(row: StateRow, column: string): number | undefined {
  const value = row[column];
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Whether a column has a number that is not 0. */
export function flagOf(row: StateRow, column: string): boolean {
  return (realOf(row, column) ?? 0) !== 0;
}

/** Elements of a text, without empty ones. */
export function listOf(row: StateRow, column: string, separator: string): readonly string[] | undefined {
  const list = textOf(row, column)
    ?.split(separator)
    .filter((element) => element !== '');
  return list === undefined || list.length === 0 ? undefined : list;
}

/** An address as servers take it; undefined for a text that is none: it would have the whole document refused. */
export function addressOf(text: string | undefined): string | undefined {
  // The zone of a link-local address is a matter of its host.
  const [address = ''] = (text === ':::' ? '::' : (text ?? '')).trim().split('%');
  return isIP(address) === 0 ? undefined : address;
}

/**
 * A date as documents have it (indexer.md 3.1): of seconds since 1970, of `YYYY/MM/DD hh:mm:ss` in the local time of this
 * host, and of ISO 8601 in UTC.
 * @returns undefined for anything else
 */
export function dateOf(row: StateRow, column: string): string | undefined {
  const value = row[column];
  if (value === undefined) return undefined;
  if (typeof value === 'number') return shownDate(value * SECOND_MS);
  if (DIGITS.test(value)) return shownDate(Number(value) * SECOND_MS);
  const [, ...local] = LOCAL.exec(value) ?? [];
  const [year, month, day, hour, minute, second] = local.map(Number);
  if (month !== undefined && day !== undefined) {
    const date = new Date(Number(year), month - 1, day, hour, minute, second);
    // The 30th of February is no day.
    return date.getMonth() === month - 1 && date.getDate() === day ? shownDate(date.getTime()) : undefined;
  }
  return ISO.test(value) ? shownDate(Date.parse(value)) : undefined;
}

function shownDate(milliseconds: number): string | undefined {
  const isShown = milliseconds >= FIRST_DATE && milliseconds <= LAST_DATE;
  return isShown ? new Date(milliseconds).toISOString() : undefined;
}
