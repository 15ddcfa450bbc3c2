import { readable } from '../../lib/fim/byte-order.js';
import type { WatchedDirectories } from '../../lib/fim/scan/watched-directories.js';
import { optionText } from '../../lib/fim/scan/watched-directory.js';
import type { Logger } from '../../lib/log/logger.js';
import type { SyscheckdSettings } from './settings.js';

/** Lines of configured paths that are not logged again; beyond that they are forgotten, and logged once more. */
const MOST_TOLD = 10_000;

/** Says in the log what is watched (integrity-and-inventory.md 3.1), each thing once while it stays so. */
export class WatchLog {
  readonly #logger: Logger;
  readonly #told = new Set<string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** What the configuration says beside its paths. */
  settings({ syscheck, watchesFiles, fileLimit, times }: SyscheckdSettings): void {
    if (!watchesFiles) {
      if (!syscheck.disabled) {
        this.#logger.warn('(6678): No directory provided for syscheck to monitor.');
      }
      this.#logger.info('(6001): File integrity monitoring disabled.');
      return;
    }
    if (fileLimit === 0) this.#once("(6042): There is no limit of monitored files: 'file_limit' is off.");
    for (const { kind, value } of syscheck.ignore) {
      this.#once(
        kind === 'path' ? `(6206): Ignore 'file' entry '${value}'` : `(6207): Ignore 'file' sregex '${value}'`,
      );
    }
    for (const { value } of [...syscheck.nodiff, ...syscheck.diff.nodiff]) {
      this.#once(`(6004): No diff for file: '${value}'`);
    }
    this.#logger.info(`(6010): File integrity monitoring scan frequency: ${times.frequency} seconds`);
  }

  /** Configured paths as the file system has them now. */
  directories(directories: WatchedDirectories): void {
    for (const { text } of directories.problems) this.#once(text, 'warn');
    for (const directory of directories) {
      const target = directory.link === undefined ? '' : ` (${readable(directory.path)})`;
      const path = readable(directory.link ?? directory.path);
      this.#once(`(6003): Monitoring path: '${path}'${target}, with options '${optionText(directory)}'.`);
      if (directory.mode !== 'scheduled') this.#once(`(6016): Directory set for real time monitoring: '${path}'.`);
    }
  }

  #once(text: string, level: 'info' | 'warn' = 'info'): void {
    if (this.#told.has(text)) return;
    if (this.#told.size >= MOST_TOLD) this.#told.clear();
    this.#told.add(text);
    this.#logger[level](text);
  }
}
