import type { Home } from '../home/home.js';
import type { LimitedLogger, Logger } from '../log/logger.js';
import type { LocalDay } from '../time/local-day.js';
import { daysBetween } from './calendar-day.js';
import { type DatedLog, listDatedLogs, removeDatedLog } from './dated-logs.js';

/** Dated files that are kept for so long, and take so much room. */
export type RetentionRule = {
  /** How the log calls them: `alerts`. */
  readonly what: string;
  /** Directories in `logs`, and their files; the first group of the pattern is the day of the month. */
  readonly places: readonly { readonly directory: string; readonly pattern: RegExp }[];
  /** Files of days that are longer ago are removed; undefined: none for its age. */
  readonly days: number | undefined;
  /** When all take more bytes, those of the oldest days go; undefined: no limit. */
  readonly bytes: number | undefined;
};

/** From which day on files of a rule have to stay, since somebody has not read them; 'all' for every one. */
export type NeededDays = (what: string) => LocalDay | 'all' | undefined;

const MEGABYTE = 1024 ** 2;

/**
 * Removes old files of the logs, by days and by bytes. What is written to, what was written today, and what somebody has yet to
 * read stays in every case: a limit that is smaller than that is told.
 */
export class Retention {
  readonly #home: Home;
  readonly #logger: Logger;
  readonly #tooLarge: LimitedLogger;
  readonly #rules: () => readonly RetentionRule[];
  readonly #needed: NeededDays;

  /** @param rules those in force */
  constructor(home: Home, logger: Logger, rules: () => readonly RetentionRule[], needed: NeededDays = () => undefined) {
    this.#needed = needed;
    this.#home = home;
    this.#logger = logger;
    this.#tooLarge = logger.limited();
    this.#rules = rules;
  }

  /** @throws the file system's error */
  apply(today: LocalDay): void {
    for (const rule of this.#rules()) {
      if (rule.days === undefined && rule.bytes === undefined) continue;
      const { what, days, bytes } = rule;
      const needed = this.#needed(what);
      const [old, rest]: [DatedLog[], DatedLog[]] = [[], []];
      for (const file of this.#files(rule)) {
        (days !== undefined && removable(file, today, days, needed) ? old : rest).push(file);
      }
      this.#remove(what, old, `older than ${String(days)} days`);
      if (bytes !== undefined) this.#fit(what, rest, bytes, { today, needed });
    }
  }

  #fit(
    what: string,
    files: readonly DatedLog[],
    most: number,
    { today, needed }: { readonly today: LocalDay; readonly needed: ReturnType<NeededDays> },
  ): void {
    let total = files.reduce((sum, file) => sum + file.bytes, 0);
    const removed: DatedLog[] = [];
    for (const file of files) {
      if (total <= most) break;
      if (!removable(file, today, 0, needed)) continue;
      total -= file.bytes;
      removed.push(file);
    }
    const limit = `${String(most / MEGABYTE)} MB`;
    this.#remove(what, removed, `all take more than ${limit}`);
    if (total > most) {
      this.#tooLarge.warn(
        `Files of ${what} take ${(total / MEGABYTE).toFixed(1)} MB, more than ${limit}: those of today, and those that outputs have yet to read, are kept.`,
      );
    }
  }

  #remove(what: string, files: readonly DatedLog[], why: string): void {
    if (files.length === 0) return;
    for (const file of files) removeDatedLog(file);
    this.#logger.info(`Removed ${String(files.length)} files of ${what}: ${why}.`);
  }

  /** The oldest day first. */
  #files({ places }: RetentionRule): DatedLog[] {
    const files = places.flatMap(({ directory, pattern }) =>
      listDatedLogs(this.#home.path('logs', directory), pattern),
    );
    return places.length === 1 ? files : files.sort((a, b) => daysBetween(b.day, a.day));
  }
}

function removable({ day, live }: DatedLog, today: LocalDay, days: number, needed: ReturnType<NeededDays>): boolean {
  if (live || needed === 'all' || daysBetween(day, today) <= days) return false;
  return needed === undefined || daysBetween(day, needed) > 0;
}
