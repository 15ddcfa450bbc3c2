import { FIM_LOCATION, scanMark } from '../../../lib/events/fim/fim-messages.js';
import { QUEUE_IDS } from '../../../lib/events/queue-ids.js';
import { bytesOf, readable } from '../../../lib/fim/byte-order.js';
import type { SkipReason } from '../../../lib/fim/scan/entry-outcome.js';
import { scanTree } from '../../../lib/fim/scan/scan-tree.js';
import { WatchedDirectories } from '../../../lib/fim/scan/watched-directories.js';
import type { WatchedDirectory } from '../../../lib/fim/scan/watched-directory.js';
import type { ScanMarks } from '../record/scan-marks.js';
import type { FileRow } from '../store/file-row.js';
import { GoneFileJudge } from './gone-files.js';
import type { ScanRules, ScanRunnerParts } from './scan-parts.js';

const SECOND_MS = 1000;
const MODE = 'scheduled';

/** Counters of scans, for `stats`. */
export type ScanCounters = {
  /** Entries that scans have found. */
  found: number;
  /** Paths that gave no entry. */
  skipped: number;
  /** Those of them that could not be read. */
  unreadable: number;
};

/** One scan. */
type Scan = {
  readonly rules: ScanRules;
  readonly directories: WatchedDirectories;
  readonly signal: AbortSignal;
};

/** Makes scans of files (integrity-and-inventory.md 3.2); one at a time is the caller's business. */
export class ScanRunner {
  readonly counters: ScanCounters = { found: 0, skipped: 0, unreadable: 0 };
  readonly #parts: ScanRunnerParts;
  #directories = new WatchedDirectories([]);

  constructor(parts: ScanRunnerParts) {
    this.#parts = parts;
  }

  /** Configured paths as they were when they were looked at last. */
  get directories(): WatchedDirectories {
    return this.#directories;
  }

  /** Looks anew at what the configuration names; told of are those who have to know. */
  async refresh(rules: ScanRules = this.#parts.rules()): Promise<WatchedDirectories> {
    const directories = await rules.scan.directories();
    this.#parts.refreshed(directories);
    this.#directories = directories;
    return directories;
  }

  /**
   * One scan of everything.
   * @returns false when it was given up, because the configuration has changed
   * @throws the reason of `signal` when it is aborted; StoreError; Error when a thread breaks
   */
  async scan(signal: AbortSignal): Promise<boolean> {
    const { contents, baselines, follower, logger, fill } = this.#parts;
    signal.throwIfAborted();
    logger.info('(6008): File integrity monitoring scan started.');
    const rules = this.#parts.rules();
    await this.#mark('scan_start');
    const directories = await this.refresh(rules);
    if ([...directories].some(({ reportChanges }) => reportChanges)) await contents.beginScan();
    const { ignore, fileSystems } = rules.scan;
    await follower.update({ directories, ignore, fileSystems });
    try {
      if (!(await this.#passes({ rules, directories, signal }))) return false;
      await baselines.finish(directories);
    } finally {
      follower.scanned();
    }
    await fill.check(rules.fileLimit);
    await this.#mark('scan_end');
    logger.info('(6009): File integrity monitoring scan ended.');
    return true;
  }

  async #mark(type: 'scan_start' | 'scan_end'): Promise<void> {
    const { outbox, now } = this.#parts;
    const message = bytesOf(scanMark(type, Math.floor(now() / SECOND_MS)));
    await outbox.put([{ queue: QUEUE_IDS.fileIntegrity, location: FIM_LOCATION, message }]);
  }

  /** Walk and removal; twice when the table was full, so that what was removed makes room. */
  async #passes(scan: Scan): Promise<boolean> {
    const { recorder } = this.#parts;
    for (let pass = 1; pass <= 2; pass += 1) {
      const marks = recorder.beginScan();
      try {
        if (!(await this.#walk(scan, marks))) return false;
        await this.#removeGone(scan, marks);
        if (marks.overLimit === 0 || recorder.rows >= scan.rules.fileLimit) break;
      } finally {
        marks.end();
      }
    }
    await recorder.settled();
    return this.#holds(scan);
  }

  async #walk(scan: Scan, marks: ScanMarks): Promise<boolean> {
    const { recorder, threads, follower } = this.#parts;
    const { rules, directories, signal } = scan;
    const groups = scanTree({
      directories,
      ignore: rules.scan.ignore,
      fileSystems: rules.scan.fileSystems,
      threads,
      maxFilesPerSecond: rules.scan.maxFilesPerSecond,
      known: (path) => recorder.known(path),
      ticket: () => recorder.ticket(),
      onDirectory: follower.onDirectory,
      onSkipped: (path, reason, code) => {
        this.#skip(path, reason, code);
      },
      signal,
    });
    for await (const found of groups) {
      if (!this.#holds(scan)) return false;
      if (found.length === 0) continue;
      this.counters.found += found.length;
      follower.found(found);
      // Each entry has the ticket of its own group.
      await recorder.record(found, { mode: MODE, ticket: 0, scan: marks, silent: this.#silent });
    }
    return true;
  }

  /** What was not come across: gone for good, not watched any more, or there again. */
  async #removeGone({ rules, directories, signal }: Scan, marks: ScanMarks): Promise<void> {
    const { recorder, threads } = this.#parts;
    const judge = new GoneFileJudge({ directories, scan: rules.scan, threads, recorder });
    const isNews = ({ path }: FileRow): boolean => {
      const directory = directories.decides(path);
      return directory === undefined || !this.#silent(directory);
    };
    for await (const rows of recorder.unseen(marks)) {
      signal.throwIfAborted();
      const ticket = recorder.ticket();
      const { gone, unwatched, found } = await judge.judge(rows, signal);
      if (found.length > 0) await recorder.record(found, { mode: MODE, ticket, scan: marks, silent: this.#silent });
      const news = gone.filter(isNews);
      const quiet = [...unwatched, ...gone.filter((row) => !isNews(row))];
      if (news.length > 0) await recorder.remove(news, { mode: MODE, ticket, silent: false });
      if (quiet.length > 0) await recorder.remove(quiet, { mode: MODE, ticket, silent: true });
    }
  }

  readonly #silent = (directory: WatchedDirectory): boolean => this.#parts.baselines.silent(directory);

  /** Whether what the scan goes by is still what it began with: other settings may have been read anew meanwhile. */
  #holds({ rules }: Scan): boolean {
    const { scan, fileLimit } = this.#parts.rules();
    return scan === rules.scan && fileLimit === rules.fileLimit;
  }

  #skip(path: string, reason: SkipReason, code: string | undefined): void {
    this.counters.skipped += 1;
    if (reason !== 'unreadable') return;
    this.counters.unreadable += 1;
    this.#parts.logger.debug(`(6324): '${readable(path)}' cannot be read and is left out: ${code ?? 'unknown'}.`);
  }
}
