import { lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Logger } from '../../../lib/log/logger.js';
import type { KeptVersions } from './kept-versions.js';
import { type Manifest, ManifestError, manifestId, manifestOf } from './manifest.js';
import { mergeSets } from './merge-sets.js';
import { type LocalFile, type SetScan, SetScanner } from './scan-set.js';
import type { SetBase, SetBases } from './set-base.js';
import type { SetContents, SetRecord } from './set-contents.js';
import { SetFolder } from './set-folder.js';
import { mayGo, type SetPlace } from './set-place.js';

/** A file that never rests is taken nevertheless after this time, milliseconds. */
const MAX_UNSETTLED_MS = 2000;

/** A set as the records have it. */
export type SetInForce = { readonly revision: number; readonly record: SetRecord };

/** What is here and the cluster has not yet. */
export type LocalChange = {
  readonly place: SetPlace;
  readonly files: ReadonlyMap<string, LocalFile>;
  readonly id: string;
  /** Undefined when the cluster has no such set. */
  readonly base: SetBase | undefined;
  /** Whether it is the same by now. */
  readonly isStill: () => Promise<boolean>;
};

export type FileSetParts = {
  readonly place: SetPlace;
  readonly bases: SetBases;
  readonly contents: SetContents;
  readonly kept: KeptVersions;
  readonly logger: Logger;
  /** The set in force in the cluster, by the records this node has. */
  readonly inForce: () => SetInForce | undefined;
  /** What is here is to be in force. @returns milliseconds after which to look again; undefined when it is in force */
  readonly publish: (change: LocalChange) => Promise<number | undefined>;
  /** The folder of a group was removed here. @returns whether it is known to all */
  readonly publishRemoval: (group: string, revision: number) => Promise<boolean>;
  readonly now?: () => number;
};

/**
 * One set of files of the cluster on this node: takes over what is in force, and brings what was changed here. What lies
 * between the two is the revision that was taken over last.
 */
export class FileSet {
  readonly #parts: FileSetParts;
  readonly #scanner: SetScanner;
  readonly #folder: SetFolder;
  readonly #told = new Set<string>();
  #base: SetBase | undefined;
  #unsettledSince: number | undefined;
  #localId: string | undefined;
  #theirs: { readonly revision: number; readonly files: Manifest } | undefined;

  constructor(parts: FileSetParts) {
    this.#parts = parts;
    this.#scanner = new SetScanner(parts.place, parts.now);
    this.#folder = new SetFolder(parts);
    this.#base = parts.bases.load(parts.place);
  }

  get place(): SetPlace {
    return this.#parts.place;
  }

  get base(): SetBase | undefined {
    return this.#base;
  }

  /** Id of the files that were here at the last look. */
  get localId(): string | undefined {
    return this.#localId;
  }

  /** Whether what is here is what is in force. */
  get synced(): boolean {
    return this.#base?.revision === this.#parts.inForce()?.revision && this.#base?.id === this.#localId;
  }

  /** This node has just joined: nothing is in common with the cluster. */
  forget(): void {
    this.#base = undefined;
    this.#theirs = undefined;
  }

  /**
   * Brings both sides together, as far as it goes now.
   * @returns milliseconds after which to look again; undefined when there is nothing to do
   * @throws ScanError, ManifestError, MissingContentError, BusError, the file system's error: to be tried again
   */
  async look(): Promise<number | undefined> {
    const scan = await this.#scanner.scan();
    this.#localId = scan === undefined ? undefined : idOf(scan.files);
    if (scan !== undefined && this.#unsettled(scan)) return scan.settleMs;
    this.#tellOdd(scan?.odd ?? []);
    const inForce = this.#parts.inForce();
    if (inForce === undefined) return this.#lookAlone(scan);
    const { group } = this.place;
    if (scan === undefined && this.#base !== undefined && group !== undefined && mayGo(group)) {
      return this.#bringRemoval(group, inForce);
    }
    // What cannot go comes back.
    if (this.#base?.revision !== inForce.revision || scan === undefined) {
      const isDone = await this.#takeOver(inForce, scan);
      return isDone ? this.look() : 0;
    }
    if (this.#localId === this.#base.id) return undefined;
    return this.#publish(scan);
  }

  /** What is here, for a cluster that has no such set; undefined when there is nothing, or it is being changed. */
  async seed(): Promise<SetRecord | undefined> {
    const scan = await this.#scanner.scan();
    if (scan === undefined || scan.torn) return undefined;
    return this.#parts.contents.bring(this.place, scan.files, undefined);
  }

  /**
   * Brings contents of the set in force again that the cluster has lost, as far as they are here.
   * @param there those that it has
   * @returns whether any was missing and all are there now
   * @throws BusError `cluster_unavailable`, ScanError
   */
  async mend(there: ReadonlySet<string>): Promise<boolean> {
    const base = this.#base;
    const blob = this.#parts.inForce()?.record.blob;
    if (base === undefined || !this.synced) return false;
    const isMissing = (name: string | undefined): boolean => name !== undefined && !there.has(name);
    if (!isMissing(blob) && ![...base.files.values()].some(({ sha256 }) => isMissing(sha256))) return false;
    const scan = await this.#scanner.scan();
    if (scan === undefined || scan.torn || idOf(scan.files) !== base.id) return false;
    const known = new Map([...base.files].filter(([, { sha256 }]) => !isMissing(sha256)));
    return (await this.#parts.contents.bring(this.place, scan.files, known)) !== undefined;
  }

  /** The cluster has no such set: it is new, or was removed. */
  async #lookAlone(scan: SetScan | undefined): Promise<number | undefined> {
    const { place, bases } = this.#parts;
    const base = this.#base;
    if (base !== undefined && place.group !== undefined && mayGo(place.group)) {
      if (scan !== undefined && !(await this.#folder.remove(place.group, scan, base))) return 0;
      this.#base = undefined;
      bases.forget(place.key);
      return undefined;
    }
    this.#base = undefined;
    return scan === undefined ? undefined : this.#publish(scan);
  }

  async #publish(scan: SetScan): Promise<number | undefined> {
    const { place, publish } = this.#parts;
    const id = idOf(scan.files);
    const isStill = async () => {
      const now = await this.#scanner.scan();
      return now !== undefined && !now.torn && idOf(now.files) === id;
    };
    return publish({ place, files: scan.files, id, base: this.#base, isStill });
  }

  /** What was published is in force: what is here and what the cluster has are the same. */
  async published(revision: number, files: ReadonlyMap<string, LocalFile>): Promise<void> {
    const manifest = manifestOf(this.place, [...files.values()]);
    await this.#keep({ revision, id: manifestId(manifest), files: manifest });
  }

  async #bringRemoval(group: string, { revision }: SetInForce): Promise<number | undefined> {
    // Where etc/shared itself is not what it was, a folder that is not seen was not removed.
    if (!isFolder(join(dirname(this.place.folder), 'default'))) {
      throw new ManifestError('etc/shared/default is missing: what is not in etc/shared is not taken for removed');
    }
    if (!(await this.#parts.publishRemoval(group, revision))) return 0;
    this.#base = undefined;
    this.#parts.bases.forget(this.place.key);
    return undefined;
  }

  /** @returns false when files here changed meanwhile */
  async #takeOver(inForce: SetInForce, scan: SetScan | undefined): Promise<boolean> {
    const { contents, place, logger } = this.#parts;
    const { revision, record } = inForce;
    if (this.#theirs?.revision !== revision) {
      this.#theirs = { revision, files: await contents.manifest(place, record) };
    }
    const theirs = this.#theirs.files;
    const plan = mergeSets(scan === undefined ? undefined : this.#base?.files, theirs, manifestOfScan(scan));
    if (scan === undefined) {
      await this.#folder.make(theirs);
    } else {
      const from = { node: record.node, isFirst: this.#base === undefined };
      if (!(await this.#folder.change(plan, theirs, scan, from))) return false;
    }
    await this.#keep({ revision, id: record.id, files: theirs });
    const { write, remove } = plan;
    if (write.length + remove.length > 0) {
      logger.info(
        `${place.shown}: taken over from node '${record.node}' (revision ${String(revision)}): ${String(write.length)} ` +
          `files written, ${String(remove.length)} removed.`,
      );
    }
    return true;
  }

  async #keep(base: SetBase): Promise<void> {
    await this.#parts.bases.keep(this.place, base);
    this.#base = base;
  }

  #unsettled({ settleMs, torn }: SetScan): boolean {
    if (settleMs === 0) {
      this.#unsettledSince = undefined;
      return false;
    }
    this.#unsettledSince ??= performance.now();
    return torn || performance.now() - this.#unsettledSince < MAX_UNSETTLED_MS;
  }

  #tellOdd(odd: readonly string[]): void {
    for (const text of odd) if (!this.#told.has(text)) this.#parts.logger.warn(text);
    this.#told.clear();
    for (const text of odd) this.#told.add(text);
  }
}

function manifestOfScan(scan: SetScan | undefined): Manifest {
  return scan?.files ?? new Map<string, LocalFile>();
}

function idOf(files: ReadonlyMap<string, LocalFile>): string {
  return manifestId(files);
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
