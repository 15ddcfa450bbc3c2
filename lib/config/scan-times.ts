import { minuteOfDay } from '../time/time-expression.js';
import { parseWeekdays } from '../time/weekday-expression.js';

/**
 * `<scan_time>`: one time of day such as `9pm`, `8:30`, `21:00` or `8:30am` (integrity-and-inventory.md 2.1).
 * @returns minutes after midnight; undefined when it is none
 */
export function parseScanTime(text: string): number | undefined {
  const parts = /^\s*(\d{1,2})(?::(\d{2}))?\s*([ap]m)?\s*$/i.exec(text);
  return parts === null ? undefined : minuteOfDay(parts[1], parts[2], parts[3]);
}

/**
 * `<scan_day>`: days as a list separated by blanks and commas; a leading `!` means all others (integrity-and-inventory.md
 * 2.1).
 * @returns seven flags, Sunday first; undefined when it is no such list
 */
export function parseScanDays(text: string): readonly boolean[] | undefined {
  const [, negated, list = ''] = /^\s*(!?)(.*)$/s.exec(text) ?? [];
  const days = parseWeekdays(list);
  return negated === '!' ? days?.map((day) => !day) : days;
}
