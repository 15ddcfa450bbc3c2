/** Spans of time that are offered, as the API takes them for `from`. */
export const SPANS = ['now-15m', 'now-1h', 'now-24h', 'now-7d', 'now-30d'] as const;

/** What is asked for where nobody has chosen a time. */
export const DEFAULT_FROM = 'now-24h';

const UNITS_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
/** What a date can be, milliseconds around the epoch; a day less, so that the zone of a computer has room. */
const MOST_MS = 8.64e15 - UNITS_MS.d;
/** Digits up to which a number is of seconds (rest-api.md 6.19). */
const DIGITS_OF_SECONDS = 11;

/**
 * A time as the API takes it: `now-24h`, ISO 8601, epoch seconds or milliseconds.
 * @param now epoch milliseconds
 * @returns epoch milliseconds; undefined when it is none, or further away than any date
 */
export function readTime(text: string, now: number): number | undefined {
  const ms = anyTime(text, now);
  return ms === undefined || Math.abs(ms) > MOST_MS ? undefined : ms;
}

function anyTime(text: string, now: number): number | undefined {
  if (text === 'now') return now;
  const [, count, unit] = /^now-(\d{1,9})([smhdw])$/.exec(text) ?? [];
  if (unit !== undefined) return now - Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
  if (/^\d{1,15}$/.test(text)) return text.length <= DIGITS_OF_SECONDS ? Number(text) * 1000 : Number(text);
  return readIso(text);
}

/**
 * A time of an alert or a request. Alerts write offsets without a colon, which not every browser reads, and a request without
 * a zone means UTC.
 * @returns epoch milliseconds; undefined when it is none
 */
export function readIso(text: string): number | undefined {
  const found = /^(\d{4}-\d{2}-\d{2})(?:T([\d:.]+)(Z|[+-]\d{2}:?\d{2})?)?$/.exec(text);
  if (found === null) return undefined;
  const [, day = '', time = '00:00', zone = 'Z'] = found;
  const ms = Date.parse(`${day}T${time}${zone.replace(/^([+-]\d{2}):?(\d{2})$/, '$1:$2')}`);
  return Number.isNaN(ms) ? undefined : ms;
}

/** @param ms epoch milliseconds */
export function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

/** What a field of a form for date and time has, in the time of this computer. @param ms epoch milliseconds */
export function toLocalField(ms: number): string {
  const at = new Date(ms);
  return new Date(ms - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** The other way round. @returns undefined when nothing is written there */
export function ofLocalField(text: string): string | undefined {
  const ms = text === '' ? Number.NaN : new Date(text).getTime();
  return Number.isNaN(ms) ? undefined : isoOf(ms);
}
