import { mkdirSync, renameSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { compressFile } from '../../lib/files/compress-file.js';
import { LogFile } from '../../lib/log/log-file.js';
import { formatLogTime, sanitiseLogMessage } from '../../lib/log/log-line.js';
import { MONTH_NAMES } from '../../lib/time/local-day.js';
import type { ApiLogLevel, LogSettings } from '../api-settings.js';
import { jsonText } from './json-text.js';

type LineLevel = 'error' | 'warning' | 'info' | 'debug' | 'debug2';

/** A request as it is logged (rest-api.md 1.7). */
export type AccessEntry = {
  readonly user: string;
  readonly address: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly seconds: number;
  readonly status: number;
  /** Of the authorization context, of a login with one and of its tokens. */
  readonly contextHash?: string | undefined;
};

const RANK: Readonly<Record<ApiLogLevel, number>> = {
  disabled: 0,
  error: 1,
  warning: 2,
  info: 3,
  debug: 4,
  debug2: 5,
};
/** The log of the API: `logs/api.log` and `logs/api.json` with their rotation (rest-api.md 1.7). */
export class ApiLog {
  readonly #directory: string;
  readonly #settings: LogSettings;
  readonly #now: () => Date;
  readonly #plain: LogFile | undefined;
  readonly #json: LogFile | undefined;
  readonly #onTrouble: (error: unknown) => void;
  #day: string;
  #compressing: Promise<void> = Promise.resolve();

  /**
   * @param directory `{home}/logs`
   * @param onTrouble told when a rotated file cannot be compressed
   */
  constructor(directory: string, settings: LogSettings, now: () => Date, onTrouble: (error: unknown) => void) {
    this.#directory = directory;
    this.#settings = settings;
    this.#now = now;
    this.#onTrouble = onTrouble;
    const lost = (count: number, reason: string) => `${count} lines of the API log could not be written: ${reason}`;
    const file = (name: string, line: (text: string) => string) =>
      new LogFile(join(directory, name), (count, reason) => line(lost(count, reason)));
    const enabled = settings.level !== 'disabled';
    this.#plain = enabled && settings.plain ? file('api.log', (text) => this.#plainLine('error', text)) : undefined;
    this.#json =
      enabled && settings.json ? file('api.json', (text) => this.#jsonLine('error', 'error', text)) : undefined;
    this.#day = dayOf(now());
  }

  /** Opens the files. @throws the file system's error when they cannot be written */
  open(): void {
    mkdirSync(this.#directory, { recursive: true, mode: 0o770 });
    this.#plain?.open();
    this.#json?.open();
    this.#rotateOldFiles();
  }

  info(text: string): void {
    this.#write('info', 'informative', text);
  }

  warn(text: string): void {
    this.#write('warning', 'informative', text);
  }

  error(text: string): void {
    this.#write('error', 'error', text);
  }

  debug(text: string): void {
    this.#write('debug', 'informative', text);
  }

  /** Whether bodies of `/events` are shown as a count only: at info and above (rest-api.md 1.7). */
  get hidesEvents(): boolean {
    return RANK[this.#settings.level] <= RANK.info;
  }

  access(entry: AccessEntry): void {
    if (!this.#enabled('info')) return;
    this.#rotate();
    const uri = `${entry.method} ${entry.path}`;
    const time = `${entry.seconds.toFixed(3)}s`;
    const { user, address, parameters, body, status, contextHash } = entry;
    const who = contextHash === undefined ? user : `${user} (${contextHash})`;
    this.#plain?.append(
      this.#plainLine(
        'info',
        `${who} ${address} "${uri}" with parameters ${jsonText(parameters, false)} and body ${jsonText(body, false)} ` +
          `done in ${time}: ${status}`,
      ),
    );
    this.#json?.append(
      this.#jsonLine('info', 'request', {
        user,
        ip: address,
        http_method: entry.method,
        uri,
        parameters,
        body,
        time,
        status_code: status,
        ...(contextHash === undefined ? {} : { hash_auth_context: contextHash }),
      }),
    );
  }

  async close(): Promise<void> {
    await this.#compressing;
    this.#plain?.close();
    this.#json?.close();
  }

  #enabled(level: LineLevel): boolean {
    return RANK[level] <= RANK[this.#settings.level];
  }

  #write(level: LineLevel, type: string, text: string): void {
    if (!this.#enabled(level)) return;
    this.#rotate();
    this.#plain?.append(this.#plainLine(level, text));
    this.#json?.append(this.#jsonLine(level, type, text));
  }

  #plainLine(level: LineLevel, text: string): string {
    return `${formatLogTime(this.#now())} ${level.toUpperCase()}: ${sanitiseLogMessage(text)}`;
  }

  #jsonLine(level: LineLevel, type: string, payload: unknown): string {
    const timestamp = formatLogTime(this.#now());
    return JSON.stringify({ timestamp, levelname: level.toUpperCase(), data: { type, payload } });
  }

  /** Files of an earlier day that this process did not see the end of. */
  #rotateOldFiles(): void {
    if (this.#settings.maxSize !== undefined) return;
    for (const file of this.#files()) {
      const stats = statSync(file.path, { throwIfNoEntry: false });
      if (stats !== undefined && stats.size > 0 && dayOf(stats.mtime) !== this.#day) this.#archive(file, stats.mtime);
    }
  }

  /** At midnight, or at the size limit. */
  #rotate(): void {
    const now = this.#now();
    const day = dayOf(now);
    if (this.#settings.maxSize !== undefined) {
      for (const file of this.#files()) {
        const size = statSync(file.path, { throwIfNoEntry: false })?.size ?? 0;
        if (size >= this.#settings.maxSize) this.#archive(file, now);
      }
    } else if (day !== this.#day) {
      const [year, month, date] = this.#day.split('-').map(Number);
      for (const file of this.#files()) this.#archive(file, new Date(year ?? 0, (month ?? 1) - 1, date ?? 1));
    }
    this.#day = day;
  }

  #files(): readonly LogFile[] {
    return [this.#plain, this.#json].filter((file) => file !== undefined);
  }

  /** Moves a file to `api/<YYYY>/<Mon>/` and compresses it there. */
  #archive(file: LogFile, day: Date): void {
    const directory = join(this.#directory, 'api', String(day.getFullYear()), MONTH_NAMES[day.getMonth()] ?? 'Jan');
    try {
      if ((statSync(file.path, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
      mkdirSync(directory, { recursive: true, mode: 0o750 });
      const stem = `${basename(file.path)}-${String(day.getDate()).padStart(2, '0')}`;
      const target = freeName(directory, stem, this.#settings.maxSize !== undefined);
      renameSync(file.path, target);
      this.#compressing = this.#compressing.then(() => compressFile(target, { mode: 0o640 })).catch(this.#onTrouble);
    } catch (error) {
      this.#onTrouble(error);
    }
  }
}

/** By date; by size, or when the name is taken already, with a number. */
function freeName(directory: string, stem: string, numbered: boolean): string {
  const taken = (path: string) =>
    [path, `${path}.gz`].some((name) => statSync(name, { throwIfNoEntry: false }) !== undefined);
  let name = join(directory, numbered ? `${stem}_1` : stem);
  for (let number = 1; taken(name); number += 1) name = join(directory, `${stem}_${number}`);
  return name;
}

function dayOf(time: Date): string {
  return [time.getFullYear(), time.getMonth() + 1, time.getDate()].join('-');
}
