import type { Dirent, Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { bytesOf } from '../byte-order.js';
import { ALL_HASHES } from '../checks.js';
import type { FoundEntry, SkipReason } from './entry-outcome.js';
import type { EntryThreads } from './entry-threads.js';
import type { FileSystems } from './file-systems.js';
import { type OpenDirectory, openDirectory } from './open-directory.js';
import type { IgnoreList } from './path-list.js';
import type { WatchedDirectory } from './watched-directory.js';
import type { WatchedDirectories } from './watched-directories.js';

/** Files that are handed to a thread at a time: more, and what came back would be held longer than it need be. */
const BATCH_FILES = 128;
/** Batches under way for each thread: one it works on, and those that wait so that it never does. */
const BATCHES_A_THREAD = 3;
/** Directories that are open at a time; `recursion_level` ends at 320. */
const MOST_OPEN = 330;
const SECOND_MS = 1000;

/** A file as a scan finds it. */
export type ScannedEntry = FoundEntry & {
  /** Byte string. */
  readonly path: string;
  /** The configured path that decides about it. */
  readonly directory: WatchedDirectory;
};

/** What a scan walks and leaves out. */
export type ScanParts = {
  readonly directories: WatchedDirectories;
  readonly ignore: IgnoreList;
  readonly fileSystems: FileSystems;
  readonly threads: EntryThreads;
  /** 0: as fast as it goes. */
  readonly maxFilesPerSecond: number;
  /**
   * Stamp of an entry whose content need not be read again while the stamp is the same. Without it every file is read,
   * as the reference does.
   */
  readonly known?: ((path: string) => string | undefined) | undefined;
  /** Told of every path that gives no entry. `code` is the system's. */
  readonly onSkipped?: ((path: string, reason: SkipReason, code?: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
};

type Batch = { readonly directory: WatchedDirectory; readonly dev: string; readonly paths: string[] };
type Frame = OpenDirectory & { readonly path: string; readonly depth: number };

/**
 * Walks configured paths and looks at every file (integrity-and-inventory.md 3.2, 3.3), one configured path after the
 * other, each in the order its directories are read in. Entries come in groups as they are done; while the caller works
 * on one, no more than some thousand files are looked at ahead.
 * @param only the configured paths to walk; all by default
 * @throws the reason of `signal` when it is aborted, Error when a thread breaks
 */
export function scanTree(
  parts: ScanParts,
  only: Iterable<WatchedDirectory> = parts.directories,
): AsyncGenerator<ScannedEntry[], void, undefined> {
  return new TreeScan(parts).run(only);
}

class TreeScan {
  readonly #parts: ScanParts;
  readonly #running: Promise<ScannedEntry[]>[] = [];
  #batch: Batch | undefined;
  #inSecond = 0;
  #secondEnds = 0;

  constructor(parts: ScanParts) {
    this.#parts = parts;
  }

  async *run(only: Iterable<WatchedDirectory>): AsyncGenerator<ScannedEntry[], void, undefined> {
    const { threads, fileSystems, signal } = this.#parts;
    const most = threads.count * BATCHES_A_THREAD;
    const abort = (): void => {
      threads.stop();
    };
    signal?.addEventListener('abort', abort, { once: true });
    fileSystems.forget();
    try {
      for (const directory of only) {
        for await (const batch of this.#batches(directory)) {
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

  /** Paths of files below a configured path, in groups for the threads. */
  async *#batches(directory: WatchedDirectory): AsyncGenerator<Batch, void, undefined> {
    const { ignore, signal } = this.#parts;
    const frames: Frame[] = [];
    const root = directory.path;
    if (ignore.ignores(root, true)) {
      this.#skip(root, 'ignored');
      return;
    }
    try {
      const top = await this.#enter(root, -1);
      if (top === 'no_directory') {
        if (directory.restrict?.test(root) === false) this.#skip(root, 'restricted');
        else yield { directory, dev: '', paths: [root] };
      }
      if (typeof top !== 'object') return;
      frames.push(top);
      for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
        signal?.throwIfAborted();
        const entry = await this.#next(frame);
        if (entry === null) {
          frames.pop();
          await close(frame);
          continue;
        }
        const path = frame.path === '/' ? `/${entry.name}` : `${frame.path}/${entry.name}`;
        if (this.#parts.directories.at(path) !== undefined) continue;
        const type = await typeOf(entry, path);
        if (type === 'directory') {
          if (ignore.ignores(path, true)) this.#skip(path, 'ignored');
          else if (frame.depth + 1 >= directory.recursionLevel || frames.length >= MOST_OPEN)
            this.#skip(path, 'too_deep');
          else {
            const below = await this.#enter(path, frame.depth + 1, frame.dev);
            if (typeof below === 'object') frames.push(below);
          }
        } else if (type === 'special') {
          this.#skip(path, 'special');
        } else if (ignore.ignores(path, false)) {
          this.#skip(path, 'ignored');
        } else if (directory.restrict?.test(path) === false) {
          this.#skip(path, 'restricted');
        } else {
          this.#batch ??= { directory, dev: frame.dev, paths: [] };
          this.#batch.paths.push(path);
          if (this.#batch.paths.length >= BATCH_FILES) yield* this.#take();
        }
      }
      yield* this.#take();
    } finally {
      this.#batch = undefined;
      for (const frame of frames) await close(frame);
    }
  }

  *#take(): Generator<Batch, void, undefined> {
    const batch = this.#batch;
    this.#batch = undefined;
    if (batch !== undefined) yield batch;
  }

  /** @param outer device of the directory it is in, whose file system is watched; none for a configured path */
  async #enter(path: string, depth: number, outer?: string): Promise<Frame | 'no_directory' | undefined> {
    let opened: OpenDirectory;
    try {
      opened = await openDirectory(path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (outer === undefined && (code === 'ENOTDIR' || code === 'ELOOP')) return 'no_directory';
      this.#skip(path, code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' ? 'vanished' : 'unreadable', code);
      return undefined;
    }
    if (opened.dev !== outer && (await this.#parts.fileSystems.skips(path, opened.dev))) {
      await close(opened);
      this.#skip(path, 'file_system');
      return undefined;
    }
    return { ...opened, path, depth };
  }

  /** The next name; null at the end, which is also where a directory that is being removed ends. */
  async #next(frame: Frame): Promise<Dirent | null> {
    try {
      return await frame.dir.read();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      this.#skip(frame.path, code === 'ENOENT' ? 'vanished' : 'unreadable', code);
      return null;
    }
  }

  async #look({ directory, dev, paths }: Batch): Promise<ScannedEntry[]> {
    const { threads, known, fileSystems } = this.#parts;
    const outcomes = await threads.read(paths, directory.checks & ALL_HASHES, known && paths.map(known));
    const entries: ScannedEntry[] = [];
    for (const [index, outcome] of outcomes.entries()) {
      const path = paths[index] ?? '';
      if (outcome.kind === 'skipped') this.#skip(path, outcome.reason, outcome.code);
      else if (outcome.dev !== dev && (await fileSystems.skips(path, outcome.dev))) this.#skip(path, 'file_system');
      else entries.push({ ...outcome, path, directory });
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

  #skip(path: string, reason: SkipReason, code?: string): void {
    this.#parts.onSkipped?.(path, reason, code);
  }
}

/** Some file systems do not tell the type of an entry: it is then asked for. */
function typeOf(entry: Dirent, path: string): EntryType | Promise<EntryType> {
  const type = entryType(entry);
  return (
    type ??
    lstat(bytesOf(path)).then(
      (stats) => entryType(stats) ?? 'special',
      () => 'file' as const,
    )
  );
}

type EntryType = 'directory' | 'file' | 'special';

function entryType(entry: Dirent | Stats): EntryType | undefined {
  if (entry.isFile() || entry.isSymbolicLink()) return 'file';
  if (entry.isDirectory()) return 'directory';
  const special = entry.isFIFO() || entry.isSocket() || entry.isCharacterDevice() || entry.isBlockDevice();
  return special ? 'special' : undefined;
}

async function close({ dir }: OpenDirectory): Promise<void> {
  try {
    await dir.close();
  } catch {
    // It is closed by reading on after an error.
  }
}
