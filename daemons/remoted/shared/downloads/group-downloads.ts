import { setMaxListeners } from 'node:events';
import { chmod, lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { MERGED_FILE } from '../../../../lib/agentlink/merged-file.js';
import { describeError } from '../../../../lib/daemon/describe-error.js';
import type { Home } from '../../../../lib/daemon/home.js';
import type { Logger } from '../../../../lib/daemon/logger.js';
import { DownloadCounters } from './download-counters.js';
import { MAX_DOWNLOADS, MAX_DOWNLOADS_PER_SERVER } from './download-limits.js';
import { DownloadSlots } from './download-slots.js';
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
  /** Milliseconds of a clock that is not set. */
  readonly now?: () => number;
};

type Scheduled = { readonly group: ListedGroup; nextAt: number; running: boolean };

/** Downloads the files of groups that files.yml lists, when it changes and then every `poll` seconds (8). */
export class GroupDownloads {
  readonly #parts: GroupDownloadsParts;
  readonly #now: () => number;
  readonly #counters = new DownloadCounters();
  readonly #slots = new DownloadSlots(MAX_DOWNLOADS, MAX_DOWNLOADS_PER_SERVER);
  readonly #files: FileDownload;
  readonly #owners: MergedOwners;
  readonly #watch: FilesYmlWatch;
  readonly #running = new Set<Promise<void>>();
  #schedule: readonly Scheduled[] = [];
  #current = newRound();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(parts: GroupDownloadsParts) {
    const { home, logger, options } = parts;
    this.#parts = parts;
    this.#now = parts.now ?? (() => performance.now());
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
    clearTimeout(this.#timer);
    this.#current.abort();
    await this.#watch.stop();
    this.#current.abort();
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

  /** Puts what the file says in force: all that it lists is downloaded at once. */
  async #take(content: Buffer | undefined, first: boolean): Promise<void> {
    const { logger } = this.#parts;
    if (!first) logger.info(`File '${FILES_YML}' changed. Reloading data`);
    await this.#end();
    const listed = this.#read(content);
    if (listed !== undefined) {
      const merged = new Set(listed.filter((group) => group.merged).map(({ name }) => name));
      this.#files.keepOnly(new Set(listed.map(({ name }) => name)));
      for (const group of await this.#owners.keepOnly(merged)) await this.#tell(group);
    }
    for (const { name } of listed ?? []) await this.#makeFolder(name);
    const at = this.#now();
    this.#schedule = (listed ?? []).map((group) => ({ group, nextAt: at, running: false }));
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

  /** No two downloads of one file at a time: what runs is ended first. */
  async #end(): Promise<void> {
    clearTimeout(this.#timer);
    this.#schedule = [];
    this.#current.abort();
    await Promise.all(this.#running);
    this.#current = newRound();
  }

  async #makeFolder(group: string): Promise<void> {
    const { home, logger } = this.#parts;
    const path = home.path('etc', 'shared', group);
    try {
      const there = await lstat(path).catch(() => undefined);
      if (there?.isDirectory() === true) return;
      await mkdir(path, { mode: FOLDER_MODE });
      // Whatever the umask says: the service's group reads it too.
      await chmod(path, FOLDER_MODE);
      logger.info(`Group '${group}' was created, '${FILES_YML}' lists it.`);
      await this.#tell(group);
    } catch (error) {
      logger.error(`Group '${group}' of '${FILES_YML}' has no folder: ${describeError(error)}`);
    }
  }

  #runDue(): void {
    if (this.#stopped) return;
    clearTimeout(this.#timer);
    const now = this.#now();
    let next = Infinity;
    for (const scheduled of this.#schedule) {
      if (scheduled.running) continue;
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
    const { signal } = this.#current;
    scheduled.running = true;
    scheduled.nextAt = now + (group.poll === 0 ? this.#parts.options.reloadMs : group.poll * SECOND_MS);
    const work = this.#download(group, signal)
      .then((isInPlace) => {
        if (!isInPlace) scheduled.nextAt = Math.min(scheduled.nextAt, this.#now() + OVERWRITTEN_MS);
      })
      .catch((error: unknown) => {
        this.#parts.logger.error(`Files of group '${group.name}' were not downloaded: ${describeError(error)}`);
      })
      .finally(() => {
        this.#running.delete(work);
        scheduled.running = false;
        if (!signal.aborted) this.#runDue();
      });
    this.#running.add(work);
  }

  /** @returns false when a merged file was put in place and is no longer there */
  async #download({ name: group, files, merged }: ListedGroup, signal: AbortSignal): Promise<boolean> {
    // Listed, but with an address that is not fetched.
    if (merged && files.length === 0) await this.#owners.failed(group);
    const told = await Promise.all(files.map((file) => this.#downloadFile(group, file, signal)));
    // A merge of the folder that had begun before may have ended after.
    return !merged || !told.includes(true) || !this.#owners.has(group) || (await this.#owners.isInPlace(group));
  }

  /** @returns whether the folder of the group is another now, and those who look after it have seen that */
  async #downloadFile(group: string, file: ListedFile, signal: AbortSignal): Promise<boolean> {
    const owned = this.#owners.has(group);
    const merged = file.name === MERGED_FILE;
    const outcome = await this.#files.run(group, file, signal, () => {
      // Before it is in place: nobody else may write over it.
      if (merged) this.#owners.claim(group);
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

/** Cancels all downloads that one reading of files.yml asks for: each of them listens. */
function newRound(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
