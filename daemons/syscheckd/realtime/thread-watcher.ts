import { readFileSync } from 'node:fs';
import { Thread, ThreadEndedError } from '../../../lib/thread/thread.js';
import type { CallInput } from '../../../lib/thread/thread-contract.js';
import type { Watcher, WatchOutcome } from './watcher.js';

const MOST_QUEUED = '/proc/sys/fs/inotify/max_queued_events';
/** What the kernel has where it does not say. */
const USUAL_MOST_QUEUED = 16_384;
/** Memory for what lives shortly, megabytes. */
const YOUNG_MEGABYTES = 4;

/** What the thread knows at the moment: the watches there are. */
type Counted = { readonly watches: number };

/** A thread that watches directories (watch-thread.ts). */
export type WatchThread = {
  readonly data: {
    /** Events within one turn of its loop from which on it counts as an overflow. */
    readonly overflowAt: number;
  };
  readonly calls: {
    readonly watch: (order: {
      readonly path: string;
      readonly names?: readonly string[];
    }) => Counted & { readonly outcome: WatchOutcome };
    readonly unwatch: (paths: readonly string[]) => Counted & { readonly ended: string[] };
  };
  /** Changed paths since the last group that was taken. */
  readonly news: Counted & { readonly paths: readonly string[]; readonly overflowed: boolean };
};

const TITLE = 'The thread that watches directories';

/** Watches directories in a thread of its own, which begins with the first of them. */
export class ThreadWatcher implements Watcher {
  readonly #overflowAt: number;
  #thread: Thread<WatchThread> | undefined;
  #isClosed = false;
  #watches = 0;
  #changed: (paths: readonly string[]) => void = () => {};
  #overflowed: () => void = () => {};
  #failed: (error: Error) => void = () => {};

  /**
   * @param overflowAt events that come at once from which on some may be lost; by default half of what the kernel keeps,
   * for some that it counts are not told
   */
  constructor(overflowAt: number = Math.ceil(mostQueued() / 2)) {
    this.#overflowAt = overflowAt;
  }

  get watches(): number {
    return this.#watches;
  }

  watch(path: string): Promise<WatchOutcome> {
    return this.#watch({ path });
  }

  watchNames(path: string, names: readonly string[]): Promise<WatchOutcome> {
    return this.#watch({ path, names });
  }

  async unwatch(paths: readonly string[]): Promise<string[]> {
    const { ended, watches } = await this.#running().call('unwatch', paths);
    this.#watches = watches;
    return ended;
  }

  onChange(listener: (paths: readonly string[]) => void): void {
    this.#changed = listener;
  }

  onOverflow(listener: () => void): void {
    this.#overflowed = listener;
  }

  onFailure(listener: (error: Error) => void): void {
    this.#failed = listener;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#thread?.close();
  }

  async #watch(order: CallInput<WatchThread, 'watch'>): Promise<WatchOutcome> {
    const { outcome, watches } = await this.#running().call('watch', order);
    this.#watches = watches;
    return outcome;
  }

  /** @throws ThreadEndedError when it was closed */
  #running(): Thread<WatchThread> {
    if (this.#isClosed) throw new ThreadEndedError(TITLE);
    return (this.#thread ??= this.#begin());
  }

  #begin(): Thread<WatchThread> {
    return new Thread(new URL('./watch-thread.js', import.meta.url), {
      title: TITLE,
      data: { overflowAt: this.#overflowAt },
      memory: { young: YOUNG_MEGABYTES },
      onNews: ({ watches, paths, overflowed }) => {
        this.#watches = watches;
        if (paths.length > 0) this.#changed(paths);
        if (overflowed) this.#overflowed();
      },
      onFailure: (error) => {
        this.#failed(error);
      },
    });
  }
}

function mostQueued(): number {
  try {
    const most = Number(readFileSync(MOST_QUEUED, 'latin1'));
    return Number.isInteger(most) && most > 0 ? most : USUAL_MOST_QUEUED;
  } catch {
    return USUAL_MOST_QUEUED;
  }
}
