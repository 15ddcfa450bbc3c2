import { MAX_HISTOGRAM_BUCKETS } from '../../lib/bus/contracts/db-alerts.js';
import { ProblemError } from '../http/problem-error.js';

/** Milliseconds of the units that a time before now is counted in. */
const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
/** Epoch numbers with more digits are milliseconds: seconds have eleven from the year 5138 on. */
const MAX_SECOND_DIGITS = 11;
/** Epoch milliseconds of the end of the year 9999, which svc-db takes at most. */
const MAX_TIME = 253_402_300_799_999;

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const WITHOUT_ZONE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?$/;
const RELATIVE = /^now(?:-(\d{1,9})([smhdw]))?$/;

/**
 * A time as parameters have it: ISO 8601 (without a zone it is UTC, a date alone its midnight), epoch seconds or milliseconds, `now` or
 * `now-24h` with the units s, m, h, d, w.
 * @param name of the parameter, for the refusal
 * @param now epoch milliseconds
 * @returns epoch milliseconds
 * @throws ProblemError 400 for a day or an hour that there is not, or one beyond the year 9999
 */
function parseAlertTime(name: string, text: string, now: number): number {
  const time = read(text, now);
  if (!Number.isSafeInteger(time) || time < 0 || time > MAX_TIME) {
    throw ProblemError.badRequest(
      `Parameter '${name}' is no time: '${text}'. Use 2026-05-08T12:34:19Z, 2026-05-08, epoch seconds or milliseconds, now or now-24h`,
    );
  }
  return time;
}

function read(text: string, now: number): number {
  const [isRelative, count = '0', unit = 's'] = RELATIVE.exec(text) ?? [];
  if (isRelative !== undefined) return Math.max(0, Math.floor(now) - Number(count) * (UNIT_MS[unit] ?? 0));
  if (/^\d+$/.test(text)) return Number(text) * (text.length > MAX_SECOND_DIGITS ? 1 : 1000);
  if (DATE.test(text)) return Date.parse(`${text}T00:00:00Z`);
  return Date.parse(WITHOUT_ZONE.test(text) ? `${text}Z` : text);
}

/** Time that numbers are of where a request says nothing. */
const LAST_DAY = { from: 'now-24h', to: 'now' } as const;
/** Buckets of a histogram whose interval is not given. */
const AUTO_BUCKETS = 60;

/** As parameters have them. */
export type GivenTimes = { readonly from?: string | undefined; readonly to?: string | undefined };

export type AlertTimes = { readonly from?: number; readonly to?: number };

/**
 * The time that a request is about: from the first moment on, before the second.
 * @param defaults where the request says nothing
 * @throws ProblemError 400
 */
export function alertTimes(given: GivenTimes, now: number, defaults: GivenTimes = {}): AlertTimes {
  const { from = defaults.from, to = defaults.to } = given;
  const times = {
    ...(from === undefined ? {} : { from: parseAlertTime('from', from, now) }),
    ...(to === undefined ? {} : { to: parseAlertTime('to', to, now) }),
  };
  if (times.from !== undefined && times.to !== undefined && times.from >= times.to) {
    throw ProblemError.badRequest("Parameter 'from' must be before 'to'");
  }
  return times;
}

/** The same where numbers are asked for: of the last 24 hours unless the request says otherwise. @throws ProblemError 400 */
export function spanOf(given: GivenTimes, now: number): Required<AlertTimes> {
  const { from = 0, to = 0 } = alertTimes(given, now, LAST_DAY);
  return { from, to };
}

/**
 * The length of a bucket, milliseconds.
 * @param text as the request has it: `15m`, or seconds; without it a round one
 * @throws ProblemError 400 when it makes too many
 */
export function intervalOf(text: string | undefined, { from, to }: Required<AlertTimes>): number {
  const interval = text === undefined ? roundInterval(to - from, AUTO_BUCKETS) : parseInterval(text);
  if ((to - from) / interval > MAX_HISTOGRAM_BUCKETS) {
    throw ProblemError.badRequest(
      `Parameter 'interval' makes more than ${MAX_HISTOGRAM_BUCKETS} buckets of this time: use a longer one, or none`,
    );
  }
  return interval;
}

/** Round lengths of buckets, milliseconds, from a second to a week; longer ones are whole weeks. */
const ROUND_MS = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1000),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60_000),
  ...[1, 2, 3, 6, 12].map((hours) => hours * 3_600_000),
  ...[1, 2, 7].map((days) => days * 86_400_000),
];
const WEEK_MS = 604_800_000;

/** The shortest round length with which a time has so many buckets at most, milliseconds. */
function roundInterval(lengthMs: number, buckets: number): number {
  const least = lengthMs / buckets;
  return ROUND_MS.find((length) => length >= least) ?? Math.ceil(least / WEEK_MS) * WEEK_MS;
}

function parseInterval(text: string): number {
  const unit = text.at(-1) ?? '';
  const length = UNIT_MS[unit];
  return length === undefined ? Number(text) * 1000 : Number(text.slice(0, -1)) * length;
}
