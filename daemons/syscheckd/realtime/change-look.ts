import { readable } from '../../../lib/fim/byte-order.js';
import { ALL_HASHES } from '../../../lib/fim/checks.js';
import type { EntryOutcome } from '../../../lib/fim/scan/entry-outcome.js';
import type { EntryThreads } from '../../../lib/fim/scan/entry-threads.js';
import { type ScannedEntry, type ScanParts, scanTree } from '../../../lib/fim/scan/scan-tree.js';
import { depthBelow } from '../../../lib/fim/scan/walk-tree.js';
import type { WatchedDirectory } from '../../../lib/fim/scan/watched-directory.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { RecordResult } from '../record/recorder.js';
import type { ScanMarks } from '../record/scan-marks.js';
import { directoriesAbove } from '../scan/directories-above.js';
import type { FileRow } from '../store/file-row.js';
import type { ChangeRecorder } from './change-recorder.js';
import type { LinkedNames } from './linked-names.js';
import type { RealtimeView } from './realtime-view.js';
import type { Watcher, WatchOutcome } from './watcher.js';

/** Files that one thread looks at in one go: few enough for the others to have work as well. */
const FILES_AT_A_TIME = 64;

const MODE = 'realtime';

/** What changes are looked at with. */
export type ChangeLookParts = {
  readonly view: () => RealtimeView;
  readonly watcher: Watcher;
  readonly recorder: ChangeRecorder;
  readonly threads: EntryThreads;
  readonly logger: Logger;
  /** Whether a configured path has not had its baseline. */
  readonly silent: (directory: WatchedDirectory) => boolean;
  /** Whether a path may be a directory that has no watch. */
  readonly isUnwatched: (path: string, directory: WatchedDirectory) => boolean;
  /** Told of every wish to watch a directory. */
  readonly watched: (path: string, directory: WatchedDirectory, outcome: WatchOutcome) => void;
  /** Has to be looked at once the baseline of its configured path is there. */
  readonly hold: (path: string) => void;
  /** Has to be looked at again. */
  readonly again: (paths: readonly string[]) => void;
  /** A directory to be gone through with `examine`. */
  readonly enter: (path: string) => void;
  readonly linked: LinkedNames;
};

/** Why a directory is gone through: it changed, it has no watch, or some of what all below told may be lost. */
export type ExamineReason = 'changed' | 'unwatched' | 'lost';

type AskedEntry = { readonly path: string; readonly directory: WatchedDirectory; readonly asFile: boolean };

/** Looks at what may have changed, and has it recorded (integrity-and-inventory.md 3.3, 3.8). */
export class ChangeLook {
  readonly #parts: ChangeLookParts;
  #looked = 0;
  #unreadable = 0;

  constructor(parts: ChangeLookParts) {
    this.#parts = parts;
  }

  /** Paths looked at so far, and those of them that could not be read. */
  get counts(): { readonly looked: number; readonly unreadable: number } {
    return { looked: this.#looked, unreadable: this.#unreadable };
  }

  /** Looks at each path by itself: what is there is recorded, what is gone is removed, and so is all that was below. */
  async look(paths: readonly string[]): Promise<void> {
    const { recorder, again, enter, linked } = this.#parts;
    const ticket = recorder.ticket();
    const entries: ScannedEntry[] = [];
    const noFiles: string[] = [];
    const gone: string[] = [];
    const read = await this.#read(this.#asked(paths));
    const links = await this.#linksAbove(read);
    for (const [{ path, directory, asFile }, outcome] of read) {
      if (links.size > 0 && isThere(outcome) && directoriesAbove(path, directory.path).some((at) => links.has(at))) {
        gone.push(path);
      } else if (outcome.kind !== 'skipped') {
        const wanted = asFile && !(await this.#parts.view().fileSystems.skips(path, outcome.dev));
        if (wanted) entries.push({ ...outcome, path, directory });
        if (wanted) linked.looked(path, outcome);
        // A file in the place of a directory; where there was a file before, there was none.
        if (!wanted || recorder.row(path) === undefined) noFiles.push(path);
      } else if (outcome.reason === 'vanished') {
        gone.push(path);
      } else if (outcome.reason === 'special') {
        noFiles.push(path);
      } else if (outcome.reason === 'directory') {
        await this.#removeRows([recorder.row(path)], ticket);
        enter(path);
      } else if (outcome.reason === 'unreadable') {
        // As in the reference its row stays until the next scan.
        this.#unreadable += 1;
        this.#parts.logger.debug(`(6324): '${readable(path)}' cannot be read: ${outcome.code ?? ''}`);
      }
    }
    const kept = new Set(entries.map(({ path }) => path));
    for (const path of gone) linked.gone(path);
    const ended = [...gone, ...(await this.#goneAbove(gone)), ...noFiles];
    const rows = ended.filter((path) => !kept.has(path)).map((path) => recorder.row(path));
    await this.#removeRows(rows, ticket);
    await this.#removeBelow(ended, ticket);
    if (entries.length > 0) {
      again((await recorder.record(entries, { mode: MODE, ticket, silent: this.#parts.silent })).overtaken);
    }
    linked.told(paths);
  }

  /**
   * Watches a directory, walks it and finds what is gone from it. Directories below that have been watched all the time
   * are left out: what changes there is told.
   * @param reason `lost` goes through those as well
   * @param entered takes in the directories that are gone through
   */
  async examine(path: string, reason: ExamineReason, entered?: Set<string>): Promise<void> {
    const { recorder, threads, silent, hold, watcher, watched, again, linked } = this.#parts;
    const view = this.#parts.view();
    const directory = view.rootOf(path);
    if (directory === undefined) return;
    if (silent(directory)) {
      hold(path);
      return;
    }
    const leftOut = new Set<string>();
    /** Directories that may have held files before that are gone. */
    const compared: string[] = [];
    let marks: ScanMarks | undefined;
    let gone = false;
    const onDirectory = async (at: string): Promise<boolean> => {
      const outcome = await watcher.watch(at);
      watched(at, directory, outcome);
      const isTop = at === path;
      if (!isTop && reason !== 'lost' && outcome === 'watching') {
        leftOut.add(at);
        return false;
      }
      entered?.add(at);
      // Where nothing was watched before, nothing is recorded but what scans will compare.
      if ((isTop && reason !== 'changed') || (outcome !== 'fresh' && outcome !== 'watching')) {
        marks ??= recorder.beginScan();
        compared.push(at);
      }
      return true;
    };
    const parts: ScanParts = {
      directories: view.directories,
      ignore: view.ignore,
      fileSystems: view.fileSystems,
      threads,
      maxFilesPerSecond: 0,
      known: (known) => recorder.known(known),
      ticket: () => recorder.ticket(),
      onDirectory,
      onSkipped: (at, reason) => {
        if (at === path && reason === 'vanished') gone = true;
      },
    };
    try {
      for await (const group of scanTree(parts, [directory], path)) {
        this.#looked += group.length;
        for (const entry of group) linked.found(entry.path, entry);
        again((await recorder.record(group, { mode: MODE, ticket: 0, scan: marks, silent })).overtaken);
      }
      if (gone) await this.look([path]);
      for (const at of compared) await this.#compare(at, leftOut, marks);
    } finally {
      marks?.end();
    }
  }

  /** Looks for what is recorded below a directory that was gone through, and was not come across. */
  async #compare(directory: string, leftOut: ReadonlySet<string>, marks: ScanMarks | undefined): Promise<void> {
    for await (const rows of this.#parts.recorder.rowsBelow(directory)) {
      const unseen = rows.filter((row) => marks?.has(row.number) !== true && !liesBelow(row.path, directory, leftOut));
      if (unseen.length > 0) await this.look(unseen.map((row) => row.path));
    }
  }

  /** Those that real-time monitoring is for. */
  #asked(paths: readonly string[]): AskedEntry[] {
    const { silent, hold } = this.#parts;
    const view = this.#parts.view();
    const asked: AskedEntry[] = [];
    for (const path of paths) {
      const directory = view.rootOf(path);
      if (directory === undefined) continue;
      if (silent(directory)) {
        hold(path);
        continue;
      }
      if (depthBelow(directory.path, path) > directory.recursionLevel) continue;
      const asFile = !view.ignore.ignores(path, false) && directory.restrict?.test(path) !== false;
      if (!asFile && view.ignore.ignores(path, true)) continue;
      asked.push({ path, directory, asFile });
    }
    return asked;
  }

  async #read(asked: readonly AskedEntry[]): Promise<(readonly [AskedEntry, EntryOutcome])[]> {
    const { threads, recorder } = this.#parts;
    this.#looked += asked.length;
    const byHashes = new Map<number, AskedEntry[]>();
    for (const one of asked) {
      const hashes = one.asFile ? one.directory.checks & ALL_HASHES : 0;
      const same = byHashes.get(hashes);
      if (same === undefined) byHashes.set(hashes, [one]);
      else same.push(one);
    }
    const readings: Promise<(readonly [AskedEntry, EntryOutcome])[]>[] = [];
    for (const [hashes, all] of byHashes) {
      for (let at = 0; at < all.length; at += FILES_AT_A_TIME) {
        const some = all.slice(at, at + FILES_AT_A_TIME);
        const paths = some.map(({ path }) => path);
        const known = some.map(({ path, asFile }) => (asFile ? recorder.known(path) : undefined));
        readings.push(
          threads.read(paths, hashes, known).then((outcomes) =>
            outcomes.flatMap((outcome, index) => {
              const one = some[index];
              return one === undefined ? [] : [[one, outcome] as const];
            }),
          ),
        );
      }
    }
    return (await Promise.all(readings)).flat();
  }

  /**
   * Links in the place of directories: what is found through them is not where its path says. A watch goes along with a
   * directory that is moved, and tells of its files by their old paths until it is ended.
   */
  async #linksAbove(read: readonly (readonly [AskedEntry, EntryOutcome])[]): Promise<ReadonlySet<string>> {
    const above = new Set<string>();
    for (const [{ path, directory }, outcome] of read) {
      if (isThere(outcome)) for (const at of directoriesAbove(path, directory.path)) above.add(at);
    }
    if (above.size === 0) return above;
    const all = [...above];
    const outcomes = await this.#parts.threads.read(all, 0);
    return new Set(all.filter((_path, index) => outcomes[index]?.kind === 'link'));
  }

  /**
   * Directories of paths that are gone, when they are gone themselves: one that comes back is new then, and is walked
   * again, even if nobody looked at it while it was away.
   */
  async #goneAbove(paths: readonly string[]): Promise<string[]> {
    const view = this.#parts.view();
    const known = new Set(paths);
    const above = new Set<string>();
    for (const path of paths) {
      const directory = path.slice(0, path.lastIndexOf('/'));
      if (!known.has(directory) && view.rootOf(directory) !== undefined) above.add(directory);
    }
    if (above.size === 0) return [];
    const all = [...above];
    const outcomes = await this.#parts.threads.read(all, 0);
    return all.filter((_directory, index) => {
      const outcome = outcomes[index];
      return outcome?.kind === 'skipped' && outcome.reason === 'vanished';
    });
  }

  /** Removes what was below paths that are no directories now. Most have never been: the watches know. */
  async #removeBelow(paths: readonly string[], ticket: number): Promise<void> {
    if (paths.length === 0) return;
    const { watcher, recorder, isUnwatched } = this.#parts;
    const view = this.#parts.view();
    const directories = new Set(await watcher.unwatch(paths));
    for (const path of paths) {
      const root = view.rootOf(path);
      if (root !== undefined && isUnwatched(path, root)) directories.add(path);
    }
    for (const path of directories) {
      for await (const rows of recorder.rowsBelow(path)) await this.#removeRows(rows, ticket);
    }
  }

  async #removeRows(rows: readonly (FileRow | undefined)[], ticket: number): Promise<void> {
    const view = this.#parts.view();
    // Those of scheduled directories below are the scan's.
    const own = rows.filter((row) => row !== undefined && view.rootOf(row.path) !== undefined) as FileRow[];
    if (own.length === 0) return;
    const removed: RecordResult = await this.#parts.recorder.remove(own, { mode: MODE, ticket, silent: false });
    this.#parts.again(removed.overtaken);
  }
}

function isThere(outcome: EntryOutcome): boolean {
  return outcome.kind !== 'skipped' || outcome.reason === 'directory';
}

/** Whether a path lies below one of these directories, all of which lie below `top`. */
function liesBelow(path: string, top: string, directories: ReadonlySet<string>): boolean {
  if (directories.size === 0) return false;
  for (let end = path.lastIndexOf('/'); end > top.length; end = path.lastIndexOf('/', end - 1)) {
    if (directories.has(path.slice(0, end))) return true;
  }
  return false;
}
