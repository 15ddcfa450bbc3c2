import { setMaxListeners } from 'node:events';
import { chmod, lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { MERGED_FILE } from '../../../lib/agentlink/merged-file.js';
import { Limiter } from '../../../lib/async/limiter.js';
import type { Home } from '../../../lib/home/home.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import { DownloadCounters } from './download-counters.js';
import { MAX_DOWNLOADS, MAX_DOWNLOADS_PER_SERVER } from './download-limits.js';
import { DownloadTrust } from './download-trust.js';
import { FileDownload, PART_ENDING } from './file-download.js';
import { FILES_YML, type ListedFile, type ListedGroup, readFilesYml } from './files-yml.js';
import { FilesYmlWatch } from './files-yml-watch.js';
import { MergedOwners } from './merged-owners.js';
import { MergedRecord } from './merged-record.js';

const SECOND_MS = 1000;
/** Longest a timer is set for: one for weeks would run over. */
const MAX_TIMER_MS = 3_600_000;
const FOLDER_MODE = 0o770;
/** When a merged file that somebody wrote over is downloaded again. */
const OVERWRITTEN_MS = 1000;

/** Settings of downloads: the internal options, and limits that tests make smaller. */
export type DownloadOptions = {
  /** `wazuh_download.enabled` */
  readonly enabled: boolean;
  /** Milliseconds; `remoted.shared_reload` */
  readonly reloadMs: number;
  readonly verify: boolean;
  readonly maxBytes: number;
  readonly timeoutMs: number;
};

export type GroupDownloadsParts = {
  readonly home: Home;
  readonly logger: Logger;
  readonly options: DownloadOptions;
  /** Told of a group whose folder is new or has changed, or whose merged file has another origin now. */
  readonly changed: (group: string) => Promise<void>;
  /**
   * Whether this node of a cluster may download now; without it, or in no cluster, always. Files of groups come to the other nodes with the groups;
   * a merged file does not, so each node downloads that itself.
   */
  readonly mayAct?: () => Promise<boolean>;
  /** Milliseconds of a clock that is not set. */
  readonly now?: () => number;
};

type Scheduled = {
  readonly group: ListedGroup;
  /** Ends its downloads when files.yml lists it no longer, or in another way. */
  readonly controller: AbortController;
  nextAt: number;
  /** Its downloads under way. */
  work: Promise<void> | undefined;
};

/**
 * Downloads the files of groups that files.yml lists, at once when it lists them or lists them in another way, and then
 * every `poll` seconds (8).
 */
export class GroupDownloads {
  readonly #parts: GroupDownloadsParts;
  readonly #now: () => number;
  readonly #mayAct: () => Promise<boolean>;
  readonly #counters = new DownloadCounters();
  readonly #slots = new Limiter({ atOnce: MAX_DOWNLOADS, atOncePerKey: MAX_DOWNLOADS_PER_SERVER });
  readonly #files: FileDownload;
  readonly #owners: MergedOwners;
  readonly #watch: FilesYmlWatch;
  readonly #running = new Set<Promise<void>>();
  /** Why groups have no folder, which is said once. */
  readonly #folderProblems = new Map<string, string>();
  #schedule: readonly Scheduled[] = [];
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(parts: GroupDownloadsParts) {
    const { home, logger, options } = parts;
    this.#parts = parts;
    this.#now = parts.now ?? (() => performance.now());
    this.#mayAct = parts.mayAct ?? (() => Promise.resolve(true));
    const trust = new DownloadTrust(home);
    this.#files = new FileDownload({
      home,
      logger,
      counters: this.#counters,
      slots: this.#slots,
      fetch: {
        maxBytes: options.maxBytes,
        timeoutMs: options.timeoutMs,
        verify: options.verify,
        trust: () => trust.context(),
      },
    });
    this.#owners = new MergedOwners(home, new MergedRecord(home, logger));
    this.#watch = new FilesYmlWatch({
      path: home.path('etc', 'shared', 'files.yml'),
      logger,
      reloadMs: options.reloadMs,
      read: (content, first) => this.#take(content, first),
      looked: () => this.#restoreFolders(),
    });
  }

  /** Reads files.yml and begins to download: groups exist when it resolves, their files come later. */
  async start(): Promise<void> {
    const { logger, options } = this.#parts;
    if (!options.enabled) {
      logger.info(`Files of '${FILES_YML}' are not downloaded: the option 'wazuh_download.enabled' is 0.`);
      return;
    }
    if (!options.verify) {
      logger.warn("Certificates of servers are not verified: the option 'wazuh_download.verify_certificates' is 0.");
    }
    await this.#clean();
    await this.#owners.start();
    await this.#watch.start();
  }

  /** Ends what is being downloaded; files in place stay. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#abortAll();
    await this.#watch.stop();
    this.#abortAll();
    await Promise.all(this.#running);
  }

  /** Whether the group has a downloaded merged file in force, so that none is to be made of its folder. */
  ownsMerged(group: string): boolean {
    return this.#owners.has(group);
  }

  stats(): Record<string, number> {
    return {
      ...this.#counters,
      groups: this.#schedule.length,
      active: this.#slots.active,
      waiting: this.#slots.waiting,
    };
  }

  /** Files that a killed process has left behind. */
  async #clean(): Promise<void> {
    const { home, logger } = this.#parts;
    const folder = home.path('var', 'download');
    try {
      await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
      for (const name of await readdir(folder)) {
        if (name.endsWith(PART_ENDING)) await rm(home.path('var', 'download', name), { force: true });
      }
    } catch (error) {
      logger.error(`'var/download' cannot be used: ${describeError(error)}`);
    }
  }

  /** Puts what the file says in force: what it lists anew, or in another way, is downloaded at once. */
  async #take(content: Buffer | undefined, first: boolean): Promise<void> {
    const { logger } = this.#parts;
    if (!first) logger.info(`File '${FILES_YML}' changed. Reloading data`);
    const listed = this.#read(content);
    const now = new Map(listed?.map((group) => [group.name, group]));
    const before = this.#schedule;
    const same = before.filter(({ group }) => isDeepStrictEqual(now.get(group.name), group));
    const kept = new Map(same.map((scheduled) => [scheduled.group.name, scheduled]));
    await this.#end(before.filter(({ group }) => !kept.has(group.name)));
    if (listed !== undefined) {
      const merged = new Set(listed.filter((group) => group.merged).map(({ name }) => name));
      this.#files.keepOnly(new Set(listed.map(({ name }) => name)));
      for (const group of await this.#owners.keepOnly(merged)) await this.#tell(group);
    }
    this.#folderProblems.clear();
    for (const group of listed ?? []) await this.#makeFolder(group);
    const nextAt = this.#now();
    // Who writes the file anew without any change asks for everything.
    const isSame = kept.size === before.length && kept.size === now.size;
    if (isSame) for (const scheduled of same) scheduled.nextAt = nextAt;
    this.#schedule = (listed ?? []).map(
      (group) => kept.get(group.name) ?? { group, controller: newRound(), nextAt, work: undefined },
    );
    this.#runDue();
  }

  /** @returns undefined for a file with a fault: nothing is downloaded then, and merged files stay as they are */
  #read(content: Buffer | undefined): readonly ListedGroup[] | undefined {
    const { logger } = this.#parts;
    if (content === undefined) {
      logger.debug('Shared configuration file not found.');
      return [];
    }
    logger.debug(`Started yaml parsing of file: ${FILES_YML}`);
    const { ok, groups, lines } = readFilesYml(content);
    this.#counters.reads += 1;
    if (!ok) this.#counters.failedReads += 1;
    for (const { level, text } of lines) logger[level](text);
    return ok ? groups : undefined;
  }

  /** No two downloads of one file at a time: what runs of these groups is ended first. */
  async #end(ended: readonly Scheduled[]): Promise<void> {
    this.#schedule = this.#schedule.filter((scheduled) => !ended.includes(scheduled));
    for (const { controller } of ended) controller.abort();
    await Promise.all(ended.flatMap(({ work }) => work ?? []));
  }

  #abortAll(): void {
    clearTimeout(this.#timer);
    for (const { controller } of this.#schedule) controller.abort();
  }

  /** Groups that somebody removed while files.yml lists them are made again, with their files. */
  async #restoreFolders(): Promise<void> {
    const at = this.#now();
    for (const scheduled of this.#schedule) {
      if (await this.#makeFolder(scheduled.group)) scheduled.nextAt = at;
    }
    this.#runDue();
  }

  /** @returns whether it was missing and is there now */
  async #makeFolder({ name: group, merged }: ListedGroup): Promise<boolean> {
    const { home, logger } = this.#parts;
    const path = home.path('etc', 'shared', group);
    try {
      const there = await lstat(path).catch(() => undefined);
      if (there?.isDirectory() === true || !(merged || (await this.#mayAct()))) return false;
      await mkdir(path, { mode: FOLDER_MODE });
      // Whatever the umask says: the service's group reads it too.
      await chmod(path, FOLDER_MODE);
    } catch (error) {
      const problem = `Group '${group}' of '${FILES_YML}' has no folder: ${describeError(error)}`;
      if (this.#folderProblems.get(group) !== problem) logger.error(problem);
      this.#folderProblems.set(group, problem);
      return false;
    }
    this.#folderProblems.delete(group);
    logger.info(`Group '${group}' was created, '${FILES_YML}' lists it.`);
    await this.#tell(group);
    return true;
  }

  #runDue(): void {
    if (this.#stopped) return;
    clearTimeout(this.#timer);
    const now = this.#now();
    let next = Infinity;
    for (const scheduled of this.#schedule) {
      if (scheduled.work !== undefined) continue;
      if (scheduled.nextAt <= now) this.#begin(scheduled, now);
      else next = Math.min(next, scheduled.nextAt);
    }
    if (next === Infinity) return;
    this.#timer = setTimeout(
      () => {
        this.#runDue();
      },
      Math.min(next - now, MAX_TIMER_MS),
    );
  }

  #begin(scheduled: Scheduled, now: number): void {
    const { group } = scheduled;
    const { signal } = scheduled.controller;
    scheduled.nextAt = now + (group.poll === 0 ? this.#parts.options.reloadMs : group.poll * SECOND_MS);
    const work = this.#download(group, signal)
      .then((outcome) => {
        if (outcome === 'left to another') {
          scheduled.nextAt = Math.min(scheduled.nextAt, this.#now() + this.#parts.options.reloadMs);
        }
        if (outcome === 'overwritten') scheduled.nextAt = Math.min(scheduled.nextAt, this.#now() + OVERWRITTEN_MS);
      })
      .catch((error: unknown) => {
        this.#parts.logger.error(`Files of group '${group.name}' were not downloaded: ${describeError(error)}`);
      })
      .finally(() => {
        this.#running.delete(work);
        scheduled.work = undefined;
        if (!signal.aborted) this.#runDue();
      });
    scheduled.work = work;
    this.#running.add(work);
  }

  /** @returns whether a merged file was put in place and is no longer there, or another node of the cluster downloads */
  async #download(
    { name: group, files, merged }: ListedGroup,
    signal: AbortSignal,
  ): Promise<'done' | 'overwritten' | 'left to another'> {
    if (!merged && !(await this.#mayAct())) return 'left to another';
    // Listed, but with an address that is not fetched.
    if (merged && files.length === 0) await this.#owners.failed(group);
    const told = await Promise.all(files.map((file) => this.#downloadFile(group, file, signal)));
    // A merge of the folder that had begun before may have ended after.
    const isDone = !merged || !told.includes(true) || !this.#owners.has(group);
    return isDone || (await this.#owners.isInPlace(group)) ? 'done' : 'overwritten';
  }

  /** @returns whether the folder of the group is another now, and those who look after it have seen that */
  async #downloadFile(group: string, file: ListedFile, signal: AbortSignal): Promise<boolean> {
    const owned = this.#owners.has(group);
    const merged = file.name === MERGED_FILE;
    const outcome = await this.#files.run(group, file, signal, async () => {
      // Before it is in place: nobody else may write over it.
      if (merged) this.#owners.claim(group);
      // Who stood still while it came has perhaps been replaced.
      return merged || (await this.#mayAct());
    });
    if (merged && outcome.state === 'failed') await this.#owners.failed(group);
    if (merged && outcome.sha256 !== undefined) await this.#owners.succeeded(group, outcome.sha256);
    if (outcome.state !== 'stored' && owned === this.#owners.has(group)) return false;
    // At once: a slow file of the group holds up no other one.
    await this.#tell(group);
    return true;
  }

  async #tell(group: string): Promise<void> {
    try {
      await this.#parts.changed(group);
    } catch (error) {
      this.#parts.logger.error(`The files of group '${group}' were not looked at: ${describeError(error)}`);
    }
  }
}

/** Cancels all downloads of a group: each of them listens. */
function newRound(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
