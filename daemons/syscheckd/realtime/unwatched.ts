import { readable } from '../../../lib/fim/byte-order.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { WatchOutcome } from './watcher.js';

/** Directories without a watch that are kept by name; with more, their whole configured paths are looked through. */
const MOST_NAMED = 10_000;
/** As the system numbers it in the message: no space for another watch. */
const ENOSPC = 28;

/** Directories of real-time monitoring that have no watch: they are looked through now and again until they have. */
export class Unwatched {
  readonly #logger: Logger;
  readonly #most: number;
  readonly #paths = new Set<string>();
  readonly #roots = new Set<string>();
  #told = false;

  constructor(logger: Logger, most = MOST_NAMED) {
    this.#logger = logger;
    this.#most = most;
  }

  /** Directories, or configured paths, to look through. */
  get size(): number {
    return this.#paths.size + this.#roots.size;
  }

  /** What came of the wish to watch a directory. @param root configured path it belongs to */
  note(path: string, root: string, outcome: WatchOutcome): void {
    if (outcome !== 'limit' && outcome !== 'failed') {
      this.#paths.delete(path);
      return;
    }
    if (outcome === 'failed') {
      if (!this.#paths.has(path)) {
        this.#logger.debug(`Directory '${readable(path)}' has no watch: the system does not give one.`);
      }
    } else if (!this.#told) {
      this.#told = true;
      this.#logger.error(
        `(6700): Unable to add inotify watch to real time monitoring: '${readable(path)}'. '-1' '${ENOSPC}': ` +
          'The maximum limit of inotify watches has been reached.',
      );
    }
    if (this.#roots.has(root) || this.#paths.has(path)) return;
    if (this.#paths.size < this.#most) this.#paths.add(path);
    else this.#roots.add(root);
  }

  /** Whether a directory may be one of them. @param root configured path it belongs to */
  has(path: string, root: string): boolean {
    return this.#paths.has(path) || this.#roots.has(root);
  }

  /** Names no longer of interest. */
  forget(path: string): void {
    this.#paths.delete(path);
    this.#roots.delete(path);
  }

  /** What is to be looked through now, those above before those below; `whole`: with all below. */
  all(): { readonly path: string; readonly whole: boolean }[] {
    return [
      ...[...this.#roots].map((path) => ({ path, whole: true })),
      ...[...this.#paths].sort().map((path) => ({ path, whole: false })),
    ];
  }

  /** Says how it stands after everything was looked through. @param seconds until the next time */
  report(seconds: number): void {
    if (this.size > 0) {
      this.#logger.debug(
        this.#roots.size > 0
          ? `More than ${this.#most} directories have no watch: their paths are looked through every ${seconds} seconds.`
          : `${this.#paths.size} directories have no watch and are looked through every ${seconds} seconds.`,
      );
    } else if (this.#told) {
      this.#told = false;
      this.#logger.info('All directories of real-time monitoring are watched again.');
    }
  }
}
