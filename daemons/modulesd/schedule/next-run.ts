import type { Schedule } from '../../../lib/config/schedule.js';

const SECOND_MS = 1000;
const DAY_SECONDS = 86_400;
const DAYS_OF_WEEK = 7;
/** Months that are looked through for one with the wanted day: the 29th of February comes within eight years. */
const MOST_MONTHS = 12 * 8 + 1;

/**
 * When a module runs next (daemons-and-config.md 7.3). Days, weeks and months go by the calendar and the clock of this host,
 * so that a time of day stays the same when clocks are put forward or back.
 * @param last epoch milliseconds of the start of the run before; undefined before the first
 * @param now epoch milliseconds
 * @returns epoch milliseconds, `now` or later
 */
export function nextRun(schedule: Schedule, last: number | undefined, now: number): number {
  const { interval, day, wday, time } = schedule;
  if (day !== undefined) return nextOfMonth({ day, time: time ?? 0, months: interval.count }, last, now);
  if (wday !== undefined || time !== undefined) {
    const days = Math.max(1, Math.round(interval.count / DAY_SECONDS));
    return nextDay({ wday, time: time ?? 0, days: interval.unit === 'month' ? 1 : days }, last, now);
  }
  if (last === undefined) return now;
  const due = interval.unit === 'month' ? monthsAfter(last, interval.count) : last + interval.count * SECOND_MS;
  // A clock that was put back must not hold it up for longer than its interval.
  const latest = interval.unit === 'month' ? monthsAfter(now, interval.count) : now + interval.count * SECOND_MS;
  return Math.max(now, Math.min(due, latest));
}

/** The first such day of a month behind the last run, or from now on; months without it are left out. */
function nextOfMonth(
  { day, time, months }: { readonly day: number; readonly time: number; readonly months: number },
  last: number | undefined,
  now: number,
): number {
  const from = new Date(last ?? now);
  const first = last === undefined ? 0 : months;
  for (let ahead = first; ahead < first + MOST_MONTHS; ahead += 1) {
    const month = new Date(from.getFullYear(), from.getMonth() + ahead, 1);
    const date = at(month.getFullYear(), month.getMonth(), day, time);
    if (date.getMonth() === month.getMonth() && date.getTime() >= now) return date.getTime();
  }
  return now;
}

/** So many days behind the last run, or the next such day; at that time of day. */
function nextDay(
  { wday, time, days }: { readonly wday: number | undefined; readonly time: number; readonly days: number },
  last: number | undefined,
  now: number,
): number {
  const today = new Date(now);
  const from = last === undefined ? undefined : new Date(last);
  // The run before may have been late: the day counts, not its time.
  const earliest =
    from === undefined ? 0 : at(from.getFullYear(), from.getMonth(), from.getDate() + days, time).getTime();
  for (let ahead = 0; ahead <= days + DAYS_OF_WEEK; ahead += 1) {
    const date = at(today.getFullYear(), today.getMonth(), today.getDate() + ahead, time);
    const isDay = wday === undefined || date.getDay() === wday;
    if (isDay && date.getTime() >= now && date.getTime() >= earliest) return date.getTime();
  }
  // The clock was put back.
  return at(today.getFullYear(), today.getMonth(), today.getDate() + days, time).getTime();
}

/** @param time minutes behind midnight */
function at(year: number, month: number, day: number, time: number): Date {
  return new Date(year, month, day, Math.floor(time / 60), time % 60);
}

/** The same day and time so many months later; the last day of a month that is shorter. */
function monthsAfter(time: number, count: number): number {
  const date = new Date(time);
  const lastDay = new Date(date.getFullYear(), date.getMonth() + count + 1, 0).getDate();
  const day = Math.min(date.getDate(), lastDay);
  const moved = new Date(date);
  moved.setDate(1);
  moved.setMonth(date.getMonth() + count);
  moved.setDate(day);
  return moved.getTime();
}
