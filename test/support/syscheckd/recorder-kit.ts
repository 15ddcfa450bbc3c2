import { mkdtempSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ContentChanges } from '../../../daemons/syscheckd/diff/content-changes.js';
import { Recorder, type RecordResult } from '../../../daemons/syscheckd/record/recorder.js';
import { Baselines } from '../../../daemons/syscheckd/store/baselines.js';
import type { FileRow } from '../../../daemons/syscheckd/store/file-row.js';
import { FileStore } from '../../../daemons/syscheckd/store/file-store.js';
import type { SequencedEvent } from '../../../daemons/syscheckd/store/outbox.js';
import type { DirectoryOption } from '../../../lib/config/sections/syscheck.js';
import type { FimMode } from '../../../lib/events/fim/fim-messages.js';
import { bytesOf } from '../../../lib/fim/byte-order.js';
import { EntryThreads } from '../../../lib/fim/scan/entry-threads.js';
import { FileSystems } from '../../../lib/fim/scan/file-systems.js';
import { IgnoreList } from '../../../lib/fim/scan/path-list.js';
import { type ScannedEntry, scanTree } from '../../../lib/fim/scan/scan-tree.js';
import { type WatchedDirectories, watchedDirectories } from '../../../lib/fim/scan/watched-directories.js';
import { memoryDirectory } from '../memory-directory.js';
import { RecordingLogger } from '../recording-logger.js';
import { removeTree } from '../remove-tree.js';
import { type ToldChange, toldChange } from './told-change.js';

const TRAITS = { recursionLevel: 256, diffSizeLimit: 51_200 };

/** Paths relative to the tree, with their options. */
export type KitDirectories = readonly (readonly [string, ...DirectoryOption[]])[];

/** A store with its recorder, and a tree of files that it watches. */
export class RecorderKit {
  readonly logger = new RecordingLogger();
  readonly threads = new EntryThreads({ maxFileBytes: 1024 ** 3 }, 1);
  readonly #home = mkdtempSync(join(memoryDirectory(), 'svc-record-'));
  readonly root = mkdtempSync(join(memoryDirectory(), 'svc-watched-'));
  /** What ids are called. */
  names = { user: (id: number): string | undefined => `u${id}`, group: (id: number): string | undefined => `g${id}` };
  limit = 0;
  now = 1_700_000_000_000;
  contents: ContentChanges | undefined;
  #store!: FileStore;
  #recorder!: Recorder;
  #baselines!: Baselines;
  #directories!: WatchedDirectories;

  static async open(...directories: KitDirectories): Promise<RecorderKit> {
    const kit = new RecorderKit();
    await kit.watch(...(directories.length === 0 ? [[''] as const] : directories));
    await kit.#open();
    return kit;
  }

  get store(): FileStore {
    return this.#store;
  }

  get recorder(): Recorder {
    return this.#recorder;
  }

  get baselines(): Baselines {
    return this.#baselines;
  }

  get directories(): WatchedDirectories {
    return this.#directories;
  }

  path(...parts: readonly string[]): string {
    return join(this.root, ...parts);
  }

  async watch(...directories: KitDirectories): Promise<void> {
    const written = directories.map(([path, ...options]) => ({ path: this.path(path), options }));
    this.#directories = await watchedDirectories(written, TRAITS, {});
  }

  /** As after a stop and a start. */
  async reopen(): Promise<void> {
    await this.#store.close();
    await this.#open();
  }

  async remove(): Promise<void> {
    await this.#store.close();
    await this.threads.close();
    for (const directory of [this.#home, this.root]) removeTree(directory);
  }

  /** Looks at everything that is configured, as a scan does, without recording it. */
  async look(): Promise<ScannedEntry[]> {
    const entries: ScannedEntry[] = [];
    for await (const group of this.#tree()) entries.push(...group);
    return entries;
  }

  /** Looks at one file. */
  async lookAt(name: string): Promise<ScannedEntry> {
    const path = this.path(name);
    const directory = this.#directories.decides(path)!;
    const ticket = this.#recorder.ticket();
    const [outcome] = await this.threads.read([path], directory.checks);
    if (outcome === undefined || outcome.kind === 'skipped') throw new Error(`${name}: ${outcome?.reason}`);
    return { ...outcome, path, directory, ticket };
  }

  /** One whole scan: what is found, then what is gone. */
  async scan(): Promise<void> {
    const marks = this.#recorder.beginScan();
    const ticket = this.#recorder.ticket();
    const silent = this.#baselines.silent.bind(this.#baselines);
    for await (const entries of this.#tree()) {
      await this.#recorder.record(entries, { mode: 'scheduled', ticket, scan: marks, silent });
    }
    for await (const rows of this.#recorder.unseen(marks)) {
      const before = this.#recorder.ticket();
      const gone: FileRow[] = [];
      for (const row of rows) {
        const isThere = await lstat(bytesOf(row.path)).then(
          () => true,
          () => false,
        );
        if (!isThere) gone.push(row);
      }
      await this.#recorder.remove(gone, { mode: 'scheduled', ticket: before, silent: false });
    }
    marks.end();
    await this.#recorder.settled();
    await this.#baselines.finish(this.#directories);
  }

  /** Records readings as a part that makes no difference between old and new directories. */
  record(entries: readonly ScannedEntry[], ticket = 0, mode: FimMode = 'realtime'): Promise<RecordResult> {
    return this.#recorder.record(entries, { mode, ticket, silent: () => false });
  }

  /** What is in the outbox, oldest first. */
  async waiting(): Promise<SequencedEvent[]> {
    await this.#recorder.settled();
    return this.#store.outbox.behind(0, 1_000_000, Number.MAX_SAFE_INTEGER);
  }

  /** Events of changes in the outbox, oldest first. */
  async events(): Promise<ToldChange[]> {
    const waiting = await this.waiting();
    return waiting.flatMap(({ message }) => toldChange(message.toString('latin1')) ?? []);
  }

  /** Changes in the outbox as `added one`, paths relative to the tree. */
  async changes(): Promise<string[]> {
    const events = await this.events();
    return events.map(({ change, path }) => `${change} ${path.slice(this.root.length + 1)}`);
  }

  /** Takes everything out of the outbox. */
  async drain(): Promise<void> {
    await this.#recorder.settled();
    await this.#store.outbox.acknowledge(this.#store.outbox.last);
  }

  #tree(): AsyncGenerator<ScannedEntry[], void, undefined> {
    return scanTree({
      directories: this.#directories,
      ignore: new IgnoreList([], {}),
      fileSystems: new FileSystems({ nfs: true, dev: false, sys: true, proc: true }),
      threads: this.threads,
      maxFilesPerSecond: 0,
      known: (path) => this.#recorder.known(path),
      ticket: () => this.#recorder.ticket(),
    });
  }

  async #open(): Promise<void> {
    this.#store = await FileStore.open(join(this.#home, 'db'), this.logger);
    this.#baselines = new Baselines(this.#store);
    this.#recorder = new Recorder({
      store: this.#store,
      directories: () => this.#directories,
      names: () => this.names,
      limit: () => this.limit,
      contents: this.contents,
      logger: this.logger,
      now: () => this.now,
    });
  }
}
