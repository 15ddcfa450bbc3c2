import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { Watcher, WatchOutcome } from './watcher.js';

const MOST_QUEUED = '/proc/sys/fs/inotify/max_queued_events';
/** What the kernel has where it does not say. */
const USUAL_MOST_QUEUED = 16_384;
/** Memory for what lives shortly, megabytes. */
const YOUNG_MEGABYTES = 4;

/** What the thread is started with. */
export type WatchThreadData = {
  /** Events within one turn of its loop from which on it counts as an overflow. */
  readonly overflowAt: number;
};

/** To the thread. */
export type WatchOrder =
  | { readonly kind: 'watch'; readonly id: number; readonly path: string; readonly names?: readonly string[] }
  | { readonly kind: 'unwatch'; readonly id: number; readonly paths: readonly string[] }
  /** The daemon has the last group of paths. */
  | { readonly kind: 'taken' };

/** From the thread: what came of an order, or a group of paths. */
export type WatchNews = { readonly watches: number } & (
  | { readonly id: number; readonly outcome: WatchOutcome }
  | { readonly id: number; readonly ended: string[] }
  | { readonly paths: readonly string[]; readonly overflowed: boolean }
);

type Answer = WatchOutcome | string[];
type Waiting = { readonly resolve: (answer: Answer) => void; readonly reject: (error: Error) => void };

/** Watches directories in a thread of its own (watch-thread.ts). */
export class ThreadWatcher implements Watcher {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #watches = 0;
  #failure: Error | undefined;
  #closing = false;
  #changed: (paths: readonly string[]) => void = () => {};
  #overflowed: () => void = () => {};
  #failed: (error: Error) => void = () => {};

  /**
   * @param overflowAt events that come at once from which on some may be lost; by default half of what the kernel keeps,
   * for some that it counts are not told
   */
  constructor(overflowAt: number = Math.ceil(mostQueued() / 2)) {
    const workerData: WatchThreadData = { overflowAt };
    this.#worker = new Worker(new URL('./watch-thread.js', import.meta.url), {
      workerData,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MEGABYTES },
    });
    this.#worker.on('message', (news: WatchNews) => {
      this.#take(news);
    });
    this.#worker.on('error', (error) => {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    });
    this.#worker.on('exit', () => {
      this.#fail(new Error('The thread that watches directories ended'));
    });
  }

  get watches(): number {
    return this.#watches;
  }

  watch(path: string): Promise<WatchOutcome> {
    return this.#ask((id) => ({ kind: 'watch', id, path })) as Promise<WatchOutcome>;
  }

  watchNames(path: string, names: readonly string[]): Promise<WatchOutcome> {
    return this.#ask((id) => ({ kind: 'watch', id, path, names })) as Promise<WatchOutcome>;
  }

  unwatch(paths: readonly string[]): Promise<string[]> {
    return this.#ask((id) => ({ kind: 'unwatch', id, paths })) as Promise<string[]>;
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
    this.#closing = true;
    await this.#worker.terminate();
  }

  #ask(order: (id: number) => WatchOrder): Promise<Answer> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#order(order(id));
    });
  }

  #order(order: WatchOrder): void {
    this.#worker.postMessage(order);
  }

  #take(news: WatchNews): void {
    this.#watches = news.watches;
    if ('id' in news) {
      const waiting = this.#waiting.get(news.id);
      this.#waiting.delete(news.id);
      waiting?.resolve('outcome' in news ? news.outcome : news.ended);
      return;
    }
    this.#order({ kind: 'taken' });
    if (this.#closing) return;
    if (news.paths.length > 0) this.#changed(news.paths);
    if (news.overflowed) this.#overflowed();
  }

  #fail(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    if (!this.#closing) this.#failed(error);
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
