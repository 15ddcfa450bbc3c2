import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HourReport } from '../../lib/engine/event-counting.js';
import type { HourTable, Statistics } from '../../lib/engine/statistics.js';
import { writeFileAtomically } from '../../lib/files/write-file-atomically.js';
import type { CloseOptions, FileRepair } from '../../lib/output/append-file.js';
import { OutputFile, type OutputFileState } from '../../lib/output/output-file.js';

const HOURS = 24;
const DAYS = 7;
/** Name of the file with the number of days sampled, beside those of the hours. */
const DAYS_FILE = '24';
const HOUR_KEY = /^(\d{4})-(\d{2})-(\d{2})T(\d{2})/;
const FILE_MODE = 0o640;
const DIRECTORY_MODE = 0o750;

/** Totals of an hour that are not with their file yet. */
type HourTotals = {
  /** A moment of the hour's day, epoch milliseconds. */
  readonly noon: number;
  readonly text: string;
};

/** Where the totals stand; plain data for a checkpoint. The averages are part of the engine's state. */
export type StatisticsFilesState = {
  readonly totals: OutputFileState;
  /** What the disk had not taken. */
  readonly waiting: readonly HourTotals[];
};

/**
 * The files under `stats/`: totals of each hour and averages (rules-and-alerts.md 11.1, 11.2). Totals are collected and
 * written by `flush`, and take part in replay as the outputs do (see `OutputFile`).
 */
export class StatisticsFiles {
  readonly #directory: string;
  readonly #totals: OutputFile;
  #waiting: HourTotals[];
  /** Averages as their files have them, by path: most stay what they are from hour to hour. */
  readonly #saved = new Map<string, number>();

  /**
   * @param directory `{home}/stats`
   * @param from now, or the state of an earlier run, with which replay begins
   * @param onRepair told what was found wrong with a file of totals
   * @throws Error of the file system
   */
  constructor(directory: string, from: Date | StatisticsFilesState, onRepair: (repair: FileRepair) => void = () => {}) {
    this.#directory = directory;
    this.#totals = new OutputFile(
      {
        directory: join(directory, 'totals'),
        liveName: undefined,
        stem: 'ossec-totals',
        extension: 'log',
        recordEnd: '\n',
        maxBytes: 0,
        directoryMode: DIRECTORY_MODE,
        onRepair,
      },
      from instanceof Date ? from : from.totals,
    );
    this.#waiting = from instanceof Date ? [] : [...from.waiting];
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
   * Adds the totals of an hour that ended; `flush` writes them.
   * @param dayCounts events by hour, given with the last hour of a day
   */
  appendTotals(report: HourReport, dayCounts: readonly number[] | undefined): void {
    const [, year = '', month = '', day = '', hour = ''] = HOUR_KEY.exec(report.hourKey) ?? [];
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
    this.#waiting.push({ noon: new Date(Number(year), Number(month) - 1, Number(day), 12).getTime(), text });
  }

  /** @throws the file system's error; what was not written stays for the next flush */
  flush(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      this.#totals.switchDay(new Date(next.noon));
      this.#totals.append(next.text);
      this.#waiting.shift();
    }
    this.#totals.flush();
  }

  /** Where the totals stand with everything added so far. A checkpoint waits for a `sync` begun after it. */
  state(): StatisticsFilesState {
    return { totals: this.#totals.state(), waiting: [...this.#waiting] };
  }

  /** Flushes and waits until all totals are on the disk itself. @throws the file system's error */
  async sync(): Promise<void> {
    this.flush();
    await this.#totals.sync();
  }

  /** Replay has given everything: whole lines beyond stay. Errors as `flush`; call it again then. */
  endReplay(): void {
    this.flush();
    this.#totals.endReplay();
  }

  /** Flushes, syncs and closes. */
  close(options?: CloseOptions): void {
    this.flush();
    this.#totals.close(options);
  }

  #loadTable(directory: string, table: HourTable): void {
    for (let hour = 0; hour < HOURS; hour += 1) table.averages[hour] = this.#loadNumber(join(directory, String(hour)));
    table.days = this.#loadNumber(join(directory, DAYS_FILE));
  }

  #loadNumber(path: string): number {
    const number = readNumber(path);
    if (existsSync(path)) this.#saved.set(path, number);
    return number;
  }

  #saveTable(directory: string, table: HourTable): void {
    mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
    table.averages.forEach((average, hour) => {
      this.#saveNumber(join(directory, String(hour)), average);
    });
    this.#saveNumber(join(directory, DAYS_FILE), table.days);
  }

  #saveNumber(path: string, number: number): void {
    if (this.#saved.get(path) === number) return;
    writeFileAtomically(path, String(number), { mode: FILE_MODE });
    this.#saved.set(path, number);
  }
}

function readNumber(path: string): number {
  if (!existsSync(path)) return 0;
  const text = readFileSync(path, 'latin1').trim();
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
}
