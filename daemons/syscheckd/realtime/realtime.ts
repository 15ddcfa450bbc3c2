import { QUEUE_IDS } from '../../../lib/events/queue-ids.js';
import type { EntryThreads } from '../../../lib/fim/scan/entry-threads.js';
import type { ScannedEntry } from '../../../lib/fim/scan/scan-tree.js';
import type { WatchedDirectory } from '../../../lib/fim/scan/watched-directory.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { EventOutbox } from '../store/outbox.js';
import { ChangeLook } from './change-look.js';
import { ChangeQueue } from './change-queue.js';
import type { ChangeRecorder } from './change-recorder.js';
import { DirectoryWalks } from './directory-walks.js';
import { LinkedNames } from './linked-names.js';
import { RealtimeView, type WatchedNow } from './realtime-view.js';
import { Unwatched } from './unwatched.js';
import type { Watcher, WatchOutcome } from './watcher.js';

/** Paths that wait to be looked at at most; with more, everything is looked through. */
const MOST_WAITING = 200_000;
/** Paths kept at most until the baseline of their configured path is there. */
const MOST_HELD = 100_000;
/** Milliseconds between two times that directories without a watch are looked through. */
const UNWATCHED_EVERY_MS = 60_000;
/** Milliseconds between two times that everything is looked through: a flood of changes does not keep it at that. */
const RESCAN_GAP_MS = 5_000;

const OVERFLOW_NOTICE =
  'ossec: Real-time inotify kernel queue is full. Some events may be lost. Next scheduled scan will recover lost data.';

/** What real-time monitoring is made of. */
export type RealtimeParts = {
  readonly watcher: Watcher;
  readonly recorder: ChangeRecorder;
  readonly outbox: EventOutbox;
  /** Threads of its own: those of scans are busy with scans. They are ended by `close`. */
  readonly threads: EntryThreads;
  readonly logger: Logger;
  /** `syscheck.rt_delay`, milliseconds. */
  readonly delay: number;
  /** Whether a configured path has not had its baseline: changes there are looked at after it. */
  readonly silent: (directory: WatchedDirectory) => boolean;
  /** A configured link that is followed, or something on the way to it, may lead elsewhere now. */
  readonly linkChanged?: (() => void) | undefined;
  /** It cannot go on: the store or a thread broke. */
  readonly failed: (error: unknown) => void;
  readonly unwatchedEvery?: number | undefined;
  readonly rescanGap?: number | undefined;
  readonly linkSearchGap?: number | undefined;
};

/** Figures of real-time monitoring. */
export type RealtimeStatus = {
  readonly watches: number;
  /** Directories, or configured paths, that are looked through for want of watches. */
  readonly unwatched: number;
  readonly waiting: number;
  readonly looked: number;
  readonly unreadable: number;
  readonly overflows: number;
  /** Names of files with several, and those that were not kept for want of room. */
  readonly linked: number;
  readonly unlinked: number;
};

/**
 * Notices changes as they happen (integrity-and-inventory.md 3.8). Directories are watched by whoever walks them, before
 * their entries are read (`onDirectory`): by each scan, and here for directories that appear.
 */
export class Realtime {
  readonly #parts: RealtimeParts;
  readonly #look: ChangeLook;
  readonly #queue: ChangeQueue;
  readonly #unwatched: Unwatched;
  readonly #held = new Set<string>();
  readonly #walks: DirectoryWalks;
  readonly #linked: LinkedNames;
  readonly #running = new Set<Promise<void>>();
  #view: RealtimeView | undefined;
  #heldOverflowed = false;
  #overflows = 0;
  #noticeDue = false;
  #rescan: 'no' | 'asked' | 'under_way' | 'again' = 'no';
  #rescanTimer: NodeJS.Timeout | undefined;
  #unwatchedTimer: NodeJS.Timeout | undefined;
  #whodataTold = false;
  #startTold = false;
  #closed = false;

  constructor(parts: RealtimeParts) {
    const { watcher, recorder, threads, logger, silent, delay } = parts;
    this.#parts = parts;
    this.#unwatched = new Unwatched(logger);
    const failed = (error: unknown): void => {
      this.#fail(error);
    };
    this.#linked = new LinkedNames({
      recorder,
      look: (paths) => {
        this.#queue.add(paths);
      },
      failed,
      searchGap: parts.linkSearchGap,
    });
    this.#look = new ChangeLook({
      view: () => this.#current(),
      watcher,
      recorder,
      threads,
      logger,
      silent,
      isUnwatched: (path, { path: root }) => this.#unwatched.has(path, root),
      watched: (path, { path: root }, outcome) => {
        this.#watched(path, root, outcome);
      },
      hold: (path) => {
        this.#hold(path);
      },
      again: (paths) => {
        this.#queue.add(paths);
      },
      enter: (path) => {
        this.#walks.add(path);
      },
      linked: this.#linked,
    });
    this.#walks = new DirectoryWalks((path) => this.#look.examine(path, 'changed'), failed);
    this.#queue = new ChangeQueue({
      delay,
      most: MOST_WAITING,
      look: (paths) => this.#changed(paths),
      overflowed: () => {
        this.#overflowed();
      },
      failed,
      now: () => performance.now(),
    });
    watcher.onChange((paths) => {
      this.#linked.told(paths);
      this.#queue.add(paths);
    });
    watcher.onOverflow(() => {
      this.#overflowed();
    });
    watcher.onFailure(failed);
  }

  get status(): RealtimeStatus {
    return {
      watches: this.#parts.watcher.watches,
      unwatched: this.#unwatched.size,
      waiting: this.#queue.size + this.#walks.size + this.#held.size,
      overflows: this.#overflows,
      ...this.#look.counts,
      ...this.#linked.counts,
    };
  }

  /**
   * Takes over what is watched from now on. What is new in it is not looked at here: a scan with `onDirectory` has to
   * follow.
   */
  async update(now: WatchedNow): Promise<void> {
    const before = this.#view;
    const view = new RealtimeView(now);
    this.#view = view;
    this.#warnOfWhodata(view);
    const gone = [...(before?.roots.keys() ?? [])].filter((root) => !view.roots.has(root));
    if (gone.length > 0) await this.#parts.watcher.unwatch(gone);
    for (const root of gone) {
      this.#unwatched.forget(root);
      // Their watches have ended with it.
      this.#queue.add(view.rootsBelow(root));
      const outer = view.rootOf(root);
      if (outer !== undefined) this.#queue.add([root]);
    }
    for (const directory of before?.names.keys() ?? []) {
      if (!view.names.has(directory)) await this.#parts.watcher.watchNames(directory, []);
    }
    await this.#watchNames(view.names.keys());
  }

  /** For `WalkParts.onDirectory` of every scan. */
  readonly onDirectory = async (path: string, directory: WatchedDirectory): Promise<boolean> => {
    if (this.#closed || this.#view?.roots.has(directory.path) !== true) return true;
    this.#watched(path, directory.path, await this.#parts.watcher.watch(path));
    return true;
  };

  /** A scan has come across files. */
  found(entries: readonly ScannedEntry[]): void {
    for (const entry of entries) {
      if (entry.directory.mode !== 'scheduled') this.#linked.found(entry.path, entry);
    }
  }

  /** A scan has ended, and configured paths may have had their baseline. */
  scanned(): void {
    const held = [...this.#held];
    this.#held.clear();
    this.#queue.add(held);
    if (this.#heldOverflowed) {
      this.#heldOverflowed = false;
      this.#askForRescan();
    }
    if (this.#startTold || (this.#view?.roots.size ?? 0) === 0) return;
    this.#startTold = true;
    this.#parts.logger.info('(6012): Real-time file integrity monitoring started.');
  }

  /** Resolves when nothing that is known of has yet to be looked at, what is held back apart. */
  async idle(): Promise<void> {
    while (this.#queue.size > 0 || this.#walks.size > 0 || this.#running.size > 0) {
      await this.#queue.idle();
      await this.#walks.idle();
      await Promise.all(this.#running);
    }
  }

  /** Ends it, its threads and its watches. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#rescanTimer);
    clearTimeout(this.#unwatchedTimer);
    this.#parts.threads.stop();
    await this.#queue.close();
    await this.#walks.close();
    await this.#linked.close();
    await Promise.all(this.#running);
    await Promise.all([this.#parts.threads.close(), this.#parts.watcher.close()]);
  }

  #current(): RealtimeView {
    if (this.#view === undefined) throw new Error('Nothing is watched yet');
    return this.#view;
  }

  async #changed(paths: readonly string[]): Promise<void> {
    if (this.#view === undefined || this.#closed) return;
    const view = this.#view;
    for (const path of paths) {
      if (view.leadsToLink(path)) this.#parts.linkChanged?.();
      const roots = view.rootsBelow(path);
      const above = view.names.has(path);
      if (above) await this.#watchNames([...view.names.keys()].filter((name) => isAtOrBelow(name, path)));
      if (above || roots.length > 0) this.#queue.add(roots);
    }
    await this.#look.look(paths);
  }

  async #watchNames(directories: Iterable<string>): Promise<void> {
    const view = this.#current();
    for (const directory of directories) {
      // One that is missing is told of by the one above it when it comes.
      await this.#parts.watcher.watchNames(directory, view.names.get(directory) ?? []);
    }
  }

  #watched(path: string, root: string, outcome: WatchOutcome): void {
    this.#unwatched.note(path, root, outcome);
    this.#comeBackToUnwatched();
  }

  #comeBackToUnwatched(): void {
    if (this.#unwatched.size === 0 || this.#unwatchedTimer !== undefined || this.#closed) return;
    const every = this.#parts.unwatchedEvery ?? UNWATCHED_EVERY_MS;
    this.#unwatchedTimer = setTimeout(() => {
      this.#run(this.#lookThroughUnwatched(every));
    }, every);
  }

  async #lookThroughUnwatched(every: number): Promise<void> {
    const entered = new Set<string>();
    for (const { path, whole } of this.#unwatched.all()) {
      if (this.#closed) return;
      const root = this.#current().rootOf(path);
      // A scan is on its way there.
      if (entered.has(path) || (root !== undefined && this.#parts.silent(root))) continue;
      // It is noted again when there is still no watch for it.
      this.#unwatched.forget(path);
      await this.#look.examine(path, whole ? 'lost' : 'unwatched', entered);
    }
    this.#unwatchedTimer = undefined;
    this.#unwatched.report(Math.round(every / 1000));
    this.#comeBackToUnwatched();
  }

  #hold(path: string): void {
    if (this.#held.size < MOST_HELD) {
      this.#held.add(path);
    } else {
      this.#held.clear();
      this.#heldOverflowed = true;
    }
  }

  #overflowed(): void {
    this.#overflows += 1;
    this.#noticeDue = true;
    this.#askForRescan();
  }

  #askForRescan(): void {
    if (this.#rescan === 'under_way') this.#rescan = 'again';
    if (this.#rescan !== 'no' || this.#closed) return;
    this.#rescan = 'asked';
    this.#run(this.#rescanAll());
  }

  async #rescanAll(): Promise<void> {
    const { logger, outbox, rescanGap = RESCAN_GAP_MS } = this.#parts;
    if (this.#noticeDue) {
      this.#noticeDue = false;
      logger.warn(OVERFLOW_NOTICE);
      await outbox.put([{ queue: QUEUE_IDS.log, location: 'syscheck', message: Buffer.from(OVERFLOW_NOTICE) }]);
    }
    this.#rescan = 'under_way';
    for (const root of this.#view?.roots.values() ?? []) {
      if (this.#closed) return;
      if (this.#parts.silent(root)) this.#heldOverflowed = true;
      else await this.#look.examine(root.path, 'lost');
    }
    this.#rescanTimer = setTimeout(() => {
      const again = this.#rescan === 'again';
      this.#rescan = 'no';
      if (again) this.#askForRescan();
    }, rescanGap);
  }

  #warnOfWhodata(view: RealtimeView): void {
    if (this.#whodataTold || ![...view.roots.values()].some(({ mode }) => mode === 'whodata')) return;
    this.#whodataTold = true;
    this.#parts.logger.warn('(6913): Who-data engine could not start. Switching who-data to real-time.');
  }

  #run(work: Promise<void>): void {
    const running = work
      .catch((error: unknown) => {
        this.#fail(error);
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  #fail(error: unknown): void {
    if (!this.#closed) this.#parts.failed(error);
  }
}

function isAtOrBelow(path: string, directory: string): boolean {
  return directory === '/' || path === directory || path.startsWith(`${directory}/`);
}
