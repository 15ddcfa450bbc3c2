/** A calendar day in the manager's local time zone. */
export type LocalDay = { readonly year: number; readonly month: number; readonly day: number };

/** English three-letter month names, as directories and text alerts show them (rules-and-alerts.md 7.7, 7.8). */
export const MONTH_NAMES = [
  'Jan',
  'Feb',
  'Mar',
  'Apr',
  'May',
  'Jun',
  'Jul',
  'Aug',
  'Sep',
  'Oct',
  'Nov',
  'Dec',
] as const;

/** The local day of a moment; `month` counts from 0. */
export function dayOf(moment: Date): LocalDay {
  return { year: moment.getFullYear(), month: moment.getMonth(), day: moment.getDate() };
}

export function isSameDay(a: LocalDay, b: LocalDay): boolean {
  return a.day === b.day && a.month === b.month && a.year === b.year;
}

/** `YYYY/Mon`, the directory of a day's dated files. */
export function datedDirectory(day: LocalDay): string {
  return `${String(day.year)}/${MONTH_NAMES[day.month] ?? ''}`;
}
