import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno } from '../../lib/files/is-errno.js';
import type { Home } from '../../lib/home/home.js';
import { MONTH_NAMES } from '../../lib/time/local-day.js';

const HOURS = 24;
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;
/** Beside the files of the hours: how many days went into them. */
const DAYS_FILE = '24';

const FIRED_LINE = /^\d{1,2}-(\d{1,9})-(\d{1,3})-(\d{1,15})$/;
const HOUR_LINE = /^(\d{1,2})--(\d{1,15})--(\d{1,15})--(\d{1,15})--(\d{1,15})$/;
const STATE_LINE = /^([\w.-]+)='(.*)'$/;

/** Item of `GET /manager/stats`: what an hour of a day brought. */
export type HourStatistics = {
  readonly hour: number;
  readonly alerts: readonly { readonly sigid: number; readonly level: number; readonly times: number }[];
  readonly totalAlerts: number;
  readonly events: number;
  readonly syscheck: number;
  readonly firewall: number;
};

/** A file of statistics that is not there (code 1308) or not as it should be (1309). */
export class StatisticsFileError extends Error {
  override readonly name = 'StatisticsFileError';

  /** @param path relative to the home */
  constructor(
    readonly code: 1308 | 1309,
    readonly path: string,
    options?: ErrorOptions,
  ) {
    super(`${path}: ${code === 1308 ? 'does not exist' : 'is damaged'}`, options);
  }
}

/**
 * Totals of each hour of a day (rules-and-alerts.md 11.1).
 * @param date `YYYY-MM-DD`, of the manager's local calendar
 * @throws StatisticsFileError
 */
export function readHourStatistics(home: Home, date: string): HourStatistics[] {
  const [year = '', month = '', day = ''] = date.split('-');
  const path = `stats/totals/${year}/${MONTH_NAMES[Number(month) - 1] ?? month}/ossec-totals-${day}.log`;
  const hours: HourStatistics[] = [];
  let alerts: { sigid: number; level: number; times: number }[] = [];
  for (const line of readStatistics(home, path).split('\n')) {
    const fired = FIRED_LINE.exec(line);
    if (fired !== null) {
      const [sigid = 0, level = 0, times = 0] = fired.slice(1).map(Number);
      alerts.push({ sigid, level, times });
      continue;
    }
    const totals = HOUR_LINE.exec(line);
    if (totals !== null) {
      const [hour = 0, totalAlerts = 0, events = 0, syscheck = 0, firewall = 0] = totals.slice(1).map(Number);
      hours.push({ hour, alerts, totalAlerts, events, syscheck, firewall });
      alerts = [];
      continue;
    }
    // Other lines are sums of the day; one of an hour that is not whole means that something else wrote here.
    if (line.includes('--')) throw new StatisticsFileError(1309, path);
  }
  return hours;
}

/** Averages of the hours of a day (rules-and-alerts.md 11.2); what cannot be read counts as 0. */
export function readHourlyAverages(home: Home): { averages: number[]; interactions: number } {
  const directory = home.path('stats', 'hourly-average');
  return { averages: readHours(directory), interactions: readNumber(join(directory, DAYS_FILE)) };
}

/** Averages of the hours of each weekday, from Sunday. */
export function readWeeklyAverages(home: Home): Record<string, { hours: number[]; interactions: number }>[] {
  return WEEKDAYS.map((name, index) => {
    const directory = home.path('stats', 'weekly-average', String(index));
    return { [name]: { hours: readHours(directory), interactions: readNumber(join(directory, DAYS_FILE)) } };
  });
}

/**
 * Counters of a daemon's state file (rules-and-alerts.md 11.3). The object has no prototype.
 * @param path relative to the home
 * @throws StatisticsFileError
 */
export function readStateFile(home: Home, path: string): Record<string, number> {
  const counters = Object.create(null) as Record<string, number>;
  for (const line of readStatistics(home, path).split('\n')) {
    const [, name, value = ''] = STATE_LINE.exec(line) ?? [];
    const number = Number(value);
    if (name !== undefined && value !== '' && Number.isFinite(number)) counters[name] = number;
  }
  return counters;
}

function readStatistics(home: Home, path: string): string {
  try {
    return readFileSync(home.path(path), 'utf8');
  } catch (error) {
    const missing = isErrno(error, 'ENOENT', 'ENOTDIR');
    throw new StatisticsFileError(missing ? 1308 : 1309, path, { cause: error });
  }
}

function readHours(directory: string): number[] {
  return Array.from({ length: HOURS }, (_hour, hour) => readNumber(join(directory, String(hour))));
}

function readNumber(path: string): number {
  try {
    const text = readFileSync(path, 'latin1').trim();
    return /^-?\d{1,15}$/.test(text) ? Number(text) : 0;
  } catch {
    return 0;
  }
}
