const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/**
 * Days of the week (rules-and-alerts.md 6.4): names or their first three letters, `weekdays`, `weekends`,
 * case-insensitive, separated by blanks and commas. `!` is not accepted (13.1, Q12).
 *
 * @returns seven flags, Sunday first, or undefined: `(1241): Invalid day format: '%s'.`
 */
export function parseWeekdays(text: string): readonly boolean[] | undefined {
  const days = Array.from({ length: 7 }, () => false);
  const words = text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((word) => word !== '');
  if (words.length === 0) return undefined;
  for (const word of words) {
    if (word === 'weekdays') {
      days.fill(true, 1, 6);
    } else if (word === 'weekends') {
      days[0] = days[6] = true;
    } else {
      const day = DAYS.findIndex((name) => name === word || name.slice(0, 3) === word);
      if (day < 0) return undefined;
      days[day] = true;
    }
  }
  return days;
}
