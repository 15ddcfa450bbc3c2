import { closeSync, constants } from 'node:fs';
import { isErrno } from '../../../lib/files/is-errno.js';
import { bytesOf, readable } from '../../../lib/fim/byte-order.js';
import { EMPTY_HASHES } from '../../../lib/fim/entry-checksum.js';
import type { FileCalls } from '../../../lib/fim/scan/file-calls.js';
import { compareContents, type Content } from './compare-contents.js';
import type { ContentChange } from './content-changes.js';
import { CopyWriter, DamagedCopyError, PIECE_BYTES, unpackCopy } from './copy-format.js';
import type { CopyStore, StoredCopy } from './copy-store.js';
import type { ChangeRules, DiffNotice, PreparedText } from './diff-protocol.js';
import { NO_DIFF } from './diff-text.js';
import { DiskQuota } from './disk-quota.js';
import { liesAt } from './path-of-descriptor.js';

const KILOBYTE = 1024;
const { S_IFMT, S_IFREG } = constants;

/** What the old content is called where a file is not text. */
const OLD_NAME = 'queue/diff/tmp/tmp-entry';

/** What is to be done to the copy of a file once its change is on disk. */
type KeepingStep =
  | { readonly kind: 'put'; readonly path: string; readonly name: string; readonly reserved: number }
  | { readonly kind: 'remove'; readonly path: string };

type ChangeText = { readonly text: string | undefined; readonly step?: KeepingStep };

/** A file as it was copied. */
type Copied =
  | {
      readonly kind: 'copied';
      readonly name: string;
      readonly md5: string;
      readonly size: number;
      readonly whole: Buffer | undefined;
    }
  /** Larger than the file limit, than the room there is, or not to be read. */
  | { readonly kind: 'too_large' | 'no_room' | 'unreadable' };

const NOTHING: ChangeText = { text: undefined };

/**
 * Finds out what changed in files, one after the other, with calls that block: made for a thread of its own. What is
 * compared with the old copy is the new copy: a file that is written to meanwhile shows the rest in its next change.
 */
export class ChangeMaker {
  readonly #store: CopyStore;
  readonly #calls: FileCalls;
  readonly #notify: (notice: DiffNotice) => void;
  readonly #quota = new DiskQuota();
  readonly #steps = new Map<number, KeepingStep>();
  readonly #piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
  #lastToken = 0;
  #measured = false;
  #quotaTold = false;
  #troubleTold = false;

  constructor(store: CopyStore, calls: FileCalls, notify: (notice: DiffNotice) => void) {
    this.#store = store;
    this.#calls = calls;
    this.#notify = notify;
  }

  /** A scan begins: takes the size of all copies anew, and lets what was told once be told again. */
  measure(): void {
    this.#quotaTold = false;
    this.#troubleTold = false;
    this.#attempt('measured', () => {
      this.#quota.measured(this.#store.measure());
      this.#measured = true;
    });
  }

  /** Never throws: of what goes wrong with a file there is no text. */
  async prepare(change: ContentChange, rules: ChangeRules): Promise<PreparedText> {
    if (!this.#measured) this.measure();
    let outcome = NOTHING;
    try {
      outcome = await this.#change(change, rules);
    } catch (error) {
      this.#trouble(`The changes of '${readable(change.path)}' cannot be told`, error);
    }
    const { text, step } = outcome;
    if (step === undefined) return { text, token: 0 };
    this.#steps.set(++this.#lastToken, step);
    return { text, token: this.#lastToken };
  }

  /** @param settled the change is on disk; otherwise it did not come to be */
  finish(token: number, settled: boolean): void {
    const step = this.#steps.get(token);
    this.#steps.delete(token);
    if (step === undefined) return;
    if (step.kind === 'remove') {
      if (settled) this.removePaths([step.path]);
      return;
    }
    this.#quota.reserve(-step.reserved);
    if (!settled) this.#drop(step.name);
    else if (!this.#attempt(`of '${readable(step.path)}' put in place`, () => this.#put(step))) this.#drop(step.name);
  }

  removePaths(paths: readonly string[]): void {
    this.removeNames(paths.map((path) => this.#store.nameOf(path)));
  }

  /** @param names of copies */
  removeNames(names: readonly string[]): void {
    for (const name of names) {
      this.#attempt('removed', () => {
        this.#quota.changed(-this.#store.remove(name));
      });
    }
  }

  /** Drops the copies that nobody waits for any more. */
  dropWaiting(): void {
    this.#attempt('that waited removed', () => {
      this.#store.dropWaiting();
    });
  }

  /** The next of a walk; undefined at its end, which is also where it cannot go on. */
  next(names: Iterator<readonly string[]>): readonly string[] | undefined {
    let next: readonly string[] | undefined;
    this.#attempt('listed', () => {
      const { done, value } = names.next() as IteratorResult<readonly string[], undefined>;
      next = done === true ? undefined : value;
    });
    return next;
  }

  /** The table of 3.10, in its order. */
  async #change(change: ContentChange, rules: ChangeRules): Promise<ChangeText> {
    const { path, root, type, size, limit } = change;
    const most = rules.fileSizeLimited ? limit * KILOBYTE : Number.POSITIVE_INFINITY;
    const tell = (text: string): string | undefined => (type === 'modified' ? text : undefined);
    if (size > most) return { text: tell(NO_DIFF.fileSize), step: { kind: 'remove', path } };
    const stored = this.#store.find(path);
    const room = (rules.quota ?? Number.POSITIVE_INFINITY) - this.#quota.used + (stored?.size ?? 0);
    if (this.#quota.estimate(size) > room) return { text: tell(this.#full(path, rules)) };
    // The file is still what its copy is: neither is read. Its copy takes no more room than it does.
    if (stored?.md5 !== undefined && stored.md5 === knownMd5(change) && stored.size <= room) {
      return { text: tell(NO_DIFF.noChanges) };
    }
    const copied = await this.#copy({ path, root }, most, room);
    switch (copied.kind) {
      case 'unreadable':
        return NOTHING;
      case 'too_large':
        return { text: tell(NO_DIFF.fileSize), step: { kind: 'remove', path } };
      case 'no_room':
        return { text: tell(this.#full(path, rules)) };
      case 'copied':
        return this.#compare(change, rules, stored, copied);
    }
  }

  async #compare(
    { path, type }: ContentChange,
    { nodiff }: ChangeRules,
    stored: StoredCopy | undefined,
    copied: Extract<Copied, { kind: 'copied' }>,
  ): Promise<ChangeText> {
    const modified = type === 'modified';
    const keep = (text: string): ChangeText => {
      this.#drop(copied.name);
      return { text: modified ? text : undefined };
    };
    const replace = (text: string): ChangeText => {
      const reserved = copied.size - (stored?.size ?? 0);
      this.#quota.reserve(reserved);
      return { text: modified ? text : undefined, step: { kind: 'put', path, name: copied.name, reserved } };
    };
    try {
      if (stored === undefined) return replace(NO_DIFF.noPrevious);
      if (stored.md5 === copied.md5) return keep(NO_DIFF.noChanges);
      // What a copy of ours says of itself is known to differ here: only its changes are worth unpacking it for.
      if (stored.md5 !== undefined && nodiff) return keep(NO_DIFF.nodiff);
      if (stored.md5 !== undefined && !modified) return replace('');
      const after = copied.whole === undefined ? unpackCopy(this.#store.waiting(copied.name)) : only(copied.whole);
      const text = await compareContents(unpackCopy(stored.path), after, { before: OLD_NAME, after: path });
      if (text === '') return keep(NO_DIFF.noChanges);
      return nodiff ? keep(NO_DIFF.nodiff) : replace(text);
    } catch (error) {
      const damaged = error instanceof DamagedCopyError || isErrno(error, 'ENOENT');
      if (damaged) return replace(NO_DIFF.noPrevious);
      this.#drop(copied.name);
      throw error;
    }
  }

  /**
   * Copies a file as it is now: never through a link, in the place of a directory above it either, nothing but a regular
   * file, and no more than it had when it was opened.
   * @param most bytes of the file @param room bytes of the copy
   */
  async #copy({ path, root }: Pick<ContentChange, 'path' | 'root'>, most: number, room: number): Promise<Copied> {
    let from: number;
    try {
      from = this.#calls.open(bytesOf(path));
    } catch (error) {
      this.#unreadable(path, error);
      return { kind: 'unreadable' };
    }
    try {
      const stats = this.#calls.fstat(from);
      if ((Number(stats.mode) & S_IFMT) !== S_IFREG) return { kind: 'unreadable' };
      if (!liesAt(from, path, root)) {
        this.#unreadable(path, new Error('it is not where its path leads any more'));
        return { kind: 'unreadable' };
      }
      const size = Number(stats.size);
      if (size > most) return { kind: 'too_large' };
      const { name, fd } = this.#store.create();
      let copied: Copied = { kind: 'unreadable' };
      try {
        copied = await this.#pack({ path, from, size }, { name, fd }, room);
        return copied;
      } finally {
        closeSync(fd);
        if (copied.kind !== 'copied') this.#drop(name);
      }
    } finally {
      this.#calls.close(from);
    }
  }

  async #pack(
    file: { readonly path: string; readonly from: number; readonly size: number },
    { name, fd }: { readonly name: string; readonly fd: number },
    room: number,
  ): Promise<Copied> {
    const writer = new CopyWriter(fd);
    try {
      let plain = 0;
      let md5: string | undefined;
      let whole: Buffer | undefined;
      for (;;) {
        const length = this.#read(file.path, file.from, Math.min(file.size - plain, PIECE_BYTES));
        if (length === undefined) return { kind: 'unreadable' };
        const piece = this.#piece.subarray(0, length);
        plain += length;
        if (plain === length && (length === file.size || length === 0)) {
          whole = Buffer.from(piece);
          md5 = writer.only(whole);
          break;
        }
        if (length > 0) await writer.push(piece);
        if (length === 0 || plain >= file.size || writer.written > room) break;
      }
      if (writer.written <= room) md5 ??= await writer.finish();
      this.#quota.learn(plain, writer.written);
      if (md5 === undefined || writer.written > room) return { kind: 'no_room' };
      return { kind: 'copied', name, md5, size: writer.written, whole };
    } finally {
      writer.destroy();
    }
  }

  /** Undefined when it cannot be read. */
  #read(path: string, from: number, length: number): number | undefined {
    if (length === 0) return 0;
    try {
      return this.#calls.read(from, this.#piece, length);
    } catch (error) {
      this.#unreadable(path, error);
      return undefined;
    }
  }

  #put({ name, path }: { readonly name: string; readonly path: string }): void {
    this.#quota.changed(this.#store.put(name, path));
  }

  #drop(name: string): void {
    this.#attempt('that is not needed removed', () => {
      this.#store.drop(name);
    });
  }

  /** Says once a scan that the quota is reached. */
  #full(path: string, { quota = 0 }: ChangeRules): string {
    const text = `The copies of report_changes have reached their quota of ${Math.floor(quota / KILOBYTE)} KB`;
    if (!this.#quotaTold) {
      this.#notify({ level: 'warn', text: `${text}: no changes of '${readable(path)}' and of others.` });
    }
    this.#quotaTold = true;
    return NO_DIFF.diskQuota;
  }

  /** The scan says so itself when a file cannot be read. */
  #unreadable(path: string, error: unknown): void {
    this.#notify({ level: 'debug', text: `No changes of '${readable(path)}': ${reasonOf(error)}` });
  }

  /** @returns whether it worked */
  #attempt(what: string, action: () => void): boolean {
    try {
      action();
      return true;
    } catch (error) {
      this.#trouble(`Copies of report_changes could not be ${what}`, error);
      return false;
    }
  }

  /** The first of a scan is a warning: a disk that is full would make one of every file. */
  #trouble(text: string, error: unknown): void {
    this.#notify({ level: this.#troubleTold ? 'debug' : 'warn', text: `${text}: ${reasonOf(error)}` });
    this.#troubleTold = true;
  }
}

/** MD5 of the content; an empty one of a file that is not empty says only that it was not read. */
function knownMd5({ md5, size }: ContentChange): string | undefined {
  return size > 0 && md5 === EMPTY_HASHES.md5 ? undefined : md5;
}

async function* only(piece: Buffer): Content {
  await Promise.resolve();
  if (piece.length > 0) yield piece;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
