import type { RecordPosition } from '../../../lib/output/record-stream.js';
import { MONTH_NAMES } from '../../../lib/time/local-day.js';

/** A place among the alerts: the number of their file, `YYYYMMDD` times a thousand and its part, and a byte in it. */
export type AlertPlace = { readonly file: number; readonly offset: number };

const FILE = /^(\d{4})\/([A-Z][a-z]{2})\/ossec-alerts-(\d{2})(?:-(\d{3}))?\.json$/;
const PLACE = /^(\d{8})-(\d{3})-(\d{1,15})$/;
const PARTS = 1000;

/** Before every alert. */
export const FIRST_PLACE: AlertPlace = { file: 0, offset: 0 };

/** The place of a position of the stream; before every alert where its file is none of alerts. */
export function placeOf({ file, offset }: RecordPosition): AlertPlace {
  const [, year, month, day, part = '0'] = FILE.exec(file) ?? [];
  const monthNumber = MONTH_NAMES.findIndex((name) => name === month) + 1;
  if (year === undefined || monthNumber === 0) return FIRST_PLACE;
  const date = Number(year) * 10_000 + monthNumber * 100 + Number(day);
  return { file: date * PARTS + Number(part), offset };
}

/** The position of the stream at a place. */
export function positionOf({ file, offset }: AlertPlace): RecordPosition {
  if (file === 0) return { file: '', offset: 0 };
  const text = fileText(file);
  const month = MONTH_NAMES[Number(text.slice(4, 6)) - 1] ?? '';
  const part = file % PARTS === 0 ? '' : text.slice(8);
  return { file: `${text.slice(0, 4)}/${month}/ossec-alerts-${text.slice(6, 8)}${part}.json`, offset };
}

/** `20261127-000-123456`: how a place is written in ids and cursors. */
export function placeText({ file, offset }: AlertPlace): string {
  return `${fileText(file)}-${String(offset)}`;
}

/** @returns undefined for what is no place */
export function parsePlace(text: string): AlertPlace | undefined {
  const [, date, part, offset] = PLACE.exec(text) ?? [];
  return date === undefined ? undefined : { file: Number(date) * PARTS + Number(part), offset: Number(offset) };
}

/** The order of writing. */
export function comparePlaces(one: AlertPlace, other: AlertPlace): number {
  return one.file - other.file || one.offset - other.offset;
}

/** The calendar day of a file, `YYYYMMDD` as a number. */
export function dayNumber(place: AlertPlace): number {
  return Math.floor(place.file / PARTS);
}

/** `20261127-000` */
function fileText(file: number): string {
  const digits = String(file).padStart(11, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}
