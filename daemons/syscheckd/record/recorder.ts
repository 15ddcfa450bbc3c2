import { KeyedLock } from '../../../lib/async/keyed-lock.js';
import { type FileChange, FIM_LOCATION, fimEvent, type FimMode } from '../../../lib/events/fim/fim-messages.js';
import { QUEUE_IDS } from '../../../lib/events/queue-ids.js';
import { AgentMessageError } from '../../../lib/events/sync/agent-message-error.js';
import { readable } from '../../../lib/fim/byte-order.js';
import type { ScannedEntry } from '../../../lib/fim/scan/scan-tree.js';
import type { WatchedDirectories } from '../../../lib/fim/scan/watched-directories.js';
import type { WatchedDirectory } from '../../../lib/fim/scan/watched-directory.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { ContentChanges, PreparedChange } from '../diff/content-changes.js';
import { MAX_FIM_MESSAGE_BYTES } from '../message-limit.js';
import type { FileRow } from '../store/file-row.js';
import type { FileStore, RowChange } from '../store/file-store.js';
import type { OutEvent } from '../store/outbox.js';
import { decideChange, type Decision, type Names } from './decide-change.js';
import { RecentChanges } from './recent-changes.js';
import { ScanMarks } from './scan-marks.js';

/** Files whose changes go to disk together: a few milliseconds of work. */
const FILES_A_STEP = 128;

/** How files were looked at. */
export type RecordOptions = {
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
export type RecordResult = {
  /**
   * Paths of which another reading, begun or ended in the meantime, was recorded first: which of the two is newer is
   * not known, so this one was dropped. Whoever is told of changes once only has to look again.
   */
  readonly overtaken: readonly string[];
};

export type RecorderParts = {
  readonly store: FileStore;
  /** As they are configured now. */
  readonly directories: () => WatchedDirectories;
  readonly names: () => Names;
  /** `file_limit`; 0: there is none. */
  readonly limit: () => number;
  /** What `report_changes` needs. */
  readonly contents?: ContentChanges | undefined;
  readonly logger: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** What has become of readings since the start, files each. */
export type RecorderCounters = {
  added: number;
  modified: number;
  removed: number;
  /** New ones of configured paths that had no baseline, and those that went without an event. */
  silent: number;
  /** Rows in which only something changed that is not watched. */
  unwatched: number;
  overtaken: number;
  /** Not recorded because of `file_limit`. */
  overLimit: number;
  /** Events that are longer than the wire takes. The rows are right. */
  tooLong: number;
};

/** What is taken in one step. */
type RecordStep = {
  readonly rows: RowChange[];
  readonly events: OutEvent[];
  readonly overtaken: string[];
  /** New rows among them, and those that went. */
  grown: number;
};

/**
 * Turns what is found of files into rows and events: both on disk in one step, or neither (integrity-and-inventory.md
 * 3.7). Scans and realtime monitoring share it, and the order of their readings is kept by tickets.
 */
export class Recorder {
  readonly counters: RecorderCounters = {
    added: 0,
    modified: 0,
    removed: 0,
    silent: 0,
    unwatched: 0,
    overtaken: 0,
    overLimit: 0,
    tooLong: 0,
  };

  readonly #parts: RecorderParts;
  readonly #store: FileStore;
  readonly #changes = new RecentChanges();
  readonly #scans = new Set<ScanMarks>();
  readonly #turns = new KeyedLock();
  /** Work on copies of contents that is behind the changes on disk. */
  readonly #copying = new Set<Promise<void>>();
  #fullTold = false;
  #longTold = false;

  constructor(parts: RecorderParts) {
    this.#parts = parts;
    this.#store = parts.store;
  }

  /** Files recorded. */
  get rows(): number {
    return this.#store.rows;
  }

  /** Order of readings: to be taken before a path is looked at. */
  ticket(): number {
    return this.#changes.begin();
  }

  /**
   * Stamp with which a file's content need not be read again, for `ScanParts.known`; undefined when other things of it
   * are watched now than when it was recorded.
   */
  known(path: string): string | undefined {
    const head = this.#store.head(path);
    if (head?.stamp === undefined) return undefined;
    return head.checks === this.#parts.directories().decides(path)?.checks ? head.stamp : undefined;
  }

  /** The newest, what is not on disk yet included. */
  row(path: string): FileRow | undefined {
    return this.#store.row(path);
  }

  /** Rows of paths below `path/`, in groups. */
  rowsBelow(path: string): AsyncIterable<FileRow[]> {
    return this.#store.below(path);
  }

  /** Marks of a new scan; `end()` them when it is over. */
  beginScan(): ScanMarks {
    const marks = new ScanMarks(this.#store.nextNumber, (ended) => this.#scans.delete(ended));
    this.#scans.add(marks);
    return marks;
  }

  /** Rows that a scan has not come across, nor anyone else since it began, in groups. */
  unseen(marks: ScanMarks): AsyncIterable<FileRow[]> {
    return this.#store.pieces((number) => !marks.has(number));
  }

  /** Everything recorded so far is on disk. */
  async settled(): Promise<void> {
    await this.#store.settled();
    await Promise.all(this.#copying);
  }

  /**
   * Records what was found. Waits while too many events, or too much that is not on disk, are on their way.
   * @throws StoreError when the store is broken or closed
   */
  async record(found: readonly ScannedEntry[], how: RecordOptions): Promise<RecordResult> {
    const overtaken: string[] = [];
    for (let at = 0; at < found.length; at += FILES_A_STEP) {
      await this.#room();
      const step: RecordStep = { rows: [], events: [], overtaken, grown: 0 };
      const copied: ScannedEntry[] = [];
      for (const entry of found.slice(at, at + FILES_A_STEP)) {
        if (!this.#take(entry, how, step)) copied.push(entry);
      }
      void this.#commit(step);
      if (copied.length > 0) await this.#recordCopied(copied, how, overtaken);
    }
    return { overtaken };
  }

  /** Removes rows of files that are gone; those that changed since `how.ticket` stay. */
  async remove(rows: readonly FileRow[], how: RemoveHow): Promise<RecordResult> {
    const { contents } = this.#parts;
    const overtaken: string[] = [];
    for (let at = 0; at < rows.length; at += FILES_A_STEP) {
      const paths = rows.slice(at, at + FILES_A_STEP).map(({ path }) => path);
      const copied = contents === undefined ? [] : paths.filter((path) => this.#mayBeCopied(path));
      const done = copied.length > 0 ? await this.#turns.take(copied) : undefined;
      try {
        await this.#room();
        const step: RecordStep = { rows: [], events: [], overtaken, grown: 0 };
        for (const path of paths) this.#drop(path, how, step);
        const written = this.#commit(step);
        if (contents === undefined || copied.length === 0) continue;
        const gone = copied.filter((path) => this.#store.row(path) === undefined);
        await written;
        await contents.remove(gone);
      } finally {
        done?.();
      }
    }
    return { overtaken };
  }

  async #room(): Promise<void> {
    for (let wait = this.#store.room(); wait !== undefined; wait = this.#store.room()) await wait;
  }

  #commit({ rows, events }: RecordStep): Promise<void> {
    if (rows.length === 0) return Promise.resolve();
    const written = this.#store.commit(rows, events);
    // What goes wrong the next step is told.
    written.catch(() => {});
    return written;
  }

  /** Changes of files whose contents are kept: the text of the difference is made before, the copy exchanged after. */
  async #recordCopied(found: readonly ScannedEntry[], how: RecordOptions, overtaken: string[]): Promise<void> {
    const done = await this.#turns.take(found.map(({ path }) => path));
    const prepared = await Promise.all(found.map((entry) => this.#prepare(entry, how)));
    const copying = this.#settleCopied(found, prepared, how, overtaken).finally(() => {
      this.#copying.delete(copying);
      done();
    });
    this.#copying.add(copying);
    await copying;
  }

  async #settleCopied(
    found: readonly ScannedEntry[],
    prepared: readonly (PreparedChange | undefined)[],
    how: RecordOptions,
    overtaken: string[],
  ): Promise<void> {
    const step: RecordStep = { rows: [], events: [], overtaken, grown: 0 };
    const used: PreparedChange[] = [];
    const unused: PreparedChange[] = [];
    for (const [index, entry] of found.entries()) {
      const copy = prepared[index];
      const before = step.rows.length;
      this.#take(entry, how, step, { text: copy?.text });
      if (copy !== undefined) (step.rows.length > before ? used : unused).push(copy);
    }
    await Promise.all(unused.map((copy) => copy.discard()));
    try {
      await this.#commit(step);
    } catch (error) {
      await Promise.all(used.map((copy) => copy.discard()));
      throw error;
    }
    await Promise.all(used.map((copy) => copy.settle()));
  }

  async #prepare(entry: ScannedEntry, how: RecordOptions): Promise<PreparedChange | undefined> {
    const decision = this.#decide(entry, this.#store.row(entry.path), how);
    if (!isCopied(entry, decision)) return undefined;
    return this.#parts.contents?.prepare({
      path: entry.path,
      root: entry.directory.path,
      type: decision.kind === 'added' ? 'added' : 'modified',
      size: entry.size,
      md5: decision.row.attributes.hash_md5,
      limit: entry.directory.diffSizeLimit,
    });
  }

  /**
   * Takes a reading into a step.
   * @param content what differs in it, once that is known
   * @returns false when that is needed first
   */
  #take(
    entry: ScannedEntry,
    how: RecordOptions,
    step: RecordStep,
    content?: { readonly text: string | undefined },
  ): boolean {
    const { path } = entry;
    const before = this.#store.row(path);
    if (before !== undefined) for (const marks of this.#scans) marks.mark(before.number);
    const decision = this.#decide(entry, before, how);
    if (decision.kind === 'same') return true;
    if (decision.kind === 'unknown' || this.#changes.isOvertaken(path, entry.ticket ?? how.ticket)) {
      this.#overtaken(path, step);
      return true;
    }
    if (decision.kind === 'added' && !this.#hasRoomFor(path, how, step)) return true;
    if (content === undefined && this.#parts.contents !== undefined && isCopied(entry, decision)) return false;
    if (decision.kind === 'added') this.#added(entry, decision.row, how, step);
    else this.#changed(entry, before, decision, step, content?.text);
    return true;
  }

  #decide(entry: ScannedEntry, before: FileRow | undefined, { mode }: RecordOptions): Decision {
    return decideChange(entry, before, this.#parts.names(), { mode, now: this.#seconds() });
  }

  #added({ directory }: ScannedEntry, row: Omit<FileRow, 'number'>, how: RecordOptions, step: RecordStep): void {
    const { path, mode, lastEvent: timestamp, attributes } = row;
    const isSilent = how.silent(directory);
    if (isSilent) {
      this.counters.silent += 1;
    } else {
      this.counters.added += 1;
      this.#tell({ type: 'added', path, mode, timestamp, attributes, tags: directory.tags }, step);
    }
    const number = this.#store.nextNumber + step.rows.length;
    this.#change({ path, before: undefined, after: { ...row, number } }, step);
  }

  #changed(
    { directory }: ScannedEntry,
    before: FileRow | undefined,
    { row, changed }: Extract<Decision, { kind: 'changed' }>,
    step: RecordStep,
    contentChanges: string | undefined,
  ): void {
    const { path, mode, lastEvent: timestamp, attributes } = row;
    this.#change({ path, before, after: row }, step);
    if (before === undefined || changed.length === 0) {
      this.counters.unwatched += 1;
      return;
    }
    this.counters.modified += 1;
    const { tags } = directory;
    const old = { attributes: before.attributes, changed };
    this.#tell({ type: 'modified', path, mode, timestamp, attributes, before: old, tags, contentChanges }, step);
  }

  #drop(path: string, { mode, ticket, silent }: RemoveHow, step: RecordStep): void {
    const row = this.#store.row(path);
    if (row === undefined) return;
    if (this.#changes.isOvertaken(path, ticket)) {
      this.#overtaken(path, step);
      return;
    }
    this.#change({ path, before: row, after: undefined }, step);
    if (silent) {
      this.counters.silent += 1;
      return;
    }
    this.counters.removed += 1;
    const { attributes, lastEvent: timestamp } = row;
    const tags = this.#parts.directories().decides(path)?.tags;
    this.#tell({ type: 'deleted', path, mode, timestamp, attributes, tags }, step);
  }

  #change(change: RowChange, step: RecordStep): void {
    step.rows.push(change);
    step.grown += (change.after === undefined ? 0 : 1) - (change.before === undefined ? 0 : 1);
    this.#changes.changed(change.path);
  }

  #overtaken(path: string, step: RecordStep): void {
    this.counters.overtaken += 1;
    step.overtaken.push(path);
  }

  #tell(change: FileChange, step: RecordStep): void {
    try {
      step.events.push({
        queue: QUEUE_IDS.fileIntegrity,
        location: FIM_LOCATION,
        message: Buffer.from(fimEvent(change, MAX_FIM_MESSAGE_BYTES), 'latin1'),
      });
    } catch (error) {
      if (!(error instanceof AgentMessageError)) throw error;
      this.counters.tooLong += 1;
      this.#parts.logger.warn(`${readable(change.path).slice(0, 256)}: ${error.message}; it is not sent`);
    }
  }

  /** What is over a limit is counted, and told when the limit is reached. */
  #hasRoomFor(path: string, { scan }: RecordOptions, { grown }: RecordStep): boolean {
    const { limit, logger } = this.#parts;
    const most = limit();
    const isFull = most > 0 && this.#store.rows + grown >= most;
    if (!isFull) {
      this.#fullTold = false;
    } else if (!this.#fullTold) {
      this.#fullTold = true;
      logger.warn(`The limit of ${most} monitored files is reached: further ones are not monitored`);
    }
    const isTooLong = !this.#store.hasRoomFor(path);
    if (isTooLong && !this.#longTold) {
      this.#longTold = true;
      logger.warn('Too many paths of 1,900 bytes and more: further ones are not monitored');
    }
    if (!isFull && !isTooLong) return true;
    this.counters.overLimit += 1;
    if (scan !== undefined && isFull) scan.overLimit += 1;
    return false;
  }

  #mayBeCopied(path: string): boolean {
    return this.#parts.directories().decides(path)?.reportChanges ?? true;
  }

  #seconds(): number {
    return Math.max(0, Math.floor(this.#parts.now() / 1000));
  }
}

/** Whether the change of a file's content is wanted (integrity-and-inventory.md 3.10). */
function isCopied(
  { kind, directory }: ScannedEntry,
  decision: Decision,
): decision is Extract<Decision, { kind: 'added' | 'changed' }> {
  if (!directory.reportChanges || kind !== 'file') return false;
  return decision.kind === 'added' || (decision.kind === 'changed' && decision.changed.length > 0);
}
