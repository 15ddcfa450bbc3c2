import type { Dirent, Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { bytesOf } from '../byte-order.js';
import type { SkipReason } from './entry-outcome.js';
import type { FileSystems } from './file-systems.js';
import { type OpenDirectory, openDirectory } from './open-directory.js';
import type { IgnoreList } from './path-list.js';
import type { WatchedDirectories } from './watched-directories.js';
import type { WatchedDirectory } from './watched-directory.js';

/** Files that are handed on at a time: more, and what is found of them would be held longer than it need be. */
const MOST_FILES = 128;
/** Directories that are open at a time; `recursion_level` ends at 320. */
const MOST_OPEN = 330;

/** What a walk goes through and leaves out. */
export type WalkParts = {
  readonly directories: WatchedDirectories;
  readonly ignore: IgnoreList;
  readonly fileSystems: FileSystems;
  /** Told of every path that gives no entry. `code` is the system's. */
  readonly onSkipped?: ((path: string, reason: SkipReason, code?: string) => void) | undefined;
  /**
   * Asked of every directory that is on a watched file system, before its entries are read: who has it watched then
   * misses nothing. False: it is left out.
   */
  readonly onDirectory?: ((path: string, directory: WatchedDirectory) => Promise<boolean>) | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** Files of one device below a configured path: byte strings. */
export type WalkedFiles = { readonly directory: WatchedDirectory; readonly dev: string; readonly paths: string[] };

type Frame = OpenDirectory & { readonly path: string; readonly depth: number };

/**
 * Walks a configured path (integrity-and-inventory.md 3.3), in the order its directories are read in, and gives the files
 * and links that are watched in groups. A sub-directory with options of its own is left to its own walk.
 * @param start where it begins: the configured path, or one below for which it decides
 * @throws the reason of `signal` when it is aborted
 */
export function walkTree(
  parts: WalkParts,
  directory: WatchedDirectory,
  start: string = directory.path,
): AsyncGenerator<WalkedFiles, void, undefined> {
  return new TreeWalk(parts).run(directory, start);
}

/**
 * How deep a path lies (3.3): -1 the configured path itself, 0 what is directly inside. A directory as deep as
 * `recursion_level` is not entered.
 * @param path the configured path or one below it
 */
export function depthBelow(configured: string, path: string): number {
  let depth = -1;
  for (let at = configured === '/' ? 0 : configured.length; at < path.length; at += 1) {
    if (path[at] === '/' && at + 1 < path.length) depth += 1;
  }
  return depth;
}

class TreeWalk {
  readonly #parts: WalkParts;
  #batch: WalkedFiles | undefined;

  constructor(parts: WalkParts) {
    this.#parts = parts;
  }

  async *run(directory: WatchedDirectory, root: string): AsyncGenerator<WalkedFiles, void, undefined> {
    const { ignore, signal } = this.#parts;
    const frames: Frame[] = [];
    const depth = depthBelow(directory.path, root);
    if (depth >= 0 && depth >= directory.recursionLevel) {
      this.#skip(root, 'too_deep');
      return;
    }
    if (ignore.ignores(root, true)) {
      this.#skip(root, 'ignored');
      return;
    }
    try {
      const top = await this.#enter(directory, root, depth);
      if (top === 'no_directory') {
        if (ignore.ignores(root, false)) this.#skip(root, 'ignored');
        else if (directory.restrict?.test(root) === false) this.#skip(root, 'restricted');
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
          if (ignore.ignores(path, true)) {
            this.#skip(path, 'ignored');
          } else if (frame.depth + 1 >= directory.recursionLevel || frames.length >= MOST_OPEN) {
            this.#skip(path, 'too_deep');
          } else {
            const below = await this.#enter(directory, path, frame.depth + 1, frame.dev);
            if (typeof below === 'object') frames.push(below);
          }
        } else if (type === 'special') {
          this.#skip(path, 'special');
        } else if (ignore.ignores(path, false)) {
          this.#skip(path, 'ignored');
        } else if (directory.restrict?.test(path) === false) {
          this.#skip(path, 'restricted');
        } else {
          if (this.#batch !== undefined && this.#batch.dev !== frame.dev) yield* this.#take();
          this.#batch ??= { directory, dev: frame.dev, paths: [] };
          this.#batch.paths.push(path);
          if (this.#batch.paths.length >= MOST_FILES) yield* this.#take();
        }
      }
      yield* this.#take();
    } finally {
      this.#batch = undefined;
      for (const frame of frames) await close(frame);
    }
  }

  *#take(): Generator<WalkedFiles, void, undefined> {
    const batch = this.#batch;
    this.#batch = undefined;
    if (batch !== undefined) yield batch;
  }

  /** @param outer device of the directory it is in, whose file system is watched; none for a configured path */
  async #enter(
    directory: WatchedDirectory,
    path: string,
    depth: number,
    outer?: string,
  ): Promise<Frame | 'no_directory' | undefined> {
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
    try {
      if ((await this.#parts.onDirectory?.(path, directory)) === false) {
        await close(opened);
        return undefined;
      }
    } catch (error) {
      await close(opened);
      throw error;
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
