import { MONTH_NAMES } from './local-day.js';

/** `2025 Jun 05 10:11:23`, local time, the form of the text logs (rules-and-alerts.md 7.7). @param time epoch milliseconds */
export function textTime(time: number): string {
  const at = new Date(time);
  const two = (part: number): string => String(part).padStart(2, '0');
  const clock = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':');
  return `${String(at.getFullYear())} ${MONTH_NAMES[at.getMonth()] ?? ''} ${two(at.getDate())} ${clock}`;
}
