import { setTimeout as sleep } from 'node:timers/promises';
import { ALL_HASHES } from '../checks.js';
import type { FoundEntry } from './entry-outcome.js';
import type { EntryThreads } from './entry-threads.js';
import { type WalkedFiles, type WalkParts, walkTree } from './walk-tree.js';
import type { WatchedDirectory } from './watched-directory.js';

/** Batches under way for each thread: one it works on, and those that wait so that it never does. */
const BATCHES_A_THREAD = 3;
const SECOND_MS = 1000;

/** A file as a scan finds it. */
export type ScannedEntry = FoundEntry & {
  /** Byte string. */
  readonly path: string;
  /** The configured path that decides about it. */
  readonly directory: WatchedDirectory;
  /** Of `ScanParts.ticket`, taken before it was looked at. */
  readonly ticket?: number | undefined;
};

/** What a scan works with. */
export type ScanParts = WalkParts & {
  readonly threads: EntryThreads;
  /** 0: as fast as it goes. */
  readonly maxFilesPerSecond: number;
  /**
   * Stamp of an entry whose content need not be read again while the stamp is the same. Without it every file is read,
   * as the reference does.
   */
  readonly known?: ((path: string) => string | undefined) | undefined;
  /** Asked before files are looked at: the order of their readings among others. */
  readonly ticket?: (() => number) | undefined;
};

/**
 * Walks configured paths and looks at every file (integrity-and-inventory.md 3.2, 3.3), one configured path after the
 * other, each in the order its directories are read in. Entries come in groups as they are done; while the caller works
 * on one, no more than some thousand files are looked at ahead.
 * @param only the configured paths to walk; all by default
 * @param start of a single configured path: where below it the walk begins
 * @throws the reason of `signal` when it is aborted, Error when a thread breaks
 */
export function scanTree(
  parts: ScanParts,
  only: Iterable<WatchedDirectory> = parts.directories,
  start?: string,
): AsyncGenerator<ScannedEntry[], void, undefined> {
  return new TreeScan(parts).run(only, start);
}

/** How many files a scan would look at, without looking at one: for those who show how far it is. */
export async function countTree(parts: Omit<WalkParts, 'onSkipped'>): Promise<number> {
  let files = 0;
  for (const directory of parts.directories) {
    for await (const { paths } of walkTree(parts, directory)) files += paths.length;
  }
  return files;
}

class TreeScan {
  readonly #parts: ScanParts;
  readonly #running: Promise<ScannedEntry[]>[] = [];
  #inSecond = 0;
  #secondEnds = 0;

  constructor(parts: ScanParts) {
    this.#parts = parts;
  }

  async *run(only: Iterable<WatchedDirectory>, start?: string): AsyncGenerator<ScannedEntry[], void, undefined> {
    const { threads, fileSystems, signal } = this.#parts;
    const most = threads.count * BATCHES_A_THREAD;
    const abort = (): void => {
      threads.stop();
    };
    signal?.addEventListener('abort', abort, { once: true });
    fileSystems.forget();
    try {
      for (const directory of only) {
        for await (const batch of walkTree(this.#parts, directory, start)) {
          signal?.throwIfAborted();
          await this.#pace(batch.paths.length);
          const entries = this.#look(batch);
          // What fails while an earlier one is waited for is told when its turn comes.
          entries.catch(() => {});
          this.#running.push(entries);
          if (this.#running.length >= most) yield await this.#oldest();
        }
      }
      while (this.#running.length > 0) yield await this.#oldest();
      signal?.throwIfAborted();
    } finally {
      signal?.removeEventListener('abort', abort);
      await Promise.allSettled(this.#running);
    }
  }

  async #oldest(): Promise<ScannedEntry[]> {
    const entries = (await this.#running.shift()) ?? [];
    this.#parts.signal?.throwIfAborted();
    return entries;
  }

  async #look({ directory, dev, paths }: WalkedFiles): Promise<ScannedEntry[]> {
    const { threads, known, fileSystems } = this.#parts;
    const ticket = this.#parts.ticket?.();
    const outcomes = await threads.read(paths, directory.checks & ALL_HASHES, known && paths.map(known));
    const entries: ScannedEntry[] = [];
    for (const [index, outcome] of outcomes.entries()) {
      const path = paths[index] ?? '';
      if (outcome.kind === 'skipped') {
        this.#parts.onSkipped?.(path, outcome.reason, outcome.code);
      } else if (outcome.dev !== dev && (await fileSystems.skips(path, outcome.dev))) {
        this.#parts.onSkipped?.(path, 'file_system');
      } else {
        entries.push({ ...outcome, path, directory, ticket });
      }
    }
    return entries;
  }

  /** After so many files of a second the rest of it is waited for. */
  async #pace(files: number): Promise<void> {
    const { maxFilesPerSecond: most, signal } = this.#parts;
    if (most <= 0) return;
    const now = performance.now();
    if (this.#secondEnds <= now) {
      this.#secondEnds = now + SECOND_MS;
      this.#inSecond = 0;
    }
    this.#inSecond += files;
    if (this.#inSecond < most) return;
    const wait = (this.#inSecond / most) * SECOND_MS - (SECOND_MS - (this.#secondEnds - now));
    this.#secondEnds = 0;
    await sleep(Math.max(wait, 0), undefined, signal && { signal });
  }
}
