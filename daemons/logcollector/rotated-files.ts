import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { Logger } from '../../lib/log/logger.js';
import type { FoundFile, FoundPaths } from './file-finder.js';
import { identityOf, inodeKey, isSameInode, lookAt } from './file-identity.js';
import type { FileOpener, OpenReason } from './file-opener.js';
import type { FileSource } from './file-source.js';
import { hashHead } from './fingerprint.js';
import type { FollowedFile } from './followed-file.js';
import { findPassedOver, findRotated, type RotatedFile } from './passed-over.js';
import type { SavedFile } from './position-store.js';
import { isSavedFile } from './resume-point.js';
import { findRenamed, type SavedPositions } from './saved-positions.js';

/** Bytes before a position that must be there for them to prove anything, as hex digits. */
const MIN_PROOF_DIGITS = 32;
const NONE: ReadonlySet<string> = new Set();

export type RotatedFilesParts = {
  readonly opener: FileOpener;
  readonly openFile: (path: string) => Promise<FileHandle>;
  readonly saved: SavedPositions;
  /** Whether a file is open, under whatever name. */
  readonly isOpen: (stats: BigIntStats) => boolean;
  /** The source under which a file was followed, if it is still there. */
  readonly sourceOf: (saved: SavedFile) => FileSource | undefined;
  /** Takes a file that was opened among those that are read to their end. Called before its earlier position is forgotten. */
  readonly retire: (file: FollowedFile) => void;
  readonly logger: Logger;
};

/** Files that lost their name while nobody looked, opened. */
export type RotatedFound = {
  readonly opened: FollowedFile[];
  /** Names were exchanged meanwhile: another look is due. */
  readonly again: boolean;
};

/** Finds what rotation took away between two looks, or two runs, and opens it to be read to its end. */
export class RotatedFiles {
  readonly #parts: RotatedFilesParts;
  /** Inodes that were taken up after an open file: they may be read and forgotten before it is closed. */
  readonly #taken = new WeakMap<FollowedFile, Set<string>>();

  constructor(parts: RotatedFilesParts) {
    this.#parts = parts;
  }

  /**
   * Opens files that were followed and renamed, and such as had a followed name for a while; the oldest first.
   * @param retired open files without a followed name
   */
  async open(finding: FoundPaths, retired: Iterable<FollowedFile>): Promise<RotatedFound> {
    const { logger, saved: positions } = this.#parts;
    const opened: FollowedFile[] = [];
    let again = false;
    for (const file of retired) {
      const taken = this.#taken.get(file) ?? new Set();
      this.#taken.set(file, taken);
      const saved = await file.saved().catch(() => undefined);
      if (saved !== undefined) {
        const last = { ...saved, seen: String(file.seenAt) };
        opened.push(...(await this.#openPassedOver(last, file.source, finding, taken)));
      }
    }
    const found = new Set([...finding.files.values()].map(({ stats }) => inodeKey(identityOf(stats))));
    const left = [...positions.except(found)];
    // Those whose position is forgotten here are no less known to the ones behind them.
    const before = new Set(left.map(({ device = '', inode = '' }) => inodeKey({ device, inode })));
    for (const saved of left) {
      const source = this.#parts.sourceOf(saved);
      const renamed = source === undefined ? 'away' : findRenamed(saved);
      if (source === undefined || renamed === 'away') {
        continue;
      }
      if (renamed !== 'gone' && renamed.stats.size > BigInt(saved.offset) && !this.#parts.isOpen(renamed.stats)) {
        const file = await this.#open({ ...renamed, source }, 'renamed', saved);
        if (file === 'exchanged') {
          again = true;
          continue;
        }
        if (file !== undefined) {
          logger.info(`'${saved.path}' was renamed to '${renamed.path}': what is left of it is read.`);
          opened.push(file);
        }
      }
      positions.delete(saved);
      if (saved.rotated !== true) {
        opened.push(...(await this.#openPassedOver(saved, source, finding, before)));
      }
    }
    return { opened, again };
  }

  /**
   * Files that had the name of another one after it, and lost it before somebody looked.
   * @param taken inodes that are left out; those that are opened are added
   */
  async #openPassedOver(
    saved: SavedFile,
    source: FileSource,
    finding: FoundPaths,
    taken: Set<string>,
  ): Promise<FollowedFile[]> {
    const { path, seen, born, device, inode } = saved;
    const present = lookAt(path);
    if (seen === undefined || born === undefined || device === undefined || inode === undefined) {
      return [];
    }
    if (present !== undefined && isSameInode({ device, inode }, present)) {
      return [];
    }
    const followed = [...finding.files.values()].map(({ stats }) => inodeKey(identityOf(stats)));
    const known = new Set([...followed, ...taken, inodeKey({ device, inode })]);
    const opened: FollowedFile[] = [];
    for (const candidate of findPassedOver(path, { seen: Number(seen), born: BigInt(born) }, present?.birthtimeNs)) {
      if (this.#isKnown(candidate.stats, known) || (await this.#isCopy(candidate.path, saved))) {
        continue;
      }
      const file = await this.#open({ ...candidate, source }, 'appeared', undefined);
      if (file !== 'exchanged' && file !== undefined) {
        taken.add(inodeKey(file.identity));
        this.#parts.logger.info(`'${candidate.path}' had the name '${path}' for a while: it is read.`);
        opened.push(file);
      }
    }
    return opened;
  }

  #isKnown(stats: BigIntStats, inodes: ReadonlySet<string>): boolean {
    return inodes.has(inodeKey(identityOf(stats))) || this.#parts.saved.has(stats) || this.#parts.isOpen(stats);
  }

  /**
   * The copy that was made of a file before it was cut (copytruncate), when it holds more than was read: it has the same
   * bytes up to there.
   * @param saved how far the file was read before
   */
  async findCopy(saved: SavedFile): Promise<RotatedFile | undefined> {
    if (Number(saved.hashed ?? 0) === 0 && (saved.tail ?? '').length < MIN_PROOF_DIGITS) {
      return undefined;
    }
    for (const candidate of findRotated(saved.path)) {
      if (candidate.stats.size > BigInt(saved.offset) && !this.#isKnown(candidate.stats, NONE)) {
        const same = await this.#holds(candidate, saved);
        if (same) {
          return candidate;
        }
      }
    }
    return undefined;
  }

  /** Opens the copy of a file that was cut, where the file was left; undefined when there is none. */
  async openCopy(saved: SavedFile, source: FileSource): Promise<FollowedFile | undefined> {
    const copy = await this.findCopy(saved);
    const file = copy === undefined ? undefined : await this.#open({ ...copy, source }, 'copy', saved);
    if (file === undefined || file === 'exchanged') {
      return undefined;
    }
    this.#parts.logger.info(`'${saved.path}' was copied to '${file.path}' and cut: what is left of it is read there.`);
    return file;
  }

  async #holds({ path, stats }: RotatedFile, saved: SavedFile): Promise<boolean> {
    let handle: FileHandle | undefined;
    try {
      handle = await this.#parts.openFile(path);
      return await isSavedFile(handle, stats, saved);
    } catch {
      return false;
    } finally {
      await handle?.close();
    }
  }

  async #open(
    found: FoundFile,
    occasion: OpenReason,
    saved: SavedFile | undefined,
  ): Promise<FollowedFile | 'exchanged' | undefined> {
    const file = await this.#parts.opener.open(found, occasion, saved);
    if (file !== undefined && file !== 'exchanged') {
      this.#parts.retire(file);
    }
    return file;
  }

  /** Whether a file begins as another one: some rotate by a copy. One that cannot be read is not asked for again. */
  async #isCopy(path: string, { hash, hashed }: SavedFile): Promise<boolean> {
    const length = Number(hashed ?? 0);
    if (length === 0) {
      return false;
    }
    let handle: FileHandle | undefined;
    try {
      handle = await this.#parts.openFile(path);
      return (await hashHead(handle, length)) === hash;
    } catch {
      return true;
    } finally {
      await handle?.close();
    }
  }
}
