import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, mkdtemp, open, readdir, realpath, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { groupName } from '../bus/contracts/db-groups.js';
import { ifPresent } from '../files/if-present.js';
import { isErrno } from '../files/is-errno.js';
import { syncDirectory } from '../files/sync-directory.js';
import { writeFileDurably } from '../files/write-file-durably.js';
import type { Home } from '../home/home.js';
import { readHomeRecord } from '../home/home-record.js';
import { GroupError } from './group-error.js';
import { hashSharedFile, readSharedFile } from './shared-file.js';

/** Where the folders of groups are, below the home (agents-and-groups.md 6.1). */
const SHARED = 'etc/shared';
const TEMPLATE_FILE = 'agent-template.conf';
const CONFIGURATION_FILE = 'agent.conf';
/** Status of active responses, for every group. */
const AR_FILE = 'ar.conf';
/** Lists that agents of 4.x look for in what their group shares with them: a new group begins with those of `default`. */
const LISTS = ['rootkit_files.txt', 'rootkit_trojans.txt'];
const DEFAULT_GROUP = 'default';
/** What a group without any template begins with (6.1). */
const EMPTY_CONFIGURATION = '<agent_config>\n\n  <!-- Shared agent configuration here -->\n\n</agent_config>\n';

const FOLDER_MODE = 0o770;
const FILE_MODE = 0o660;
/** Folders on their way in and out. No group has such a name, so nobody takes them for one. */
const INCOMING = '#new-';
const OUTGOING = '#old-';
/** Age at which such a folder was left behind by a process that died, milliseconds. */
const LEFT_BEHIND_MS = 600_000;
/** Deepest folder of a group, and most entries: listing them must end somewhere. */
const MAX_DEPTH = 16;
const MAX_ENTRIES = 65_536;

export type GroupFile = { readonly filename: string; readonly hash: string };

/** Whether a name may be that of a group (agents-and-groups.md 10.3). */
export function isGroupName(name: string): boolean {
  return groupName.safeParse(name).success;
}

/** A hidden folder belongs to some other program, version control for example: it is no group (6.1). */
function isReserved(name: string): boolean {
  return name.startsWith('.');
}

/**
 * The folders of `etc/shared`, for whoever changes groups: the API and agent_groups. A group appears and goes away as a
 * whole. Symbolic links are no groups, and none is followed on the way to a file.
 */
export class GroupFolders {
  readonly #home: Home;
  readonly #shared: string;

  /** @param now epoch milliseconds */
  constructor(
    home: Home,
    private readonly now: () => number = Date.now,
  ) {
    this.#home = home;
    this.#shared = home.path(SHARED);
  }

  /** Names of all groups, in byte order. */
  async list(): Promise<string[]> {
    const entries = await entriesOf(this.#shared);
    return entries.filter((entry) => entry.isDirectory() && mayBeGroup(entry.name)).map(({ name }) => name);
  }

  async exists(group: string): Promise<boolean> {
    return mayBeGroup(group) && (await kindOf(join(this.#shared, group))) === 'folder';
  }

  /**
   * Makes the folder with a copy of the template as agent.conf, and of the rootkit lists that `default` has.
   * @throws GroupError `invalid_name`, `reserved_name`, `group_exists`, `taken_by_file`, `unreadable_file` for the template
   */
  async create(group: string): Promise<void> {
    if (!isGroupName(group)) throw new GroupError('invalid_name', `'${group}' is no name of a group`);
    if (isReserved(group)) throw new GroupError('reserved_name', `'${group}' would be hidden, and no group`);
    const target = join(this.#shared, group);
    refuseTaken(group, await kindOf(target));
    const files = [{ name: CONFIGURATION_FILE, content: await this.#template() }, ...(await this.#lists())];
    await mkdir(this.#shared, { recursive: true, mode: FOLDER_MODE });
    await this.#sweep();
    const folder = await mkdtemp(join(this.#shared, INCOMING));
    try {
      for (const { name, content } of files) {
        const path = join(folder, name);
        await writeFileDurably(path, content, { mode: FILE_MODE });
        await this.#give(path, FILE_MODE);
      }
      await this.#give(folder, FOLDER_MODE);
      await rename(folder, target);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOTEMPTY' || code === 'EEXIST') refuseTaken(group, 'folder');
      if (code === 'ENOTDIR') refuseTaken(group, 'other');
      throw error;
    }
    await syncDirectory(this.#shared);
  }

  /**
   * Removes the folder with everything in it; of a link in it the link.
   * @throws GroupError `default_group`, `unknown_group`
   */
  async remove(group: string): Promise<void> {
    if (group === DEFAULT_GROUP) throw new GroupError('default_group', `The group '${group}' cannot be removed`);
    const folder = await this.#folder(group);
    await this.#sweep();
    const outgoing = join(this.#shared, OUTGOING + randomBytes(8).toString('hex'));
    try {
      await rename(folder, outgoing);
    } catch (error) {
      throw isErrno(error, 'ENOENT') ? unknownGroup(group) : error;
    }
    await syncDirectory(this.#shared);
    await rm(outgoing, { recursive: true, force: true });
  }

  /**
   * All files of a group with their sums, in byte order of their names, ar.conf of etc/shared last.
   * @param algorithm as the API names it (rest-api.md 6.3)
   * @throws GroupError `unknown_group`, `unreadable_file`, `too_many_files`
   */
  async files(group: string, algorithm: string): Promise<GroupFile[]> {
    const folder = await this.#folder(group);
    const found = { names: [], entries: 0 };
    await walk(folder, '', 0, found);
    const files = await sumsOf(await realpath(folder), found.names, algorithm);
    return [...files, ...(await sumsOf(await realpath(this.#shared), [AR_FILE], algorithm))];
  }

  /**
   * A file of a group; ar.conf is that of etc/shared where there is one.
   * @param name relative to the folder
   * @throws GroupError `unknown_group`, `unknown_file`, `unreadable_file`, `too_large`
   */
  async read(group: string, name: string): Promise<Buffer> {
    const folder = await this.#folder(group);
    if (name === AR_FILE && (await kindOf(join(this.#shared, AR_FILE))) !== undefined) {
      return readSharedFile(await realpath(this.#shared), AR_FILE);
    }
    return readSharedFile(await realpath(folder), name);
  }

  /**
   * Replaces agent.conf as a whole.
   * @throws GroupError `unknown_group`; the file system's error, agent.conf is then unchanged
   */
  async writeConfiguration(group: string, text: string): Promise<void> {
    const folder = await this.#folder(group);
    const path = join(folder, CONFIGURATION_FILE);
    try {
      await writeFileDurably(path, text, { mode: FILE_MODE });
      await this.#give(path, FILE_MODE);
    } catch (error) {
      if (!(await this.exists(group))) throw unknownGroup(group);
      throw error;
    }
  }

  /** @throws GroupError `unknown_group` */
  async #folder(group: string): Promise<string> {
    if (!(await this.exists(group))) throw unknownGroup(group);
    return join(this.#shared, group);
  }

  async #template(): Promise<string> {
    if ((await kindOf(join(this.#shared, TEMPLATE_FILE))) === undefined) return EMPTY_CONFIGURATION;
    return (await readSharedFile(await realpath(this.#shared), TEMPLATE_FILE)).toString('utf8');
  }

  /** One that cannot be read is left out: svc-remoted says which groups have none. */
  async #lists(): Promise<{ name: string; content: Buffer }[]> {
    const found: { name: string; content: Buffer }[] = [];
    for (const name of LISTS) {
      try {
        found.push({ name, content: await this.read(DEFAULT_GROUP, name) });
      } catch (error) {
        if (!(error instanceof GroupError)) throw error;
      }
    }
    return found;
  }

  /** What root makes belongs to the service user, who must be able to read and change it. */
  async #give(path: string, mode: number): Promise<void> {
    // A file or a folder, never what a link leads to.
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      await file.chmod(mode);
      if (process.geteuid?.() !== 0) return;
      const { uid, gid } = readHomeRecord(this.#home);
      if (uid !== undefined && gid !== undefined) await file.chown(uid, gid);
    } finally {
      await file.close();
    }
  }

  /** Removes what processes left behind that died in the middle. */
  async #sweep(): Promise<void> {
    for (const { name } of await entriesOf(this.#shared)) {
      if (!name.startsWith(INCOMING) && !name.startsWith(OUTGOING)) continue;
      const path = join(this.#shared, name);
      try {
        const { ctimeMs } = await lstat(path);
        if (this.now() - ctimeMs > LEFT_BEHIND_MS) await rm(path, { recursive: true, force: true });
      } catch {
        // Somebody else sweeps too, or it is not ours to remove: it is no group and harms nobody.
      }
    }
  }
}

function mayBeGroup(name: string): boolean {
  return isGroupName(name) && !isReserved(name);
}

function unknownGroup(group: string): GroupError {
  return new GroupError('unknown_group', `There is no group '${group}'`);
}

function refuseTaken(group: string, kind: 'folder' | 'other' | undefined): void {
  if (kind === 'folder') throw new GroupError('group_exists', `There is a group '${group}' already`);
  if (kind === 'other') throw new GroupError('taken_by_file', `There is a file '${group}' in ${SHARED}`);
}

/** Undefined when there is nothing; a link is `other` whatever it leads to. */
async function kindOf(path: string): Promise<'folder' | 'other' | undefined> {
  return ifPresent(async () => ((await lstat(path)).isDirectory() ? 'folder' : 'other'));
}

/** Entries in byte order of their names; none where there is no directory. */
async function entriesOf(path: string) {
  const entries = (await ifPresent(() => readdir(path, { withFileTypes: true }))) ?? [];
  return entries.sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
}

type FoundFiles = { readonly names: string[]; entries: number };

/** Adds the names of all regular files, relative to the folder. */
async function walk(folder: string, below: string, depth: number, found: FoundFiles): Promise<void> {
  for (const entry of await entriesOf(join(folder, below))) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    if (++found.entries > MAX_ENTRIES) throw new GroupError('too_many_files', `more than ${MAX_ENTRIES} files`);
    if (entry.isFile()) found.names.push(name);
    if (!entry.isDirectory()) continue;
    if (depth === MAX_DEPTH) throw new GroupError('too_many_files', `${name} lies deeper than ${MAX_DEPTH} folders`);
    await walk(folder, name, depth + 1, found);
  }
}

/** A file that went away since it was listed is left out. */
async function sumsOf(directory: string, names: readonly string[], algorithm: string): Promise<GroupFile[]> {
  const files: GroupFile[] = [];
  for (const filename of names) {
    try {
      files.push({ filename, hash: await hashSharedFile(directory, filename, algorithm) });
    } catch (error) {
      if (!(error instanceof GroupError) || error.code !== 'unknown_file') throw error;
    }
  }
  return files;
}
