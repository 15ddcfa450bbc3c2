import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomically } from '../../lib/daemon/write-file-atomically.js';
import type { HourReport } from '../../lib/engine/engine.js';
import type { HourTable, Statistics } from '../../lib/engine/statistics.js';
import { MONTH_NAMES } from '../../lib/output/local-day.js';

const HOURS = 24;
const DAYS = 7;
/** Name of the file with the number of days sampled, beside those of the hours. */
const DAYS_FILE = '24';
const HOUR_KEY = /^(\d{4})-(\d{2})-(\d{2})T(\d{2})/;
const FILE_MODE = 0o640;
const DIRECTORY_MODE = 0o750;

/** The files under `stats/`: totals of each hour and averages (rules-and-alerts.md 11.1, 11.2). */
export class StatisticsFiles {
  readonly #directory: string;

  /** @param directory `{home}/stats` */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Fills the averages from their files; what is missing or no number counts as 0. */
  load(statistics: Statistics): void {
    this.#loadTable(join(this.#directory, 'hourly-average'), statistics.hourly);
    for (let day = 0; day < DAYS; day += 1) {
      const table = statistics.weekly[day];
      if (table !== undefined) this.#loadTable(join(this.#directory, 'weekly-average', String(day)), table);
    }
  }

  /** Writes the averages. @throws Error of the file system */
  save(statistics: Statistics): void {
    this.#saveTable(join(this.#directory, 'hourly-average'), statistics.hourly);
    statistics.weekly.forEach((table, day) => {
      this.#saveTable(join(this.#directory, 'weekly-average', String(day)), table);
    });
  }

  /**
   * Appends the totals of an hour that ended.
   * @param dayCounts events by hour, given with the last hour of a day
   * @throws Error of the file system
   */
  appendTotals(report: HourReport, dayCounts: readonly number[] | undefined): void {
    const [, year = '', month = '', day = '', hour = ''] = HOUR_KEY.exec(report.hourKey) ?? [];
    const directory = join(this.#directory, 'totals', year, MONTH_NAMES[Number(month) - 1] ?? month);
    mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
    const hourText = String(Number(hour));
    let text = '';
    for (const { rule, times } of report.fired) {
      text += `${hourText}-${String(rule.rule.id)}-${String(rule.rule.level)}-${String(times)}\n`;
    }
    const { alerts, events, syscheck, firewall } = report;
    text += `${hourText}--${String(alerts)}--${String(events)}--${String(syscheck)}--${String(firewall)}\n\n`;
    if (dayCounts !== undefined) {
      dayCounts.forEach((count, index) => (text += `Hour totals - ${String(index)}:${String(count)}\n`));
      text += `Total events for day:${String(dayCounts.reduce((sum, count) => sum + count, 0))}\n`;
    }
    appendFileSync(join(directory, `ossec-totals-${day}.log`), text, { mode: FILE_MODE });
  }

  #loadTable(directory: string, table: HourTable): void {
    for (let hour = 0; hour < HOURS; hour += 1) table.averages[hour] = readNumber(join(directory, String(hour)));
    table.days = readNumber(join(directory, DAYS_FILE));
  }

  #saveTable(directory: string, table: HourTable): void {
    mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
    table.averages.forEach((average, hour) => {
      writeFileAtomically(join(directory, String(hour)), String(average), { mode: FILE_MODE });
    });
    writeFileAtomically(join(directory, DAYS_FILE), String(table.days), { mode: FILE_MODE });
  }
}

function readNumber(path: string): number {
  if (!existsSync(path)) return 0;
  const text = readFileSync(path, 'latin1').trim();
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
}
