import { MERGED_FILE } from '../../../lib/agentlink/merged-file.js';
import { isErrno } from '../../../lib/files/is-errno.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { ArConf } from './ar-conf-file.js';
import type { Breather } from './breather.js';
import { buildGroup, type ConfCheck } from './build-group.js';
import { MergedOnDisk, UnusableMergedFileError } from './merged-on-disk.js';
import { missingAgentConf } from './needed-files.js';
import { ProblemLog } from './problem-log.js';
import { type FolderScan, scanFolder, TooManyFilesError } from './scan-folder.js';
import { MAX_UNSETTLED_MS, SETTLE_MS } from './shared-limits.js';
import { sharedPath } from './shared-names.js';
import type { SharedProblem } from './shared-problem.js';

/** What a look at a group needs. */
export type GroupCheckParts = {
  readonly breather: Breather;
  readonly logger: Logger;
  readonly arConf: ArConf;
  readonly check: ConfCheck;
  /** Epoch milliseconds, the clock of the file system. */
  readonly now: () => number;
  /** Content with this sum, when it is in memory. */
  readonly held: (md5: string) => Buffer | undefined;
  /** Told of content that was just built. */
  readonly built: (md5: string, content: Buffer) => void;
};

/** What came of a look. `later`: files are being written; milliseconds until it is worth another look. */
export type GroupCheckResult =
  | { readonly kind: 'done' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'later'; readonly ms: number };

const DONE: GroupCheckResult = { kind: 'done' };

/** A group: its folder and the merged file in it. */
export class SharedGroup {
  readonly merged: MergedOnDisk;
  /** Folders of the last scan, for the watch. */
  folders: FolderScan['folders'] = new Map();
  /** Files of the last scan, relative to the folder. */
  names: ReadonlySet<string> = new Set();
  /** Whether the merged file begins with the ar.conf of all groups. */
  hasSharedArConf = false;
  readonly #problems: ProblemLog;
  #signature = '';
  /** When a look was put off first, by the monotonic clock. */
  #waitingSince: number | undefined;
  #swept = false;

  /** @param path folder, absolute */
  constructor(
    readonly name: string,
    readonly path: string,
    logger: Logger,
  ) {
    this.merged = new MergedOnDisk(path);
    this.#problems = new ProblemLog(logger, `group '${name}'`);
  }

  /**
   * Builds the merged file when anything changed since the last look.
   * @param merges whether the file is built here; otherwise it is only read
   */
  async look(looking: GroupCheckParts, merges: boolean): Promise<GroupCheckResult> {
    let scan: FolderScan;
    try {
      scan = await scanFolder(this.name, this.path, looking.breather);
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return { kind: 'gone' };
      this.#report([this.#kept(error instanceof TooManyFilesError ? error.message : describeError(error))]);
      await this.#readKept(looking);
      return DONE;
    }
    this.folders = scan.folders;
    this.names = new Set(scan.files.map(({ name }) => name));
    if (!merges) return this.#readOnly(looking);
    if (!this.#swept) this.#sweep(looking);
    const signature = `${scan.signature} ${looking.arConf.sum}`;
    if (signature === this.#signature && this.merged.isSame()) return DONE;
    const isSettled = this.#isSettled(scan, looking.now());
    if (!isSettled && this.#mayWait()) return { kind: 'later', ms: SETTLE_MS };
    const look = await this.#build(scan, looking);
    // Of what changed a moment ago the next state may look the same: it is looked at again whatever it looks like.
    this.#signature = look.kind === 'done' && look.isWhole && isSettled ? signature : '';
    if (look.kind === 'later' && this.#mayWait()) return look;
    this.#waitingSince = undefined;
    return isSettled && look.kind === 'done' ? DONE : { kind: 'later', ms: SETTLE_MS };
  }

  async #build(
    scan: FolderScan,
    looking: GroupCheckParts,
  ): Promise<{ kind: 'done'; isWhole: boolean } | { kind: 'later'; ms: number }> {
    const { arConf, check, breather, logger } = looking;
    const exists = new Set(scan.files.map(({ name }) => sharedPath(this.name, name))).add(this.#shown());
    const current = async (): Promise<Buffer | undefined> => (await this.#current(looking))?.content;
    try {
      const sources = { group: this.name, path: this.path, scan, arConf: arConf.content, check, current };
      const built = await buildGroup(sources, breather);
      if (built.kind === 'changed') {
        logger.error(`File '${built.path}' was modified after getting its size.`);
        return { kind: 'later', ms: SETTLE_MS };
      }
      this.#report(built.problems, exists);
      if (built.kind === 'refused') {
        await this.#readKept(looking);
        return { kind: 'done', isWhole: true };
      }
      if (await this.merged.write(built.content, breather, built.holdsLastGood)) {
        logger.debug(`Merged file of group '${this.name}' written: ${String(built.content.length)} bytes.`);
        if (this.merged.sum !== undefined) looking.built(this.merged.sum, built.content);
      }
      this.hasSharedArConf = arConf.content !== undefined;
      return { kind: 'done', isWhole: true };
    } catch (error) {
      this.#report([...scan.problems, this.#kept(describeError(error))], exists);
      await this.#readKept(looking);
      return { kind: 'done', isWhole: false };
    }
  }

  /** The merged file comes from elsewhere. */
  async #readOnly(looking: GroupCheckParts): Promise<GroupCheckResult> {
    this.#signature = '';
    this.hasSharedArConf = false;
    if (this.merged.isSame()) return DONE;
    try {
      const read = await this.merged.read(looking.breather);
      const problem = read === undefined ? undefined : missingAgentConf(this.name, read.content);
      this.#report(problem === undefined ? [] : [problem]);
    } catch (error) {
      this.#report([this.#kept(describeError(error))]);
    }
    return DONE;
  }

  /** Takes the merged file there is, where none could be made. */
  async #readKept(looking: GroupCheckParts): Promise<void> {
    try {
      if (!this.merged.isSame()) await this.#current(looking);
    } catch {
      // What is in the way has been said already.
    }
  }

  async #current(looking: GroupCheckParts): Promise<{ content: Buffer } | undefined> {
    try {
      return await this.merged.read(looking.breather);
    } catch (error) {
      if (error instanceof UnusableMergedFileError) return undefined;
      throw error;
    }
  }

  #isSettled({ changedAt }: FolderScan, now: number): boolean {
    // A clock that is ahead by far more than a tick says nothing.
    return changedAt <= now - SETTLE_MS || changedAt > now + MAX_UNSETTLED_MS;
  }

  /** Whether a look may still be put off. */
  #mayWait(): boolean {
    this.#waitingSince ??= performance.now();
    return performance.now() - this.#waitingSince < MAX_UNSETTLED_MS;
  }

  #sweep({ now }: GroupCheckParts): void {
    this.#swept = true;
    try {
      this.merged.sweep(now());
    } catch {
      // They are never shared: no harm but their bytes.
    }
  }

  #shown(): string {
    return sharedPath(this.name, MERGED_FILE);
  }

  #kept(reason: string): SharedProblem {
    return {
      path: this.#shown(),
      level: 'error',
      text: `The merged file of group '${this.name}' stays as it is: ${reason}`,
      mended: `The merged file of group '${this.name}' is kept up to date again.`,
    };
  }

  #report(problems: readonly SharedProblem[], exists: ReadonlySet<string> = new Set([this.#shown()])): void {
    this.#problems.report(problems, (path) => exists.has(path));
  }
}
