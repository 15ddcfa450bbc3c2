import { dayOf, type LocalDay } from '../time/local-day.js';

/** The day before. Counted on the calendar, since a day may have 23 or 25 hours. */
export function previousDay({ year, month, day }: LocalDay): LocalDay {
  return dayOf(new Date(year, month, day - 1));
}

/** Whole days from one day to a later one; negative when it is an earlier one. */
export function daysBetween(from: LocalDay, to: LocalDay): number {
  return Math.round((Date.UTC(to.year, to.month, to.day) - Date.UTC(from.year, from.month, from.day)) / 86_400_000);
}

/** Two digits, as in the names of dated files. */
export function twoDigits(day: LocalDay): string {
  return String(day.day).padStart(2, '0');
}
