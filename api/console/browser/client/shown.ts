/*
 * Numbers and times as this computer's language writes them. Making a writer costs a hundred times what it costs to write with it, and lists
 * have thousands of numbers.
 */
const NUMBERS = new Intl.NumberFormat();
const TIMES = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'medium' });
const SHORT_TIMES = new Intl.DateTimeFormat(undefined, {
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

/** `1,234` */
export function shownNumber(value: number): string {
  return NUMBERS.format(value);
}

/** Day and time; `–` for what is no time. @param ms epoch milliseconds @param isShort without the year */
export function shownTime(ms: number, isShort = false): string {
  if (Number.isNaN(new Date(ms).getTime())) return '–';
  return (isShort ? SHORT_TIMES : TIMES).format(ms);
}
