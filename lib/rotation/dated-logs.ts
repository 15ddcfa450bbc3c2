import { lstatSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type LocalDay, MONTH_NAMES } from '../time/local-day.js';

/** A file of a day that is kept below `<root>/YYYY/Mon`. */
export type DatedLog = {
  readonly path: string;
  readonly day: LocalDay;
  readonly bytes: number;
  /** Another name leads to it, too: it is still written to. */
  readonly live: boolean;
};

/**
 * The dated files below a directory, those of the oldest day first. Links are not followed, and other names left alone.
 * @param pattern of the names; its first group is the day of the month
 */
export function listDatedLogs(root: string, pattern: RegExp): DatedLog[] {
  const found: DatedLog[] = [];
  for (const year of directories(root, /^\d{4}$/)) {
    for (const [month, name] of MONTH_NAMES.entries()) {
      const directory = join(root, year, name);
      for (const file of files(directory)) {
        const day = pattern.exec(file)?.[1];
        const stats = day === undefined ? undefined : lstatSync(join(directory, file), { throwIfNoEntry: false });
        if (stats?.isFile() !== true) continue;
        found.push({
          path: join(directory, file),
          day: { year: Number(year), month, day: Number(day) },
          bytes: stats.size,
          live: stats.nlink > 1,
        });
      }
    }
  }
  return found.sort((a, b) => order(a) - order(b));
}

/** Removes a file, and the folders of its month and year when they are empty then. */
export function removeDatedLog({ path }: DatedLog): void {
  rmSync(path, { force: true });
  removeIfEmpty(dirname(path));
  removeIfEmpty(dirname(dirname(path)));
}

function order({ day: { year, month, day } }: DatedLog): number {
  return (year * 12 + month) * 31 + day;
}

function directories(path: string, pattern: RegExp): string[] {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && pattern.test(entry.name))
    .map(({ name }) => name);
}

function files(path: string): string[] {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true ? readdirSync(path) : [];
}

function removeIfEmpty(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined && readdirSync(path).length === 0) rmdirSync(path);
}
