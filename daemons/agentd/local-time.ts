/** `YYYY-MM-DD HH:MM:SS`, local time; empty for none. @param at epoch milliseconds */
export function localTime(at: number | undefined): string {
  if (at === undefined) return '';
  const date = new Date(at);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`;
}
