import {
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { compressFile } from '../../lib/files/compress-file.js';
import type { Home } from '../../lib/home/home.js';
import type { Logger } from '../../lib/log/logger.js';
import { datedDirectory, dayOf, type LocalDay, MONTH_NAMES } from '../../lib/time/local-day.js';
import { daysBetween, twoDigits } from './calendar-day.js';
import type { Clock } from './clock.js';
import { LogParts } from './log-parts.js';

/** What the configuration says about the manager's own log (internal options `monitord.*`). */
export type RotationSettings = {
  readonly compress: boolean;
  readonly rotateBySize: boolean;
  /** Bytes; 0 is off. */
  readonly sizeLimit: number;
  /** Parts of a day. */
  readonly dailyRotations: number;
  readonly keepDays: number;
};

const DIRECTORY_MODE = 0o750;
/**
 * Time between the rename and the compression. Daemons look for a new inode before every line, so a line can only reach
 * the old file when its write was on the way during the rename.
 */
const SETTLE_MS = 1000;
const EXTENSIONS = ['log', 'json'] as const;
const DATED_NAME = /^manager-(\d{2})(?:-\d{3})?\.(?:log|json)(?:\.gz)?$/;

/** Rotation of `logs/manager.log` and `logs/manager.json` (daemons-and-config.md 4.2). */
export class ManagerLogRotation {
  readonly #home: Home;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;

  constructor(home: Home, logger: Logger, clock: Clock, signal: AbortSignal) {
    this.#home = home;
    this.#logger = logger;
    this.#clock = clock;
    this.#signal = signal;
  }

  /** Day of the first line of the log, when that day is over: monitord was down at midnight. */
  overdueDay(today: LocalDay): LocalDay | undefined {
    const days = EXTENSIONS.map((extension) => this.#firstDay(extension)).filter((day) => day !== undefined);
    return days.find((day) => daysBetween(day, today) > 0);
  }

  /** The nightly rotation. @param day that is over */
  async rotateDaily(day: LocalDay, settings: RotationSettings): Promise<void> {
    this.#logger.info('Running daily rotation of log files.');
    await this.#rotate(
      EXTENSIONS.filter((extension) => this.#size(extension) > 0),
      day,
      settings,
    );
    await this.#compressLeftOvers(day, settings);
  }

  /** Rotates what has reached the size limit, under today's date. */
  async rotateBySize(settings: RotationSettings): Promise<void> {
    if (!settings.rotateBySize || settings.sizeLimit === 0) {
      return;
    }
    const large = EXTENSIONS.filter((extension) => this.#size(extension) >= settings.sizeLimit);
    for (const extension of large) {
      this.#logger.info(`Rotating 'logs/manager.${extension}' file: Maximum size reached.`);
    }
    await this.#rotate(large, dayOf(this.#clock.now()), settings);
  }

  /** Deletes logs of days older than `keepDays` + 1, and folders that are empty then. */
  removeOld(today: LocalDay, settings: RotationSettings): void {
    const root = this.#home.path('logs', 'manager');
    for (const year of directories(root, /^\d{4}$/)) {
      for (const month of directories(join(root, year), /^[A-Z][a-z]{2}$/)) {
        const monthNumber = MONTH_NAMES.findIndex((name) => name === month);
        if (monthNumber < 0) {
          continue;
        }
        const directory = join(root, year, month);
        for (const name of readdirSync(directory)) {
          const day = DATED_NAME.exec(name)?.[1];
          if (day === undefined) {
            continue;
          }
          const age = daysBetween({ year: Number(year), month: monthNumber, day: Number(day) }, today);
          if (age > settings.keepDays + 1) {
            rmSync(join(directory, name), { force: true });
          }
        }
        removeIfEmpty(directory);
      }
      removeIfEmpty(join(root, year));
    }
  }

  async #rotate(
    extensions: readonly (typeof EXTENSIONS)[number][],
    day: LocalDay,
    settings: RotationSettings,
  ): Promise<void> {
    if (extensions.length === 0) {
      return;
    }
    const directory = this.#home.path('logs', 'manager', datedDirectory(day));
    mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
    const rotated = extensions.map((extension) => {
      const parts = new LogParts(directory, day, extension);
      const target = parts.path(parts.claim(settings.dailyRotations));
      renameSync(this.#live(extension), target);
      return target;
    });
    // The first line makes the new file.
    this.#logger.info('Starting new log after rotation.');
    if (settings.compress) {
      await this.#clock.sleep(SETTLE_MS, this.#signal);
      for (const path of rotated) {
        await compressFile(path, { signal: this.#signal });
      }
    }
  }

  /** Plain files that a crash between rotation and compression left. */
  async #compressLeftOvers(day: LocalDay, settings: RotationSettings): Promise<void> {
    if (!settings.compress) {
      return;
    }
    const directory = this.#home.path('logs', 'manager', datedDirectory(day));
    const prefix = `manager-${twoDigits(day)}`;
    for (const name of lstatSync(directory, { throwIfNoEntry: false }) === undefined ? [] : readdirSync(directory)) {
      if (name.startsWith(prefix) && DATED_NAME.test(name) && !name.endsWith('.gz')) {
        await compressFile(join(directory, name), { signal: this.#signal });
      }
    }
  }

  #live(extension: string): string {
    return this.#home.path('logs', `manager.${extension}`);
  }

  #size(extension: string): number {
    const stats = lstatSync(this.#live(extension), { throwIfNoEntry: false });
    return stats?.isFile() === true ? stats.size : 0;
  }

  #firstDay(extension: string): LocalDay | undefined {
    if (this.#size(extension) === 0) {
      return undefined;
    }
    const head = Buffer.alloc(64);
    const fd = openSync(this.#live(extension), 'r');
    try {
      readSync(fd, head, 0, head.length, 0);
    } finally {
      closeSync(fd);
    }
    const date = /^(?:\{"timestamp":")?(\d{4})\/(\d{2})\/(\d{2}) /.exec(head.toString('latin1'));
    return date === null ? undefined : { year: Number(date[1]), month: Number(date[2]) - 1, day: Number(date[3]) };
  }
}

function directories(path: string, pattern: RegExp): string[] {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) {
    return [];
  }
  // Links are not followed: only what the rotation itself has made is looked at.
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && pattern.test(entry.name))
    .map((entry) => entry.name);
}

function removeIfEmpty(path: string): void {
  if (readdirSync(path).length === 0) {
    rmdirSync(path);
  }
}
