import { closeSync, fstatSync, type FSWatcher, watch } from 'node:fs';
import { openRealDirectory } from '../../../lib/files/open-real-directory.js';
import { bytesOf } from '../../../lib/fim/byte-order.js';
import type { WatchOutcome } from './watcher.js';

/** The name under which a directory tells what concerns itself. Node calls changes of its rights or times a rename, too. */
const ITSELF = '.';
/** Watches that are ended at a time: the kernel tells of each end, and its queue for that is the one of the changes. */
const ENDED_AT_A_TIME = 512;

/** Who hears what the watches tell. */
export type WatchTreeListener = {
  /** @param path byte string */
  changed(path: string): void;
  /** So much came from the kernel, whether or not anybody wants to know of it. */
  counted(events: number): void;
};

type Watch = {
  readonly watcher: FSWatcher;
  /** undefined: it may have been moved. */
  identity: string | undefined;
};
type Directory = {
  readonly name: string;
  readonly parent: Directory | undefined;
  below: Map<string, Directory> | undefined;
  watch: Watch | undefined;
};
type NamedWatch = { watch: Watch | undefined; names: ReadonlySet<string> };

/**
 * Watches of directories over `fs.watch`, one each. What makes it more than a map:
 * - a watch belongs to a directory, not to its path: it goes along when the directory is moved, and is dead when the
 *   directory is removed, without a word for the path. So a watch that is asked for again is made again, before the old
 *   one ends; on the same directory both are one to the kernel, and nothing is missed between them;
 * - one that was moved, perhaps away and back, is as good as another: what was looked at below it meanwhile was not there,
 *   and no watch below it says so;
 * - directories are told apart by device, inode and time of birth: an inode is given again at once on some file systems;
 * - a directory is watched through its descriptor as `/proc/self/fd/N/.`, so that no link is followed that was put in
 *   its place, and what concerns itself comes under the name `.`, which none of its entries can have.
 */
export class WatchTree {
  readonly #listener: WatchTreeListener;
  readonly #root: Directory = { name: '', parent: undefined, below: undefined, watch: undefined };
  readonly #named = new Map<string, NamedWatch>();
  readonly #ending: FSWatcher[] = [];
  #watches = 0;

  constructor(listener: WatchTreeListener) {
    this.#listener = listener;
  }

  /** Directories with a watch. */
  get watches(): number {
    return this.#watches;
  }

  /** As `Watcher.watch`. */
  watch(path: string): WatchOutcome {
    const directory = this.#find(path, true);
    if (directory === undefined) return 'failed';
    const made = this.#make(
      path,
      (name, isRename) => {
        // Nobody wants to know what comes between its end and its being ended.
        if (directory.watch === undefined) return;
        if (isRename && name === ITSELF) directory.watch.identity = undefined;
        this.#tell(pathOf(directory), name);
      },
      () => {
        // Without its watch it is looked at, and the watch is asked for again.
        this.unwatch(path);
        this.#listener.changed(path);
      },
    );
    if (typeof made === 'string') {
      if (made === 'vanished') this.unwatch(path);
      return made;
    }
    const before = directory.watch;
    directory.watch = made;
    if (before === undefined) return 'fresh';
    this.#end(before);
    if (before.identity === made.identity) return 'watching';
    // What is watched below is the old directory's.
    for (const other of directory.below?.values() ?? []) this.#endAll(other);
    directory.below = undefined;
    return 'exchanged';
  }

  /** As `Watcher.watchNames`. */
  watchNames(path: string, names: readonly string[]): WatchOutcome {
    const before = this.#named.get(path);
    if (names.length === 0) {
      this.#named.delete(path);
      if (before?.watch !== undefined) this.#end(before.watch);
      return 'watching';
    }
    const named: NamedWatch = { watch: undefined, names: new Set(names) };
    const made = this.#make(
      path,
      (name, isRename) => {
        if (isRename && name === ITSELF) this.#movedAbove(path);
        if (name === ITSELF || named.names.has(name)) this.#tell(path, name);
      },
      () => {
        this.#listener.changed(path);
      },
    );
    if (before?.watch !== undefined) this.#end(before.watch);
    if (typeof made === 'string') {
      this.#named.delete(path);
      return made;
    }
    named.watch = made;
    this.#named.set(path, named);
    const known = before?.watch?.identity === made.identity && names.every((name) => before?.names.has(name));
    return known ? 'watching' : 'fresh';
  }

  /** As `Watcher.unwatch`, for one. */
  unwatch(path: string): boolean {
    const directory = this.#find(path, false);
    if (directory === undefined) return false;
    const known = directory.watch !== undefined || directory.below !== undefined;
    this.#endAll(directory);
    directory.below = undefined;
    // Places above that hold nothing any more go with it.
    for (let at = directory; at.parent !== undefined && at.watch === undefined && at.below === undefined;) {
      const { parent } = at;
      if (parent.below?.get(at.name) === at) parent.below.delete(at.name);
      if (parent.below?.size === 0) parent.below = undefined;
      at = parent;
    }
    return known;
  }

  /** A directory was moved with all that is watched below it. */
  #movedAbove(path: string): void {
    const top = this.#find(path, false);
    const waiting = top === undefined ? [] : [top];
    for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
      if (directory.watch !== undefined) directory.watch.identity = undefined;
      else for (const other of directory.below?.values() ?? []) waiting.push(other);
    }
  }

  #tell(directory: string, name: string): void {
    this.#listener.changed(name === ITSELF ? directory : directory === '/' ? `/${name}` : `${directory}/${name}`);
  }

  #make(path: string, tell: (name: string, isRename: boolean) => void, broke: () => void): Watch | WatchOutcome {
    let descriptor: number | undefined;
    try {
      descriptor = openRealDirectory(bytesOf(path));
      const { dev, ino, birthtimeNs } = fstatSync(descriptor, { bigint: true });
      const watcher = watch(`/proc/self/fd/${descriptor}/.`, { encoding: 'buffer' });
      this.#watches += 1;
      watcher.on('change', (type, name) => {
        this.#listener.counted(1);
        tell(typeof name === 'string' ? name : (name?.toString('latin1') ?? ITSELF), type === 'rename');
      });
      watcher.on('error', broke);
      return { watcher, identity: `${dev}:${ino}:${birthtimeNs}` };
    } catch (error) {
      return outcomeOf(error);
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
    }
  }

  /** Ends one of which another takes the place. */
  #end({ watcher }: Watch): void {
    this.#watches -= 1;
    watcher.close();
  }

  /** Ends the watches of a directory and of all below, soon. */
  #endAll(top: Directory): void {
    const waiting = [top];
    for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
      if (directory.watch !== undefined) {
        this.#watches -= 1;
        if (this.#ending.push(directory.watch.watcher) === 1) setImmediate(this.#endSome);
        directory.watch = undefined;
      }
      for (const other of directory.below?.values() ?? []) waiting.push(other);
    }
  }

  readonly #endSome = (): void => {
    const some = this.#ending.splice(0, ENDED_AT_A_TIME);
    for (const watcher of some) watcher.close();
    this.#listener.counted(some.length);
    if (this.#ending.length > 0) setImmediate(this.#endSome);
  };

  #find(path: string, make: boolean): Directory | undefined {
    if (!path.startsWith('/')) return undefined;
    let at = this.#root;
    for (const name of path.split('/')) {
      if (name === '') continue;
      let next = at.below?.get(name);
      if (next === undefined) {
        if (!make) return undefined;
        next = { name, parent: at, below: undefined, watch: undefined };
        at.below ??= new Map();
        at.below.set(name, next);
      }
      at = next;
    }
    return at;
  }
}

function pathOf(directory: Directory): string {
  let path = '';
  for (let at = directory; at.parent !== undefined; at = at.parent) path = `/${at.name}${path}`;
  return path === '' ? '/' : path;
}

function outcomeOf(error: unknown): WatchOutcome {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOSPC':
    case 'EMFILE':
    case 'ENFILE':
    case 'ENOMEM':
      return 'limit';
    case 'ENOENT':
    case 'ENOTDIR':
    case 'ELOOP':
      return 'vanished';
    case undefined:
      throw error;
    default:
      return 'failed';
  }
}
