import type { WatchedDirectories } from '../../lib/fim/scan/watched-directories.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';

export type LinkWatchParts = {
  /** Configured paths as the last scan had them. */
  readonly scanned: () => WatchedDirectories;
  /** As the file system has them now. */
  readonly now: () => Promise<WatchedDirectories>;
  /** A link that is followed leads elsewhere. */
  readonly changed: () => void;
  readonly logger: Logger;
};

/**
 * Looks where configured links lead that are followed (integrity-and-inventory.md 3.3): every so often, and when real time
 * has seen something. The scan that follows a change takes old files out and new ones in, both without events.
 */
export class LinkWatch {
  readonly #parts: LinkWatchParts;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #again = false;

  constructor(parts: LinkWatchParts) {
    this.#parts = parts;
  }

  /** @param seconds between two looks (`syscheck.symlink_scan_interval`) */
  start(seconds: number): void {
    this.#timer ??= setInterval(() => {
      this.look();
    }, seconds * 1000);
  }

  /** Looks now, or once more after the look that is under way. */
  look(): void {
    if (this.#looking !== undefined) {
      this.#again = true;
      return;
    }
    this.#looking = this.#look().finally(() => {
      this.#looking = undefined;
      if (this.#again) {
        this.#again = false;
        this.look();
      }
    });
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#again = false;
  }

  async #look(): Promise<void> {
    const { scanned, now, changed, logger } = this.#parts;
    try {
      const [before, after] = [targets(scanned()), targets(await now())];
      if (before !== after) changed();
    } catch (error) {
      logger.warn(`Configured links cannot be looked at: ${describeError(error)}`);
    }
  }
}

function targets(directories: WatchedDirectories): string {
  return JSON.stringify(
    [...directories].flatMap(({ link, path, followLink }) => (followLink ? [[link ?? path, path]] : [])),
  );
}
