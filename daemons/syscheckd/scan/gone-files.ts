import { lstat } from 'node:fs/promises';
import { bytesOf } from '../../../lib/fim/byte-order.js';
import { ALL_HASHES } from '../../../lib/fim/checks.js';
import type { EntryThreads } from '../../../lib/fim/scan/entry-threads.js';
import type { ScanSettings } from '../../../lib/fim/scan/scan-settings.js';
import type { ScannedEntry } from '../../../lib/fim/scan/scan-tree.js';
import type { WatchedDirectories } from '../../../lib/fim/scan/watched-directories.js';
import type { WatchedDirectory } from '../../../lib/fim/scan/watched-directory.js';
import type { Recorder } from '../record/recorder.js';
import type { FileRow } from '../store/file-row.js';
import { directoriesAbove } from './directories-above.js';

/** Directories whose kind is remembered while the files of a scan are gone through. */
const MOST_KNOWN = 10_000;

/** What became of files that a walk has not come across. */
export type GoneFiles = {
  /** They are not there any more. */
  readonly gone: FileRow[];
  /** The configuration does not name them any more, or leaves them out now. */
  readonly unwatched: FileRow[];
  /** They are there: they were not when the walk came by. */
  readonly found: ScannedEntry[];
};

type GoneFileJudgeParts = {
  readonly directories: WatchedDirectories;
  readonly scan: Pick<ScanSettings, 'ignore' | 'fileSystems'>;
  readonly threads: EntryThreads;
  readonly recorder: Pick<Recorder, 'known' | 'ticket'>;
};

/**
 * Tells what has become of files that a walk has not come across (integrity-and-inventory.md 3.2, step 6). Only what is
 * really gone is news: what the configuration names no more goes silently, but for what a wildcard named, whose directory
 * is gone (2.5).
 */
export class GoneFileJudge {
  readonly #parts: GoneFileJudgeParts;
  /** Whether paths are directories that a walk enters. */
  readonly #entered = new Map<string, Promise<boolean>>();

  constructor(parts: GoneFileJudgeParts) {
    this.#parts = parts;
  }

  /** @throws the reason of `signal` when it is aborted, Error when a thread breaks */
  async judge(rows: readonly FileRow[], signal: AbortSignal): Promise<GoneFiles> {
    const { directories } = this.#parts;
    const result: GoneFiles = { gone: [], unwatched: [], found: [] };
    const byDirectory = new Map<WatchedDirectory, FileRow[]>();
    for (const row of rows) {
      const directory = directories.decides(row.path);
      if (directory === undefined) {
        (directories.isBelowWildcard(row.path) ? result.gone : result.unwatched).push(row);
      } else if (this.#isLeftOut(row.path, directory)) {
        result.unwatched.push(row);
      } else {
        const group = byDirectory.get(directory);
        if (group === undefined) byDirectory.set(directory, [row]);
        else group.push(row);
      }
    }
    for (const [directory, group] of byDirectory) await this.#look(directory, group, result, signal);
    return result;
  }

  #isLeftOut(path: string, directory: WatchedDirectory): boolean {
    const { ignore } = this.#parts.scan;
    if (ignore.ignores(path, false) || directory.restrict?.test(path) === false) return true;
    const above = directoriesAbove(path, directory.path);
    return above.length - 1 > directory.recursionLevel || above.some((each) => ignore.ignores(each, true));
  }

  async #look(directory: WatchedDirectory, rows: FileRow[], result: GoneFiles, signal: AbortSignal): Promise<void> {
    const { threads, recorder, scan } = this.#parts;
    const ticket = recorder.ticket();
    const paths = rows.map(({ path }) => path);
    const outcomes = await threads.read(
      paths,
      directory.checks & ALL_HASHES,
      paths.map((path) => recorder.known(path)),
    );
    for (const [at, row] of rows.entries()) {
      const outcome = outcomes[at];
      if (outcome?.kind === 'skipped' && outcome.reason === 'stopped') signal.throwIfAborted();
      const isThere =
        outcome !== undefined &&
        outcome.kind !== 'skipped' &&
        (await this.#isEntered(row.path, directory)) &&
        !(await scan.fileSystems.skips(row.path, outcome.dev));
      if (isThere) result.found.push({ ...outcome, path: row.path, directory, ticket });
      else result.gone.push(row);
    }
  }

  /** Whether a walk gets to a path: a file behind a link in the place of a directory is not where it was. */
  async #isEntered(path: string, { path: root }: WatchedDirectory): Promise<boolean> {
    for (const above of directoriesAbove(path, root)) {
      let entered = this.#entered.get(above);
      if (entered === undefined) {
        if (this.#entered.size >= MOST_KNOWN) this.#entered.clear();
        entered = isDirectory(above);
        this.#entered.set(above, entered);
      }
      if (!(await entered)) return false;
    }
    return true;
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await lstat(bytesOf(path))).isDirectory();
  } catch {
    return false;
  }
}
