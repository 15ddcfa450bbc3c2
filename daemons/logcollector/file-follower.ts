import type { BigIntStats } from 'node:fs';
import { QUEUE_IDS } from '../../lib/events/queue-ids.js';
import { DirectoryWatches } from './directory-watches.js';
import { FileFinder, type FoundFile, type FoundPaths } from './file-finder.js';
import { identityOf, inodeKey, isSameInode, lookAt } from './file-identity.js';
import { FileOpener } from './file-opener.js';
import type { FileSource } from './file-source.js';
import type { FollowedFile } from './followed-file.js';
import type { FileFollowerParts } from './follower-parts.js';
import { fileErrorText, OnceLog } from './once-log.js';
import type { SavedFile } from './position-store.js';
import { ReadQueue, type TurnResult } from './read-queue.js';
import { RotatedFiles } from './rotated-files.js';
import { SavedPositions } from './saved-positions.js';

/** How long a file that lost its name is read on: whoever writes it may not know yet. */
const ROTATION_GRACE_MS = 10_000;
/** Time in which changes of a directory are taken together. */
const SCAN_DELAY_MS = 100;
/** Where the events about files come from (daemons-and-config.md 6.3). */
const OWN_LOCATION = 'logcollector';

/**
 * Follows the files of all sources: finds them, reads what is appended, and keeps up with rotation, truncation and files
 * that come and go. A full window of the sink stops all reading.
 */
export class FileFollower {
  readonly #parts: FileFollowerParts;
  readonly #log: OnceLog;
  readonly #finder: FileFinder;
  readonly #opener: FileOpener;
  readonly #watches: DirectoryWatches;
  readonly #queue: ReadQueue;
  readonly #saved = new SavedPositions();
  readonly #rotated: RotatedFiles;
  #sources: readonly FileSource[] = [];
  /** Locations that were followed before, in this process or the one before. */
  #knownLocations = new Set<string>();
  /** Files by their present name. */
  readonly #files = new Map<string, FollowedFile>();
  /** Files without a name that is followed, which may still have something to deliver. */
  readonly #retiring = new Set<FollowedFile>();
  /** Files that are not read before their positions are written down. */
  readonly #unrecorded: FollowedFile[] = [];
  #scanning: Promise<void> | undefined;
  #scanAgain = false;
  #scanTimer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(parts: FileFollowerParts) {
    const { logger, limits, now, events } = parts;
    this.#parts = parts;
    this.#log = new OnceLog(logger);
    this.#finder = new FileFinder(this.#log, limits.maxFiles, now);
    this.#opener = new FileOpener({
      ...parts,
      openStream: events.openStream,
      log: this.#log,
      sampleBytes: limits.sampleBytes,
    });
    this.#rotated = new RotatedFiles({
      opener: this.#opener,
      openFile: parts.openFile,
      saved: this.#saved,
      isOpen: (stats) => this.#isInode(stats),
      sourceOf: (saved) => this.#sourceOf(saved),
      retire: (file) => {
        file.rotatedAt = parts.monotonic();
        this.#retiring.add(file);
      },
      logger,
    });
    this.#watches = new DirectoryWatches(logger, (path, renamed) => {
      this.#touched(path, renamed);
    });
    this.#queue = new ReadQueue({
      turn: (file) => this.#turn(file),
      room: () => this.#room(),
    });
  }

  /** Begins with the positions and locations that the last run saved. */
  start(sources: readonly FileSource[], saved: readonly SavedFile[], locations: readonly string[]): Promise<void> {
    saved.forEach((file) => {
      this.#saved.put(file);
    });
    this.#knownLocations = new Set(locations);
    this.#sources = sources;
    return this.scan();
  }

  /** Goes over to other sources; what is open under a source that stays is not touched. */
  reload(sources: readonly FileSource[]): Promise<void> {
    this.#sources = sources;
    return this.scan();
  }

  /** Numbers for `stats`. */
  get counters(): Record<string, number> {
    return { files: this.#files.size, retiring: this.#retiring.size, directories: this.#watches.size };
  }

  /** Positions and locations as they are to be saved. */
  async positions(): Promise<{ readonly files: SavedFile[]; readonly locations: string[] }> {
    const files: SavedFile[] = [];
    const open = [...this.#retiring, ...this.#files.values()];
    // Files that are away keep their position: they may come back, or be found under another name. Taken now, since a
    // file that is opened meanwhile would be in neither list.
    const away = [...this.#saved.except(new Set(open.map(({ identity }) => inodeKey(identity))))];
    for (const file of open) {
      const saved = await attempt(() => file.saved());
      if (saved !== undefined) {
        files.push(saved);
      }
    }
    files.push(...away);
    // Of a location whose files are not open yet nothing is known: they would count as new ones.
    const locations = this.#sources.map(({ config }) => config.location);
    return { files, locations: locations.filter((location) => this.#knownLocations.has(location)) };
  }

  /** Looks whether files grew, were cut or renamed, and whether lines wait too long. To be called every loop_timeout. */
  async poll(): Promise<void> {
    let surprises = this.#sources.some(
      ({ config, pattern }) =>
        // A dated name changes with the day.
        config.location.includes('%') && !this.#files.has(pattern(new Date(this.#parts.now()))),
    );
    for (const [path, file] of this.#files) {
      const now = this.#parts.now();
      const stats = lookAt(path);
      if (stats !== undefined && isSameInode(file.identity, stats)) {
        file.seenAt = now;
      } else {
        surprises = true;
      }
      if (stats === undefined || file.overdue || file.differsFrom(stats)) {
        this.#queue.add(file);
      }
    }
    for (const file of this.#retiring) {
      this.#queue.add(file);
    }
    if (surprises) {
      await this.scan();
    }
    if (this.#unrecorded.length > 0) {
      await this.#record();
    }
  }

  /** Finds the files of all sources and opens those that are new. To be called every vcheck_files. */
  scan(): Promise<void> {
    if (this.#scanning !== undefined) {
      this.#scanAgain = true;
      return this.#scanning;
    }
    this.#scanning = this.#scanAll().finally(() => {
      this.#scanning = undefined;
    });
    return this.#scanning;
  }

  /**
   * Stops reading and closes everything.
   * @param beforeClosing the last moment to ask for positions
   */
  async stop(beforeClosing: () => Promise<void>): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#scanTimer);
    this.#watches.close();
    await this.#scanning;
    await this.#queue.stop();
    await beforeClosing();
    for (const file of [...this.#files.values(), ...this.#retiring]) {
      await attempt(() => file.close());
    }
    this.#files.clear();
    this.#retiring.clear();
  }

  // ---- which files there are

  async #scanAll(): Promise<void> {
    do {
      this.#scanAgain = false;
      await this.#scanOnce();
    } while (this.#scanAgain && !this.#stopped);
  }

  async #scanOnce(): Promise<void> {
    const lookedAt = this.#parts.now();
    const finding = this.#finder.find(this.#sources, (path) => this.#files.has(path));
    this.#watches.update(finding.directories);
    this.#followNames(finding, lookedAt);
    // Of a name that is followed again, what was between is known.
    const retired = [...this.#retiring].filter((file) => !this.#files.has(file.path) && this.#isWanted(file));
    const opened = [...(await this.#openRotated(finding, retired)), ...(await this.#openNew(finding))];
    const known = this.#knownLocations.size;
    this.#sources.forEach(({ config }) => this.#knownLocations.add(config.location));
    this.#unrecorded.push(...opened.filter(({ recorded }) => !recorded));
    // Not awaited: without a sink it takes until there is one.
    void this.#prepareAll(opened.filter(({ recorded }) => recorded));
    if (opened.length > 0 || this.#knownLocations.size > known) {
      await this.#record();
    }
    // Only now: a position that says so must not be written without those of the files that were found.
    retired.forEach((file) => {
      file.rotated = true;
    });
  }

  /** Writes positions down, and begins with the files that waited for it. */
  async #record(): Promise<void> {
    const waiting = this.#unrecorded.splice(0);
    if (await this.#parts.savePositions()) {
      void this.#prepareAll(waiting);
    } else {
      this.#unrecorded.unshift(...waiting);
    }
  }

  /** Gives open files their present names, and retires those whose name or source is gone. */
  #followNames({ files: found }: FoundPaths, lookedAt: number): void {
    const byInode = new Map([...found.values()].map((each) => [inodeKey(identityOf(each.stats)), each]));
    const renamed: FollowedFile[] = [];
    for (const [path, file] of [...this.#files]) {
      const now = byInode.get(inodeKey(file.identity));
      if (now?.source.key === file.source.key) {
        file.seenAt = lookedAt;
        if (now.path !== path) {
          // The new name is followed too: the file goes on where it is.
          this.#files.delete(path);
          file.path = now.path;
          renamed.push(file);
        }
        continue;
      }
      if (now === undefined) {
        this.#noteLoss(file, found.has(path));
      }
      this.#files.delete(path);
      file.rotatedAt = this.#parts.monotonic();
      this.#retiring.add(file);
      this.#queue.add(file);
    }
    for (const file of renamed) {
      this.#files.set(file.path, file);
    }
  }

  #noteLoss({ path, identity }: FollowedFile, replaced: boolean): void {
    const stats = lookAt(path);
    if (stats !== undefined && isSameInode(identity, stats)) {
      // It is there: its block is gone, or a dated name has moved on.
      this.#parts.logger.info(`'${path}' is not followed any more.`);
    } else if (replaced) {
      this.#tell(`ossec: File rotated (inode changed): '${path}'.`);
    } else {
      this.#parts.logger.info(`(1959): File '${path}' no longer exists.`);
    }
  }

  /** Files that lost their name while nobody looked: they are read to their end. */
  async #openRotated(finding: FoundPaths, retired: readonly FollowedFile[]): Promise<FollowedFile[]> {
    const { opened, again } = await this.#rotated.open(finding, retired);
    this.#scanAgain ||= again;
    return opened;
  }

  async #openNew({ files: found }: FoundPaths): Promise<FollowedFile[]> {
    const opened: FollowedFile[] = [];
    for (const each of found.values()) {
      if (this.#stopped) {
        break;
      }
      if (this.#isOpen(each)) {
        continue;
      }
      const { path, source, stats } = each;
      const saved = this.#saved.find(path, stats);
      const occasion = this.#knownLocations.has(source.config.location) ? 'appeared' : 'first';
      const file = await this.#opener.open(each, occasion, saved);
      if (file === 'exchanged') {
        // Its position is still needed: it belongs to a file that has another name now.
        this.#scanAgain = true;
      } else if (file !== undefined) {
        const copy = saved !== undefined && file.anew ? await this.#rotated.openCopy(saved, source) : undefined;
        if (saved !== undefined) {
          this.#saved.delete(saved);
        }
        this.#files.set(path, file);
        opened.push(...(copy === undefined ? [file] : [copy, file]));
      }
    }
    return opened;
  }

  #isOpen({ path, stats }: Pick<FoundFile, 'path' | 'stats'>): boolean {
    return this.#files.has(path) || [...this.#retiring].some(({ identity }) => isSameInode(identity, stats));
  }

  #isInode(stats: BigIntStats): boolean {
    return [...this.#files.values(), ...this.#retiring].some(({ identity }) => isSameInode(identity, stats));
  }

  /** The source under which a file was followed, if it is still there. */
  #sourceOf({ location }: SavedFile): FileSource | undefined {
    return this.#sources.find(({ config }) => config.location === location);
  }

  /** Waits until the sink has told how far it has each file. One after the other: what was renamed is read first. */
  async #prepareAll(files: readonly FollowedFile[]): Promise<void> {
    for (const file of files) {
      try {
        if (await file.prepare()) {
          this.#queue.add(file);
        } else {
          await this.#openAnew(file);
        }
      } catch (error) {
        this.#parts.logger.debug(`'${file.path}' is not read: ${fileErrorText(error)}`);
      }
    }
  }

  /** The sink had more of the file than the file has now: what stands there was not read, and goes on a new stream. */
  async #openAnew(file: FollowedFile): Promise<void> {
    const { generation: _generation, acknowledged: _acknowledged, ...saved } = await file.saved();
    this.#parts.logger.warn(`'${file.path}' lost its end when the host went down: it is read from ${saved.offset} on.`);
    this.#saved.put(saved);
    await this.#forget(file);
  }

  /** Closes a file and looks for it again. */
  async #forget(file: FollowedFile): Promise<void> {
    if (this.#files.get(file.path) === file) {
      this.#files.delete(file.path);
    }
    this.#retiring.delete(file);
    await attempt(() => file.close());
    void this.scan();
  }

  // ---- reading

  #touched(path: string, renamed: boolean): void {
    const file = this.#files.get(path);
    if (file !== undefined) {
      this.#queue.add(file);
    }
    if (renamed && this.#scanTimer === undefined && !this.#stopped) {
      this.#scanTimer = setTimeout(() => {
        this.#scanTimer = undefined;
        void this.scan();
      }, SCAN_DELAY_MS);
    }
  }

  async #room(): Promise<void> {
    await attempt(() => this.#parts.events.ready());
  }

  async #turn(file: FollowedFile): Promise<TurnResult> {
    try {
      if (this.#retiring.has(file) && !this.#isWanted(file)) {
        return await this.#abandon(file);
      }
      const result = await file.read(this.#parts.limits.maxLines);
      if (result === 'truncated') {
        return await this.#truncated(file);
      }
      return result === 'idle' && this.#retiring.has(file) ? await this.#readLast(file) : result;
    } catch (error) {
      this.#log.say(file.path, 'error', `(1103): Could not read file '${file.path}' due to ${fileErrorText(error)}.`);
      return 'idle';
    }
  }

  /** Whether the configuration still has the block under which a file was opened. */
  #isWanted(file: FollowedFile): boolean {
    return this.#sources.some(({ key }) => key === file.source.key);
  }

  /** A file that lost its name was read to its end: after a while it is closed for good. */
  async #readLast(file: FollowedFile): Promise<TurnResult> {
    if (!file.ready || this.#parts.monotonic() - (file.rotatedAt ?? 0) < ROTATION_GRACE_MS) {
      return 'idle';
    }
    file.finish();
    if (!file.retry()) {
      return 'blocked';
    }
    if (file.settled) {
      await this.#dismiss(file);
    }
    return 'idle';
  }

  /** A file that is not to be followed any more, or under another block: closed when what was sent is acknowledged. */
  async #abandon(file: FollowedFile): Promise<TurnResult> {
    if (file.delivered || !file.ready) {
      await this.#dismiss(file);
    }
    return 'idle';
  }

  async #dismiss(file: FollowedFile): Promise<void> {
    // Kept: another block may name the file, or somebody may go on writing it.
    const saved = await attempt(() => file.saved());
    if (saved !== undefined) {
      this.#saved.put(saved);
    }
    this.#retiring.delete(file);
    await attempt(() => file.close());
    void this.scan();
  }

  /** A file that was cut is another one from now on; what was read of it before is delivered as it is. */
  async #truncated(file: FollowedFile): Promise<TurnResult> {
    if (!file.cut) {
      file.cut = true;
      this.#tell(`ossec: File size reduced (inode remained): '${file.path}'.`);
      file.copied = (await this.#rotated.findCopy(file.savedBeforeCut())) !== undefined;
      if (!file.copied) {
        file.finish();
      }
    }
    if (!file.retry()) {
      return 'blocked';
    }
    if (file.copied && !file.delivered) {
      // Tried again at the next look: the copy goes on behind what is acknowledged.
      return 'idle';
    }
    if (file.copied) {
      this.#saved.put(file.savedBeforeCut());
    }
    await this.#forget(file);
    return 'idle';
  }

  /** An event about a file (daemons-and-config.md 6.3). */
  #tell(text: string): void {
    const { events, logger, now } = this.#parts;
    logger.info(text);
    const event = { queue: QUEUE_IDS.log, location: OWN_LOCATION, message: Buffer.from(text), receivedAt: now() };
    if (!events.trySend(event)) {
      logger.warn(`No room for an event: ${text}`);
    }
  }
}

async function attempt<T>(action: () => Promise<T>): Promise<T | undefined> {
  try {
    return await action();
  } catch {
    return undefined;
  }
}
