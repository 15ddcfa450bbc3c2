import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { groupHash, LONG_HASH_CHARS } from '../../../lib/agentlink/merged-file.js';
import type { dbContract } from '../../../lib/bus/contracts/db.js';
import type { RequestClient } from '../../../lib/bus/request-client.js';
import { ifPresentSync } from '../../../lib/files/if-present.js';
import type { Home } from '../../../lib/home/home.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import { ArConfFile } from './ar-conf-file.js';
import { Breather } from './breather.js';
import type { ConfCheck } from './build-group.js';
import { ContentCache } from './content-cache.js';
import { FolderWatches } from './folder-watches.js';
import { GroupTable } from './group-table.js';
import { listGroupFolders } from './list-group-folders.js';
import type { MergedOnDisk } from './merged-on-disk.js';
import { missingLists } from './needed-files.js';
import { ProblemLog } from './problem-log.js';
import { type GroupCheckParts, SharedGroup } from './shared-group.js';
import { MAX_CACHED_BYTES, MAX_REST_MS, REST_FACTOR, SETTLE_MS, TABLE_CHECK_MS } from './shared-limits.js';
import { SharedMultigroup } from './shared-multigroup.js';
import { AR_CONF, sharedPath } from './shared-names.js';
import { WorkQueue } from './work-queue.js';

const FOLDER_MODE = 0o770;
const DEFAULT_GROUP = 'default';
const TABLE_RETRY_MS = 1000;
/** Listeners are told of the sums at most so often while many groups change one after the other. */
const TELL_MS = 250;

export type SharedFilesParts = {
  readonly home: Home;
  readonly logger: Logger;
  readonly db: Pick<RequestClient<typeof dbContract>, 'call'>;
  /** `remoted.shared_reload`, milliseconds. */
  readonly reloadMs: number;
  /** Whether merged files are made (`remoted.merge_shared`, option `-m`); otherwise they are only read. */
  readonly merge: boolean;
  /** Whether the merged file of a group is put there by somebody else. */
  readonly mergedElsewhere: (group: string) => boolean;
  readonly check: ConfCheck;
  /** Whether svc-db is told of groups that come and go (default); in a cluster svc-clusterd does it. */
  readonly keepTable?: boolean;
  /** Whether folders are watched (default); otherwise the periodic check alone finds changes. */
  readonly watch?: boolean;
  /** Epoch milliseconds. */
  readonly now?: () => number;
};

/**
 * The files that groups share with their agents: keeps the merged file of every group, and of every list of groups that
 * agents have, the same as the folders of etc/shared (agents-and-groups.md 6). Changes are seen at once through watches of
 * the folders, and by a periodic check whatever becomes of those.
 */
export class SharedFiles {
  readonly #parts: SharedFilesParts;
  readonly #root: string;
  readonly #multigroups: string;
  readonly #arConf: ArConfFile;
  readonly #rootProblems: ProblemLog;
  readonly #listProblems: ProblemLog;
  readonly #watches: FolderWatches;
  readonly #table: GroupTable;
  readonly #cache = new ContentCache(MAX_CACHED_BYTES);
  readonly #loading = new Map<string, Promise<Buffer | undefined>>();
  readonly #groups = new Map<string, SharedGroup>();
  readonly #lists = new Map<string, SharedMultigroup>();
  /** Keys of the lists that a group is in. */
  readonly #listsOf = new Map<string, Set<string>>();
  readonly #queue: WorkQueue;
  readonly #looking: GroupCheckParts;
  readonly #listeners: (() => void)[] = [];
  /** Merged files written. */
  #built = 0;
  #haveListsCome = false;
  #isFirstDone = false;
  #isChanged = false;
  #toldAt = -Infinity;
  #checkBegan = 0;
  #checkTimer: NodeJS.Timeout | undefined;
  #tableTimer: NodeJS.Timeout | undefined;
  #tableRuns = false;
  #tableNames: string | undefined;
  #tableAt = -Infinity;
  #isStopped = false;

  constructor(parts: SharedFilesParts) {
    this.#parts = parts;
    const { home, logger, now = Date.now } = parts;
    this.#root = home.path('etc', 'shared');
    this.#multigroups = home.path('var', 'multigroups');
    this.#arConf = new ArConfFile(join(this.#root, AR_CONF), logger);
    this.#rootProblems = new ProblemLog(logger, 'etc/shared');
    this.#listProblems = new ProblemLog(logger, 'etc/shared');
    this.#watches = new FolderWatches(this.#root, logger, {
      rootChanged: () => {
        this.#queue.rootLater(SETTLE_MS);
      },
      groupChanged: (group) => {
        this.#queue.groupLater(group, SETTLE_MS);
      },
    });
    this.#table = new GroupTable(parts.db, logger, () => listGroupFolders(this.#root).groups);
    this.#queue = new WorkQueue({
      root: () => this.#lookRoot(),
      folders: () => {
        this.#removeUnusedFolders();
      },
      group: (name) => this.#lookGroup(name),
      list: (key) => this.#lookList(key),
      urgentDone: (isAllDone) => {
        this.#tell(isAllDone);
      },
      checked: () => {
        this.#checked();
      },
      failed: (error) => {
        logger.error(`Shared files could not be looked at: ${describeError(error)}`);
      },
    });
    const arConf = this.#arConf;
    this.#looking = {
      breather: new Breather(),
      logger,
      get arConf() {
        return arConf.state;
      },
      check: parts.check,
      now,
      held: (md5) => this.#cache.get(md5),
      built: (md5, content) => {
        this.#built += 1;
        this.#cache.set(md5, content);
      },
    };
  }

  /** Begins: groups are known when it resolves, their merged files soon after (`settled`). */
  async start(): Promise<void> {
    try {
      mkdirSync(this.#root, { recursive: true, mode: FOLDER_MODE });
    } catch (error) {
      this.#parts.logger.error(`etc/shared is missing and cannot be made: ${describeError(error)}`);
    }
    if (this.#parts.watch !== false) this.#watches.start();
    await this.#lookRoot();
    this.#check();
  }

  stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#checkTimer);
    clearTimeout(this.#tableTimer);
    this.#watches.stop();
    return this.#queue.stop();
  }

  /** Resolves when everything that changed up to now has been looked at. */
  settled(): Promise<void> {
    return this.#queue.settled();
  }

  /** Lists of several groups that agents have: merged files are made for these and for no others. */
  setLists(lists: readonly (readonly string[])[]): void {
    const wanted = new Map(lists.filter(({ length }) => length > 1).map((groups) => [groups.join(','), groups]));
    for (const [key, { groups }] of this.#lists) {
      if (wanted.has(key)) continue;
      this.#lists.delete(key);
      for (const group of groups) this.#unlist(group, key);
      this.#isChanged = true;
    }
    const taken = new Set([...this.#lists.values()].map(({ folder }) => folder));
    for (const key of [...wanted.keys()].sort()) {
      const groups = wanted.get(key);
      if (groups === undefined || this.#lists.has(key)) continue;
      let folder = join(this.#multigroups, groupHash(groups));
      if (taken.has(folder)) folder = join(this.#multigroups, groupHash(groups, LONG_HASH_CHARS));
      taken.add(folder);
      this.#lists.set(key, new SharedMultigroup([...groups], folder, this.#parts.logger));
      for (const group of groups) this.#listsOf.set(group, (this.#listsOf.get(group) ?? new Set()).add(key));
      this.#queue.list(key);
    }
    this.#haveListsCome = true;
    this.#queue.folders();
  }

  /** MD5 of the merged file of an agent with these groups; undefined when there is none. */
  sumOf(groups: readonly string[]): string | undefined {
    return this.#mergedOf(groups)?.sum;
  }

  /** The merged file of an agent with these groups; who asks for the same gets the same buffer. Undefined: none is known. */
  async contentOf(groups: readonly string[]): Promise<{ md5: string; content: Buffer } | undefined> {
    const merged = this.#mergedOf(groups);
    const md5 = merged?.sum;
    if (merged === undefined || md5 === undefined) return undefined;
    let loading = this.#loading.get(md5);
    if (loading === undefined) {
      loading = this.#load(merged, md5).finally(() => this.#loading.delete(md5));
      this.#loading.set(md5, loading);
    }
    const content = await loading;
    if (content !== undefined) return { md5, content };
    // Somebody else changed the file: it is built anew, and the next keepalive asks for that.
    for (const group of groups) this.#queue.group(group);
    if (groups.length > 1) this.#queue.list(groups.join(','));
    return undefined;
  }

  /** Told after sums changed, when all groups have been looked at once. */
  onSums(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** All merged files there are. */
  sums(): { groups: string[]; md5: string }[] {
    const sums: { groups: string[]; md5: string }[] = [];
    for (const { name, merged } of this.#groups.values()) {
      if (merged.sum !== undefined) sums.push({ groups: [name], md5: merged.sum });
    }
    for (const { groups, merged } of this.#lists.values()) {
      if (merged.sum !== undefined) sums.push({ groups: [...groups], md5: merged.sum });
    }
    return sums;
  }

  /** Counters for `svc-control stats`. */
  stats(): Record<string, number> {
    return {
      groups: this.#groups.size,
      multigroups: this.#lists.size,
      watched: this.#watches.size,
      built: this.#built,
      held: this.#cache.bytes,
    };
  }

  /** Looks at a group's folder now, and at the lists it is in. A folder that was just made becomes a group. */
  async refresh(group: string): Promise<void> {
    if (!this.#groups.has(group)) this.#queue.root();
    await this.#queue.groupDone(group);
  }

  #mergedOf(groups: readonly string[]): MergedOnDisk | undefined {
    const [first] = groups;
    if (groups.length > 1) return this.#lists.get(groups.join(','))?.merged;
    return first === undefined ? undefined : this.#groups.get(first)?.merged;
  }

  async #load(merged: MergedOnDisk, md5: string): Promise<Buffer | undefined> {
    const held = this.#cache.get(md5);
    if (held !== undefined) return held;
    const content = await merged.content(new Breather()).catch((error: unknown) => {
      this.#parts.logger.error(`'${merged.path}' cannot be sent to agents: ${describeError(error)}`);
      return undefined;
    });
    if (content !== undefined) this.#cache.set(md5, content);
    return content;
  }

  /** The periodic check: everything, one after the other, and after changes. */
  #check(): void {
    this.#checkBegan = performance.now();
    this.#queue.root();
    this.#queue.checkAll([...this.#groups.keys()], [...this.#lists.keys()]);
  }

  #checked(): void {
    // What was told before the start may be gone since: the first sums are told also when there are none.
    if (!this.#isFirstDone) this.#isChanged = true;
    this.#isFirstDone = true;
    this.#tell(true);
    this.#reportMissingLists();
    clearTimeout(this.#checkTimer);
    if (this.#isStopped) return;
    const took = performance.now() - this.#checkBegan;
    this.#checkTimer = setTimeout(
      () => {
        this.#check();
      },
      Math.max(this.#parts.reloadMs, Math.min(MAX_REST_MS, REST_FACTOR * took)),
    );
  }

  #reportMissingLists(): void {
    const { merge, mergedElsewhere } = this.#parts;
    const made = [...this.#groups.values()].filter(({ name }) => merge && !mergedElsewhere(name));
    this.#listProblems.report(missingLists(this.#groups.get(DEFAULT_GROUP), made), () => false);
  }

  /** Groups that came and went, and ar.conf. A failed read changes nothing: groups would lose their members. */
  async #lookRoot(): Promise<void> {
    const { logger, merge } = this.#parts;
    const shown = new Set<string>([sharedPath()]);
    try {
      let { groups, problems } = listGroupFolders(this.#root);
      if (merge && !groups.includes(DEFAULT_GROUP)) {
        mkdirSync(join(this.#root, DEFAULT_GROUP), { mode: FOLDER_MODE });
        chmodSync(join(this.#root, DEFAULT_GROUP), FOLDER_MODE);
        logger.info(`'${sharedPath(DEFAULT_GROUP)}' was missing and was made.`);
        ({ groups, problems } = listGroupFolders(this.#root));
      }
      const { dev, ino } = lstatSync(this.#root);
      this.#watches.updateRoot(`${String(dev)} ${String(ino)}`);
      this.#rootProblems.report(problems, (path) => shown.has(path));
      this.#setGroups(groups);
      this.#syncTable(groups);
    } catch (error) {
      const text = `The groups in etc/shared stay as they are: ${describeError(error)}`;
      const mended = 'etc/shared can be read again.';
      this.#rootProblems.report([{ path: sharedPath(), level: 'error', text, mended }], (path) => shown.has(path));
    }
    if (!(await this.#arConf.look(this.#looking.breather))) return;
    if (!this.#queue.isChecking) this.#checkBegan = performance.now();
    this.#queue.checkAll([...this.#groups.keys()], []);
  }

  #setGroups(names: readonly string[]): void {
    const there = new Set(names);
    for (const name of [...this.#groups.keys()]) {
      if (there.has(name)) continue;
      this.#groups.delete(name);
      this.#watches.remove(name);
      this.#changed(name);
    }
    for (const name of names) {
      if (this.#groups.has(name)) continue;
      this.#groups.set(name, new SharedGroup(name, join(this.#root, name), this.#parts.logger));
      // At the start the check comes to all of them.
      if (this.#checkBegan > 0) this.#queue.group(name);
    }
  }

  /** @returns milliseconds after which the group is to be looked at again; undefined when it is done */
  async #lookGroup(name: string): Promise<number | undefined> {
    const group = this.#groups.get(name);
    if (group === undefined) return undefined;
    const { merge, mergedElsewhere } = this.#parts;
    const before = group.merged.sum;
    const look = await group.look(this.#looking, merge && !mergedElsewhere(name));
    if (this.#groups.get(name) !== group || this.#isStopped) return undefined;
    if (group.merged.sum !== before) this.#changed(name);
    if (look.kind === 'gone') {
      this.#queue.root();
      return undefined;
    }
    this.#watches.update(name, group.path, group.folders);
    return look.kind === 'later' ? look.ms : undefined;
  }

  async #lookList(key: string): Promise<void> {
    const list = this.#lists.get(key);
    if (list === undefined) return;
    const before = list.merged.sum;
    await list.look(this.#looking, this.#parts.merge, (name) => this.#groups.get(name));
    if (list.merged.sum !== before) this.#isChanged = true;
  }

  /** The sum of a group is another. */
  #changed(name: string): void {
    this.#isChanged = true;
    for (const key of this.#listsOf.get(name) ?? []) this.#queue.list(key);
  }

  #unlist(group: string, key: string): void {
    const keys = this.#listsOf.get(group);
    keys?.delete(key);
    if (keys?.size === 0) this.#listsOf.delete(group);
  }

  #tell(isAllDone: boolean): void {
    const now = performance.now();
    if (!this.#isChanged || !this.#isFirstDone || this.#isStopped) return;
    if (!isAllDone && now - this.#toldAt < TELL_MS) return;
    this.#isChanged = false;
    this.#toldAt = now;
    for (const listener of this.#listeners) listener();
  }

  /** Folders of lists that no agent has any more (6.6). */
  #removeUnusedFolders(): void {
    if (!this.#parts.merge || !this.#haveListsCome) return;
    const used = new Set([...this.#lists.values()].map(({ folder }) => folder));
    try {
      for (const entry of ifPresentSync(() => readdirSync(this.#multigroups, { withFileTypes: true })) ?? []) {
        const path = join(this.#multigroups, entry.name);
        if (entry.isDirectory() && !used.has(path)) rmSync(path, { recursive: true, force: true });
      }
    } catch (error) {
      this.#parts.logger.warn(`Unused folders of var/multigroups were not removed: ${describeError(error)}`);
    }
  }

  /** Tells svc-db when groups came or went, and now and then whatever was seen. */
  #syncTable(groups: readonly string[]): void {
    const names = groups.join('/');
    if (this.#tableRuns || this.#isStopped || this.#parts.keepTable === false) return;
    if (names === this.#tableNames && performance.now() - this.#tableAt < TABLE_CHECK_MS) return;
    this.#tableRuns = true;
    clearTimeout(this.#tableTimer);
    void this.#table.sync().then((isDone) => {
      this.#tableRuns = false;
      this.#tableNames = isDone ? names : undefined;
      this.#tableAt = performance.now();
      if (this.#isStopped) return;
      // Again when it failed, or when folders came and went meanwhile.
      const isSame = [...this.#groups.keys()].sort().join('/') === names;
      if (isDone && isSame) return;
      this.#tableTimer = setTimeout(() => {
        this.#queue.root();
      }, TABLE_RETRY_MS);
    });
  }
}
