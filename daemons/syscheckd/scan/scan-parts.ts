import type { EntryThreads } from '../../../lib/fim/scan/entry-threads.js';
import type { ScanSettings } from '../../../lib/fim/scan/scan-settings.js';
import type { ScannedEntry } from '../../../lib/fim/scan/scan-tree.js';
import type { WalkParts } from '../../../lib/fim/scan/walk-tree.js';
import type { WatchedDirectories } from '../../../lib/fim/scan/watched-directories.js';
import type { WatchedDirectory } from '../../../lib/fim/scan/watched-directory.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { ContentChanges } from '../diff/content-changes.js';
import type { WatchedNow } from '../realtime/realtime-view.js';
import type { Recorder } from '../record/recorder.js';
import type { EventOutbox } from '../store/outbox.js';

/** What scans go by. */
export type ScanRules = {
  /** Another object when it has changed. */
  readonly scan: ScanSettings;
  /** Most files that are recorded; 0 is no limit. */
  readonly fileLimit: number;
};

/** Which configured paths have had their baseline: until then what is found of them is no news. */
export interface ScanBaselines {
  silent(directory: WatchedDirectory): boolean;
  /** They have had it, and no others are configured any more. Resolves when that is on disk. */
  finish(directories: Iterable<WatchedDirectory>): Promise<void>;
}

/** Who has to know of scans: real time. */
export interface ScanFollower {
  /** What is watched from now on; the walk begins when it resolves. */
  update(now: WatchedNow): Promise<void>;
  /** Asked of every directory before it is read. */
  readonly onDirectory: NonNullable<WalkParts['onDirectory']>;
  /** Told of all that a scan finds, before it is recorded. */
  found(entries: readonly ScannedEntry[]): void;
  /** A scan has ended; what it found is recorded. */
  scanned(): void;
}

/** What a scan works with. */
export type ScanRunnerParts = {
  readonly rules: () => ScanRules;
  readonly recorder: Recorder;
  readonly outbox: EventOutbox;
  readonly threads: EntryThreads;
  readonly baselines: ScanBaselines;
  /** Keeps the copies of `report_changes`. */
  readonly contents: Pick<ContentChanges, 'beginScan'>;
  readonly follower: ScanFollower;
  /** Tells how full the table is (integrity-and-inventory.md 3.9). */
  readonly fill: { check(limit: number): Promise<void> };
  /** Configured paths were looked at anew. */
  readonly refreshed: (directories: WatchedDirectories) => void;
  readonly logger: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
};
