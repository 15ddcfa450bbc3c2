import type { FimMode } from '../../../lib/fim/fim-messages.js';
import type { ScannedEntry } from '../../../lib/fim/scan/scan-tree.js';
import type { WatchedDirectory } from '../../../lib/fim/scan/watched-directory.js';
import type { FileRow } from '../store/file-row.js';
import type { ScanMarks } from './scan-marks.js';

/** How files were looked at. */
export type RecordHow = {
  readonly mode: FimMode;
  /** Of `ticket()`, taken before the first of them was looked at; counts for entries that have none of their own. */
  readonly ticket: number;
  /** The scan they were found by. */
  readonly scan?: ScanMarks | undefined;
  /** Whether new files of a configured path are recorded without an event: it has not had its baseline yet. */
  readonly silent: (directory: WatchedDirectory) => boolean;
};

/** How it was seen that files are gone. */
export type RemoveHow = {
  readonly mode: FimMode;
  /** Of `ticket()`, taken before it was looked whether they are there. */
  readonly ticket: number;
  /** Without events. */
  readonly silent: boolean;
};

/** What came of readings. */
export type Recorded = {
  /**
   * Paths of which another reading, begun or ended in the meantime, was recorded first: which of the two is newer is
   * not known, so this one was dropped. Whoever is told of changes once only has to look again.
   */
  readonly overtaken: readonly string[];
};

/** Turns what is found of files into rows and events: both on disk in one step, or neither. */
export interface Recorder {
  /** Order of readings: to be taken before a path is looked at. */
  ticket(): number;
  /**
   * Stamp with which a file's content need not be read again, for `ScanParts.known`; undefined when the row lacks what
   * is watched now.
   */
  known(path: string): string | undefined;
  /** The newest, what is not on disk yet included. */
  row(path: string): FileRow | undefined;
  /** Rows of paths below `path/`, in groups. */
  rowsBelow(path: string): AsyncIterable<FileRow[]>;
  /**
   * Records what was found. Waits while too many events, or too much that is not on disk, are on their way.
   * @throws StoreError when the store is broken or closed
   */
  record(found: readonly ScannedEntry[], how: RecordHow): Promise<Recorded>;
  /** Removes rows of files that are gone; those that changed since `how.ticket` stay. */
  remove(rows: readonly FileRow[], how: RemoveHow): Promise<Recorded>;
  /** Marks of a new scan; `end()` them when it is over. */
  beginScan(): ScanMarks;
  /** Rows that a scan has not come across, in groups. */
  unseen(marks: ScanMarks): AsyncIterable<FileRow[]>;
  /** Everything recorded so far is on disk. */
  settled(): Promise<void>;
  /** Files recorded. */
  readonly rows: number;
}
