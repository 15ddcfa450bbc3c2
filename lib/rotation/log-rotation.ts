import { closeSync, fchmodSync, lstatSync, mkdirSync, openSync, readdirSync, readSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { compressFile } from '../files/compress-file.js';
import { isErrno } from '../files/is-errno.js';
import type { Home } from '../home/home.js';
import type { Logger } from '../log/logger.js';
import { datedDirectory, dayOf, type LocalDay } from '../time/local-day.js';
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
};

const DIRECTORY_MODE = 0o750;
/**
 * Time between the rename and the compression. Daemons look for a new inode before every line, so a line can only reach
 * the old file when its write was on the way during the rename.
 */
const SETTLE_MS = 1000;

/** A log that lies in `logs` and is rotated by whoever looks after the home. */
export type RotatedLog = {
  /** `manager`: of `logs/manager.log`, which goes to `logs/manager/YYYY/Mon/manager-DD.log`. */
  readonly name: string;
  readonly extensions: readonly ('log' | 'json')[];
  /** Whether the lines of this process go there, the first of which makes the new file. Others find an empty one. */
  readonly own: boolean;
};

/** The log of the daemons. */
export const MANAGER_LOG: RotatedLog = { name: 'manager', extensions: ['log', 'json'], own: true };

/** What responses write. */
export const RESPONSES_LOG: RotatedLog = { name: 'active-responses', extensions: ['log'], own: false };

/** What programs for other products write. */
export const INTEGRATIONS_LOG: RotatedLog = { name: 'integrations', extensions: ['log'], own: false };

/** Alerts that a search engine refused. */
export const REJECTED_LOG: RotatedLog = { name: 'indexer-rejected', extensions: ['json'], own: false };

/** Mode of a log that scripts append to. */
const SHARED_MODE = 0o660;

export type LogRotationParts = {
  readonly home: Home;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Gives up between two steps; the next start goes on. */
  readonly signal: AbortSignal;
};

/** Rotation of one log by day and by size (daemons-and-config.md 4.2). */
export class LogRotation {
  readonly #home: Home;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #log: RotatedLog;
  readonly #dated: RegExp;

  constructor({ home, logger, clock, signal }: LogRotationParts, log: RotatedLog) {
    this.#home = home;
    this.#logger = logger;
    this.#clock = clock;
    this.#signal = signal;
    this.#log = log;
    this.#dated = new RegExp(`^${log.name}-(\\d{2})(?:-\\d{3})?\\.(?:log|json)(?:\\.gz)?$`);
  }

  /** Day of the first line of the log, when that day is over: monitord was down at midnight. */
  overdueDay(today: LocalDay): LocalDay | undefined {
    const days = this.#log.extensions.map((extension) => this.#firstDay(extension)).filter((day) => day !== undefined);
    return days.find((day) => daysBetween(day, today) > 0);
  }

  /** The nightly rotation. @param day that is over */
  async rotateDaily(day: LocalDay, settings: RotationSettings): Promise<void> {
    if (this.#log.own) this.#logger.info('Running daily rotation of log files.');
    await this.#rotate(
      this.#log.extensions.filter((extension) => this.#size(extension) > 0),
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
    const large = this.#log.extensions.filter((extension) => this.#size(extension) >= settings.sizeLimit);
    for (const extension of large) {
      this.#logger.info(`Rotating 'logs/${this.#log.name}.${extension}' file: Maximum size reached.`);
    }
    await this.#rotate(large, dayOf(this.#clock.now()), settings);
  }

  async #rotate(extensions: readonly ('log' | 'json')[], day: LocalDay, settings: RotationSettings): Promise<void> {
    if (extensions.length === 0) {
      return;
    }
    const directory = this.#home.path('logs', this.#log.name, datedDirectory(day));
    mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
    const rotated = extensions.map((extension) => {
      const parts = new LogParts(directory, this.#log.name, day, extension);
      const target = parts.path(parts.claim(settings.dailyRotations));
      renameSync(this.#live(extension), target);
      return target;
    });
    if (this.#log.own) {
      // The first line makes the new file.
      this.#logger.info('Starting new log after rotation.');
    } else {
      for (const extension of extensions) makeShared(this.#live(extension));
    }
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
    const directory = this.#home.path('logs', this.#log.name, datedDirectory(day));
    const prefix = `${this.#log.name}-${twoDigits(day)}`;
    for (const name of lstatSync(directory, { throwIfNoEntry: false }) === undefined ? [] : readdirSync(directory)) {
      if (name.startsWith(prefix) && this.#dated.test(name) && !name.endsWith('.gz')) {
        await compressFile(join(directory, name), { signal: this.#signal });
      }
    }
  }

  #live(extension: string): string {
    return this.#home.path('logs', `${this.#log.name}.${extension}`);
  }

  #size(extension: string): number {
    const stats = lstatSync(this.#live(extension), { throwIfNoEntry: false });
    return stats?.isFile() === true ? stats.size : 0;
  }

  #firstDay(extension: string): LocalDay | undefined {
    const stats = lstatSync(this.#live(extension), { throwIfNoEntry: false });
    if (stats?.isFile() !== true || stats.size === 0) return undefined;
    const head = Buffer.alloc(64);
    const fd = openSync(this.#live(extension), 'r');
    try {
      readSync(fd, head, 0, head.length, 0);
    } finally {
      closeSync(fd);
    }
    const date = /^(?:\{"timestamp":")?(\d{4})\/(\d{2})\/(\d{2}) /.exec(head.toString('latin1'));
    if (date !== null) return { year: Number(date[1]), month: Number(date[2]) - 1, day: Number(date[3]) };
    // Scripts begin their lines as they like.
    return this.#log.own ? undefined : dayOf(stats.mtime);
  }
}

/** An empty log for scripts, which may run as root or as the service user. */
function makeShared(path: string): void {
  let fd: number;
  try {
    fd = openSync(path, 'ax', SHARED_MODE);
  } catch (error) {
    // A script was quicker.
    if (isErrno(error, 'EEXIST')) return;
    throw error;
  }
  try {
    fchmodSync(fd, SHARED_MODE);
  } finally {
    closeSync(fd);
  }
}
