import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { datedDirectory, type LocalDay, MONTH_NAMES } from '../time/local-day.js';

/** What the dated files of one output are called: `<stem>-DD[-NNN].<extension>` below `YYYY/Mon` (rules-and-alerts.md 7.8). */
export type DatedName = {
  /** Directory of the live name. */
  readonly directory: string;
  readonly stem: string;
  readonly extension: string;
};

/** The alerts as lines of JSON, in `logs/alerts` (rules-and-alerts.md 7.8). */
export const ALERT_FILES = { stem: 'ossec-alerts', extension: 'json' } as const;

/** The archives as lines of JSON, in `logs/archives`. */
export const ARCHIVE_FILES = { stem: 'ossec-archive', extension: 'json' } as const;

/** What active response decided, in `queue/responses` (rules-and-alerts.md 8.3). */
export const RESPONSE_FILES = { stem: 'ossec-responses', extension: 'json' } as const;

/** One file of a day. */
export type DatedPart = { readonly part: number; readonly isCompressed: boolean };

/** What svc-monitord appends to the name of a file of a past day. */
const COMPRESSED = '.gz';

/** Path of a dated file; part 0 has no number. */
export function datedPath(name: DatedName, day: LocalDay, part: number): string {
  const suffix = part === 0 ? '' : `-${String(part).padStart(3, '0')}`;
  return join(
    name.directory,
    datedDirectory(day),
    `${name.stem}-${String(day.day).padStart(2, '0')}${suffix}.${name.extension}`,
  );
}

/** Path of the same file once it is compressed. */
export function compressedPath(path: string): string {
  return path + COMPRESSED;
}

/** The parts of a day that exist, in no order; one that is there in both forms appears twice. */
export function partsOf(name: DatedName, day: LocalDay): DatedPart[] {
  return filesOfMonth(name, day.year, day.month)
    .filter((file) => file.day.day === day.day)
    .map(({ part, isCompressed }) => ({ part, isCompressed }));
}

/** Files of days after the given one. */
export function filesAfter(name: DatedName, day: LocalDay): (DatedPart & { readonly day: LocalDay })[] {
  if (!existsSync(name.directory)) return [];
  const files = [];
  for (const year of readdirSync(name.directory)) {
    if (!/^\d{4}$/.test(year) || Number(year) < day.year) continue;
    for (let month = Number(year) === day.year ? day.month : 0; month < MONTH_NAMES.length; month += 1) {
      files.push(...filesOfMonth(name, Number(year), month));
    }
  }
  return files.filter((file) => compareDays(file.day, day) > 0);
}

/** Order of calendar days. */
export function compareDays(a: LocalDay, b: LocalDay): number {
  return a.year - b.year || a.month - b.month || a.day - b.day;
}

function filesOfMonth(name: DatedName, year: number, month: number): (DatedPart & { readonly day: LocalDay })[] {
  const directory = join(name.directory, datedDirectory({ year, month, day: 1 }));
  if (!existsSync(directory)) return [];
  const files = [];
  for (const entry of readdirSync(directory)) {
    const isCompressed = entry.endsWith(COMPRESSED);
    const plain = isCompressed ? entry.slice(0, -COMPRESSED.length) : entry;
    if (!plain.startsWith(`${name.stem}-`) || !plain.endsWith(`.${name.extension}`)) continue;
    const numbers = /^(\d{2})(?:-(\d{3}))?$/.exec(plain.slice(name.stem.length + 1, -name.extension.length - 1));
    if (numbers === null) continue;
    files.push({ day: { year, month, day: Number(numbers[1]) }, part: Number(numbers[2] ?? 0), isCompressed });
  }
  return files;
}
