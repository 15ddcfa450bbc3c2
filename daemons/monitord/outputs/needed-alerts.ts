import { type LocalDay, MONTH_NAMES } from '../../../lib/time/local-day.js';

/** A file of a stream, below its directory. */
const FILE = /^(\d{4})\/([A-Z][a-z]{2})\/[a-z-]+-(\d{2})/;

/**
 * From which day on alerts, or archives, have to be kept for the outputs.
 * @param files that they read next; 'all' when that is not known yet
 */
export function neededAlerts(files: readonly string[] | 'all'): LocalDay | 'all' | undefined {
  if (files === 'all') return 'all';
  // Names in the order of time would sort by the month's name: days are compared.
  const days = files.flatMap((file) => {
    const [, year, month, day] = FILE.exec(file) ?? [];
    return year === undefined
      ? []
      : [{ year: Number(year), month: MONTH_NAMES.findIndex((name) => name === month), day: Number(day) }];
  });
  return days.reduce<LocalDay | undefined>(
    (oldest, day) => (oldest === undefined || order(day) < order(oldest) ? day : oldest),
    undefined,
  );
}

function order({ year, month, day }: LocalDay): number {
  return (year * 12 + month) * 31 + day;
}
