import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../../lib/log/logger.js';

/** Directories watched at most; what is in others is seen by polling. */
const MAX_WATCHES = 4096;

/**
 * Watches directories, so that a change is seen at once. Polling sees everything too, only later: a watch that cannot be
 * had (no inotify instance left, a network file system) is no error.
 */
export class DirectoryWatches {
  readonly #logger: Logger;
  readonly #changed: (path: string, renamed: boolean) => void;
  readonly #watches = new Map<string, FSWatcher>();
  #failed = false;

  /** @param changed is told of a path in a watched directory; `renamed`: it appeared, went away or was replaced */
  constructor(logger: Logger, changed: (path: string, renamed: boolean) => void) {
    this.#logger = logger;
    this.#changed = changed;
  }

  get size(): number {
    return this.#watches.size;
  }

  /** Watches exactly these. */
  update(directories: ReadonlySet<string>): void {
    for (const directory of this.#watches.keys()) {
      if (!directories.has(directory)) {
        this.#drop(directory);
      }
    }
    for (const directory of directories) {
      if (!this.#watches.has(directory) && this.#watches.size < MAX_WATCHES) {
        this.#watch(directory);
      }
    }
  }

  close(): void {
    for (const directory of [...this.#watches.keys()]) {
      this.#drop(directory);
    }
  }

  #watch(directory: string): void {
    try {
      const watcher = watch(directory, { persistent: false }, (event, name) => {
        if (name !== null) {
          this.#changed(join(directory, name), event === 'rename');
        }
      });
      watcher.on('error', () => {
        this.#drop(directory);
      });
      this.#watches.set(directory, watcher);
    } catch (error) {
      if (!this.#failed) {
        this.#failed = true;
        const reason = error instanceof Error ? error.message : String(error);
        this.#logger.info(`Directory '${directory}' is polled because it cannot be watched: ${reason}`);
      }
    }
  }

  #drop(directory: string): void {
    this.#watches.get(directory)?.close();
    this.#watches.delete(directory);
  }
}
