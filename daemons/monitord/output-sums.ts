import { createHash } from 'node:crypto';
import { createReadStream, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { compressFile } from '../../lib/files/compress-file.js';
import { writeFileAtomically } from '../../lib/files/write-file-atomically.js';
import type { Home } from '../../lib/home/home.js';
import { previousDay, twoDigits } from '../../lib/rotation/calendar-day.js';
import { datedDirectory, type LocalDay } from '../../lib/time/local-day.js';
import { isLive } from './is-live.js';

/** One kind of output of svc-analysisd. */
type Series = { readonly directory: string; readonly stem: string; readonly extension: string; readonly live: string };

/** The five series that get daily sums (daemons-and-config.md 4.3). */
const SERIES: readonly Series[] = [
  { directory: 'alerts', stem: 'ossec-alerts', extension: 'log', live: 'alerts.log' },
  { directory: 'alerts', stem: 'ossec-alerts', extension: 'json', live: 'alerts.json' },
  { directory: 'archives', stem: 'ossec-archive', extension: 'log', live: 'archives.log' },
  { directory: 'archives', stem: 'ossec-archive', extension: 'json', live: 'archives.json' },
  { directory: 'firewall', stem: 'ossec-firewall', extension: 'log', live: 'firewall.log' },
];

const ALGORITHMS = [
  { name: 'MD5', label: 'MD5 ', algorithm: 'md5' },
  { name: 'SHA1', label: 'SHA1', algorithm: 'sha1' },
  { name: 'SHA256', label: 'SHA256', algorithm: 'sha256' },
] as const;

const DIRECTORY_MODE = 0o750;
const FILE_MODE = 0o640;

/** What one round did. */
export type SumsResult = {
  /** Sum files written, relative to the home. */
  readonly written: readonly string[];
  /** Series that svc-analysisd still writes to, relative paths: to be done later. */
  readonly postponed: readonly string[];
};

/** Writes the sum files of a day that is over, chained to the day before, and compresses its outputs. */
export class OutputSums {
  readonly #home: Home;
  readonly #signal: AbortSignal;

  /** @param signal gives up between two reads; what is done stays, the rest is done at the next start */
  constructor(home: Home, signal: AbortSignal) {
    this.#home = home;
    this.#signal = signal;
  }

  /**
   * Signs and compresses a day.
   * @param onlyMissing leaves out series that have their sum or no files of that day: for days passed by
   * @throws Error of the file system
   */
  async closeDay(day: LocalDay, compress: boolean, onlyMissing = false): Promise<SumsResult> {
    const written: string[] = [];
    const postponed: string[] = [];
    for (const series of SERIES) {
      const base = this.#base(series, day);
      const sum = `${base}.${series.extension}.sum`;
      const parts = this.#parts(series, day);
      const signed = this.#exists(sum);
      if (onlyMissing && parts.length === 0) {
        continue;
      }
      if (parts.some((part) => isLive(this.#home.path('logs', series.directory, series.live), this.#home.path(part)))) {
        postponed.push(`${base}.${series.extension}`);
        continue;
      }
      // A sum that is there stays: once files are compressed it could not be made again.
      if (!signed) {
        await this.#sign(series, day, parts);
        written.push(sum);
      }
      if (compress) {
        for (const part of parts) {
          await compressFile(this.#home.path(part), { signal: this.#signal });
        }
      }
    }
    return { written, postponed };
  }

  async #sign(series: Series, day: LocalDay, parts: readonly string[]): Promise<void> {
    const base = this.#base(series, day);
    const previous = `${this.#base(series, previousDay(day))}.${series.extension}.sum`;
    const current = await this.#hashes(parts);
    const chained = await this.#hashes(this.#exists(previous) ? [previous] : []);
    const text = `Current checksum:\n${lines(base, current)}\nChained checksum:\n${lines(previous, chained)}\n`;
    mkdirSync(this.#home.path('logs', series.directory, datedDirectory(day)), {
      recursive: true,
      mode: DIRECTORY_MODE,
    });
    writeFileAtomically(this.#home.path(`${base}.${series.extension}.sum`), text, { mode: FILE_MODE, durable: true });
  }

  /** Digests of the files one after the other, by algorithm; undefined without files. */
  async #hashes(paths: readonly string[]): Promise<ReadonlyMap<string, string> | undefined> {
    if (paths.length === 0) {
      return undefined;
    }
    const hashes = ALGORITHMS.map(({ name, algorithm }) => ({ name, hash: createHash(algorithm) }));
    for (const path of paths) {
      for await (const chunk of createReadStream(this.#home.path(path), {
        highWaterMark: 1 << 20,
        signal: this.#signal,
      })) {
        for (const { hash } of hashes) hash.update(chunk as Buffer);
      }
    }
    return new Map(hashes.map(({ name, hash }) => [name, hash.digest('hex')]));
  }

  /** Uncompressed files of the day in order of writing: the base, then `-001`, `-002`, ... */
  #parts(series: Series, day: LocalDay): string[] {
    const directory = join('logs', series.directory, datedDirectory(day));
    if (lstatSync(this.#home.path(directory), { throwIfNoEntry: false })?.isDirectory() !== true) {
      return [];
    }
    const pattern = new RegExp(`^${series.stem}-${twoDigits(day)}(-\\d{3})?\\.${series.extension}$`);
    return readdirSync(this.#home.path(directory), { withFileTypes: true })
      .filter((entry) => entry.isFile() && pattern.test(entry.name))
      .map((entry) => ({ path: join(directory, entry.name), part: pattern.exec(entry.name)?.[1] ?? '' }))
      .sort((a, b) => (a.part < b.part ? -1 : 1))
      .map(({ path }) => path);
  }

  /** Relative to the home and without extension, as the sum text shows it. */
  #base(series: Series, day: LocalDay): string {
    return `logs/${series.directory}/${datedDirectory(day)}/${series.stem}-${twoDigits(day)}`;
  }

  #exists(path: string): boolean {
    return lstatSync(this.#home.path(path), { throwIfNoEntry: false }) !== undefined;
  }
}

function lines(path: string, hashes: ReadonlyMap<string, string> | undefined): string {
  return ALGORITHMS.map(({ name, label }) => `${label} (${path}) = ${hashes?.get(name) ?? 'none'}\n`).join('');
}
