import { MONTH_NAMES } from './local-day.js';

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;

/** C's `ctime` of epoch seconds, without the line end; empty when the text is no number. */
export function ctime(seconds: string): string {
  if (!/^[0-9]+$/.test(seconds)) return '';
  const date = new Date(Number(seconds) * 1000);
  const two = (n: number): string => String(n).padStart(2, '0');
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  const day = String(date.getDate()).padStart(2, ' ');
  return `${DAYS[date.getDay()] ?? ''} ${MONTH_NAMES[date.getMonth()] ?? ''} ${day} ${time} ${String(date.getFullYear())}`;
}
