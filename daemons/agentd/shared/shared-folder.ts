import { hash, randomBytes } from 'node:crypto';
import { lstat, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MAX_PUSHED_BYTES } from '../../../lib/agentlink/file-push.js';
import { MERGED_FILE, mergedSum } from '../../../lib/agentlink/merged-file.js';
import { ifPresent } from '../../../lib/files/if-present.js';
import { syncDirectoryWherePossible } from '../../../lib/files/sync-directory.js';
import { writeFileDurably } from '../../../lib/files/write-file-durably.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import { PENDING_FILE, planUnpack, type UnpackPlan } from './unpack-plan.js';

const FILE_MODE = 0o660;
const FOLDER_MODE = 0o770;
const CONFIGURATION = 'agent.conf';
const STAGING = /^\.unpack-|^merged\.mg\.new\..+\.tmp$/;
/** Files written at a time: each waits for the disk. */
const PARALLEL = 16;

/** Steps of an installation, in their order. */
export type InstallStep = 'stage' | 'keep' | 'place' | 'clean' | 'commit';

export type SharedFolderParts = {
  /** The agent's etc/shared. */
  readonly root: string;
  readonly logger: Logger;
  /** Called before each step on a path; tests fail or hang here as a disk or a killed process does. */
  readonly before?: (step: InstallStep, path: string) => void | Promise<void>;
};

/** MD5 sums as a keepalive tells them; undefined: there is no such file. */
export type SharedSums = { readonly merged: string | undefined; readonly config: string | undefined };

const NO_SUMS: SharedSums = { merged: undefined, config: undefined };

/**
 * The files an agent shares with its group: unpacks what the manager pushes (agents-and-groups.md 6.9) so that the sum
 * told to the manager is always that of what lies there.
 *
 * All contents are first written beside the old ones: a full disk changes nothing. Then the new merged file is kept
 * under a name of its own, contents are renamed into place, others removed, and at last it gets its name. While the
 * other name exists no sum is told, and a start takes the installation up again.
 */
export class SharedFolder {
  readonly #root: string;
  readonly #logger: Logger;
  readonly #before: (step: InstallStep, path: string) => void | Promise<void>;
  #sums: SharedSums = NO_SUMS;

  constructor({ root, logger, before = () => {} }: SharedFolderParts) {
    this.#root = root;
    this.#logger = logger;
    this.#before = before;
  }

  /** Of what is unpacked. */
  get sums(): SharedSums {
    return this.#sums;
  }

  /** Finishes an installation that was interrupted. What is wrong is logged: the agent connects all the same. */
  async open(): Promise<void> {
    try {
      await this.#checkRoot();
      for (const name of await readdir(this.#root)) {
        if (STAGING.test(name)) await this.#remove(name);
      }
      const pending = await this.#read(PENDING_FILE);
      if (pending === undefined) {
        const [merged, config] = [await this.#read(MERGED_FILE), await this.#read(CONFIGURATION)];
        this.#sums = { merged: merged && mergedSum(merged), config: config && md5(config) };
      } else {
        this.#logger.info('Unpacking of shared files was interrupted: it is finished now.');
        await this.install(pending);
      }
    } catch (error) {
      this.#logger.error(`Shared files in '${this.#root}': ${describeError(error)}`);
    }
  }

  /**
   * Puts the contents of a merged file in place. Not to be called twice at a time.
   * @throws MergedFileError or the file system's error; what lay there then stays, unless the error came in the middle
   *   of renaming: then no sum is told
   */
  async install(content: Buffer): Promise<void> {
    const plan = planUnpack(content);
    await this.#checkRoot();
    const staging = `.unpack-${String(process.pid)}-${randomBytes(4).toString('hex')}`;
    try {
      await this.#stage(staging, plan);
      await this.#before('keep', PENDING_FILE);
      await writeFileDurably(this.#path(PENDING_FILE), content, { mode: FILE_MODE });
      this.#sums = NO_SUMS;
      await this.#place(staging, plan);
    } finally {
      await this.#remove(staging).catch(() => {});
    }
    await this.#clean(plan);
    await this.#commit(plan);
    const config = plan.files.get(CONFIGURATION);
    this.#sums = { merged: mergedSum(content), config: config && md5(config) };
  }

  /** Nothing is written through a link to somewhere else. */
  async #checkRoot(): Promise<void> {
    await mkdir(this.#root, { recursive: true, mode: FOLDER_MODE });
    if (!(await lstat(this.#root)).isDirectory()) throw new Error(`'${this.#root}' is not a directory`);
  }

  async #stage(staging: string, plan: UnpackPlan): Promise<void> {
    await mkdir(this.#path(staging), { mode: FOLDER_MODE });
    const files = [...plan.files].map(([name, content], index) => ({ name, content, index }));
    for (let at = 0; at < files.length; at += PARALLEL) {
      // All of them have ended when the first failure is told: what is removed then does not come back.
      const results = await Promise.allSettled(
        files.slice(at, at + PARALLEL).map(async ({ name, content, index }) => {
          await this.#before('stage', name);
          const file = await open(this.#path(staging, String(index)), 'wx', FILE_MODE);
          try {
            // Whatever the umask says.
            await file.chmod(FILE_MODE);
            await file.writeFile(content);
            await file.sync();
          } finally {
            await file.close();
          }
        }),
      );
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    }
  }

  async #place(staging: string, plan: UnpackPlan): Promise<void> {
    for (const folder of plan.folders) {
      await this.#before('place', folder);
      if ((await this.#kind(folder)) === 'folder') continue;
      await this.#remove(folder);
      await mkdir(this.#path(folder), { mode: FOLDER_MODE });
      const made = await open(this.#path(folder), 'r');
      await made.chmod(FOLDER_MODE).finally(() => made.close());
    }
    let index = 0;
    for (const name of plan.files.keys()) {
      await this.#before('place', name);
      if ((await this.#kind(name)) === 'folder') await this.#remove(name);
      await rename(this.#path(staging, String(index)), this.#path(name));
      index += 1;
    }
  }

  /** Removes what the merged file does not hold; a failure leaves a file too many and is no reason to stop. */
  async #clean(plan: UnpackPlan): Promise<void> {
    try {
      for (const folder of ['', ...plan.folders]) {
        await this.#before('clean', folder);
        for (const { name } of await readdir(this.#path(folder), { withFileTypes: true })) {
          const path = folder === '' ? name : `${folder}/${name}`;
          if (path === MERGED_FILE || path === PENDING_FILE) continue;
          if (!plan.files.has(path) && !plan.folders.has(path)) await this.#remove(path);
        }
      }
    } catch (error) {
      this.#logger.warn(`Could not clean up shared directory. ${describeError(error)}`);
    }
  }

  async #commit(plan: UnpackPlan): Promise<void> {
    for (const folder of plan.folders) await syncDirectoryWherePossible(this.#path(folder));
    await syncDirectoryWherePossible(this.#root);
    await this.#before('commit', MERGED_FILE);
    // Something that is no file may lie under its name.
    if ((await this.#kind(MERGED_FILE)) === 'folder') await this.#remove(MERGED_FILE);
    await rename(this.#path(PENDING_FILE), this.#path(MERGED_FILE));
    await syncDirectoryWherePossible(this.#root);
  }

  async #kind(path: string): Promise<'folder' | 'other' | 'none'> {
    const stats = await ifPresent(() => lstat(this.#path(path)));
    if (stats === undefined) return 'none';
    return stats.isDirectory() ? 'folder' : 'other';
  }

  /** Links are removed, never followed. */
  async #remove(path: string): Promise<void> {
    await rm(this.#path(path), { recursive: true, force: true });
  }

  /** Content of a file; undefined when there is none. */
  async #read(name: string): Promise<Buffer | undefined> {
    const path = this.#path(name);
    if ((await this.#kind(name)) !== 'other') return undefined;
    const status = await stat(path);
    if (!status.isFile() || status.size > MAX_PUSHED_BYTES) throw new Error(`'${path}' is no file of shared files`);
    return readFile(path);
  }

  #path(...names: readonly string[]): string {
    return join(this.#root, ...names);
  }
}

function md5(content: Buffer): string {
  return hash('md5', content, 'hex');
}
