import type { WatchedDirectory } from '../../../lib/fim/scan/watched-directory.js';
import type { Change } from '../../../lib/store/commit-queue.js';
import type { StoreTable } from '../../../lib/store/store-table.js';

const NAME = 'baselines';

/** What of a store keeps the baselines. */
export type BaselineStore = {
  readonly texts: StoreTable<string, string>;
  commit(rows: readonly [], events: readonly [], more: readonly Change[]): Promise<void>;
};

/**
 * Which configured paths have had their baseline. Of the others new files are recorded without events: what a path that
 * was configured just now holds is no change. A wildcard has its baseline once: what it matches later is new.
 */
export class Baselines {
  readonly #store: BaselineStore;
  #done: ReadonlySet<string>;

  /** @throws StoreError `damaged` */
  constructor(store: BaselineStore) {
    this.#store = store;
    const text = store.texts.get(NAME);
    this.#done = new Set(text === undefined || text === '' ? [] : text.split('\n'));
  }

  /** Whether the path has not had its baseline. */
  silent(directory: WatchedDirectory): boolean {
    return !this.#done.has(keyOf(directory));
  }

  /**
   * A scan has seen all of these. Others are forgotten with it: configured again, they are new again.
   * @param directories all that are configured
   * @param scanned those that were scanned; all by default
   */
  async finish(
    directories: Iterable<WatchedDirectory>,
    scanned: Iterable<WatchedDirectory> = directories,
  ): Promise<void> {
    const fresh = new Set([...scanned].map(keyOf));
    const done = [...directories].map(keyOf).filter((key) => fresh.has(key) || this.#done.has(key));
    const text = [...new Set(done)].sort().join('\n');
    if (text === [...this.#done].sort().join('\n')) return;
    this.#done = new Set(done);
    await this.#store.commit([], [], [this.#store.texts.put(NAME, text)]);
  }

  /** All are new again. */
  async clear(): Promise<void> {
    this.#done = new Set();
    await this.#store.commit([], [], [this.#store.texts.put(NAME, '')]);
  }
}

/**
 * What decides which files are watched; what of a file is watched each row knows itself. A target of a link that is
 * followed stands for itself: when it changes, its files come without events.
 */
function keyOf({ path, wildcard, recursionLevel, restrict }: WatchedDirectory): string {
  return JSON.stringify([wildcard ?? path, wildcard !== undefined, recursionLevel, restrict?.source ?? null]);
}
