import { mkdirSync, mkdtempSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Realtime, type RealtimeParts } from '../../../daemons/syscheckd/realtime/realtime.js';
import { ThreadWatcher } from '../../../daemons/syscheckd/realtime/thread-watcher.js';
import type { Watcher } from '../../../daemons/syscheckd/realtime/watcher.js';
import type { OutEvent } from '../../../daemons/syscheckd/store/outbox.js';
import type { PathOrPattern, SyscheckDirectory } from '../../../lib/config/sections/syscheck.js';
import { EntryThreads } from '../../../lib/fim/scan/entry-threads.js';
import { FileSystems } from '../../../lib/fim/scan/file-systems.js';
import { IgnoreList } from '../../../lib/fim/scan/path-list.js';
import { scanTree } from '../../../lib/fim/scan/scan-tree.js';
import { type WatchedDirectories, watchedDirectories } from '../../../lib/fim/scan/watched-directories.js';
import { eventually } from '../eventually.js';
import { RecordingLogger } from '../recording-logger.js';
import { removeTree } from '../remove-tree.js';
import { TRAITS } from './fim-tree.js';
import { RecorderDouble } from './recorder-double.js';

const LIMITS = { maxFileBytes: 1024 ** 3 };

/** Real-time monitoring of a temporary directory, with scans as the daemon makes them. Paths are relative to it. */
export class RealtimeKit {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'svc-realtime-')));
  readonly recorder = new RecorderDouble();
  readonly logger = new RecordingLogger();
  readonly notices: OutEvent[] = [];
  readonly failures: unknown[] = [];
  readonly realtime: Realtime;
  readonly #threads = new EntryThreads(LIMITS, 1);
  readonly #baselines = new Set<string>();
  #directories: WatchedDirectories | undefined;
  #ignore = new IgnoreList([], {});
  links = 0;

  constructor(watcher: Watcher = new ThreadWatcher(), parts: Partial<RealtimeParts> = {}) {
    this.realtime = new Realtime({
      watcher,
      recorder: this.recorder,
      outbox: {
        put: (events) => {
          this.notices.push(...events);
          return Promise.resolve();
        },
      },
      threads: new EntryThreads(LIMITS, 1),
      logger: this.logger,
      delay: 5,
      silent: ({ path }) => !this.#baselines.has(path),
      linkChanged: () => (this.links += 1),
      failed: (error) => this.failures.push(error),
      ...parts,
    });
  }

  path(...parts: readonly string[]): string {
    return join(this.root, ...parts);
  }

  /** Puts a whole file in its place: there is no moment at which it is empty. */
  write(path: string, content = 'x'): void {
    mkdirSync(dirname(this.path(path)), { recursive: true });
    writeFileSync(this.path('.new'), content);
    renameSync(this.path('.new'), this.path(path));
  }

  make(path: string): void {
    mkdirSync(this.path(path), { recursive: true });
  }

  /** What is watched, by its path in the tree; `['']` is the tree itself. All of it in real time but for the scheduled. */
  async watch(
    entries: readonly (readonly [string, ...SyscheckDirectory['options']])[],
    ignore: readonly PathOrPattern[] = [],
  ): Promise<void> {
    this.#ignore = new IgnoreList(ignore, {});
    this.#directories = await watchedDirectories(
      entries.map(([path, ...options]) => ({
        path: this.path(path),
        options: [{ name: 'realtime', value: true }, ...options],
      })),
      TRAITS,
      {},
    );
    await this.realtime.update({ directories: this.#directories, ...this.#shared() });
  }

  /** A scan that is a baseline where there was none. @param during called when all directories are watched and read */
  async scan(during: () => void = () => {}): Promise<void> {
    const { recorder } = this;
    const directories = this.#directories;
    if (directories === undefined) throw new Error('watch first');
    const marks = recorder.beginScan();
    const ticket = recorder.ticket();
    const found = scanTree({
      directories,
      ...this.#shared(),
      threads: this.#threads,
      maxFilesPerSecond: 0,
      known: (path) => recorder.known(path),
      onDirectory: this.realtime.onDirectory,
    });
    const silent = ({ path }: { readonly path: string }): boolean => !this.#baselines.has(path);
    for await (const group of found) {
      this.realtime.found(group);
      await recorder.record(group, { mode: 'scheduled', ticket, scan: marks, silent });
    }
    during();
    for (const { path } of directories) this.#baselines.add(path);
    marks.end();
    this.realtime.scanned();
  }

  /** Waits until exactly these events have been, in any order; paths are relative to the tree. Then they are forgotten. */
  async events(...expected: readonly string[]): Promise<void> {
    const wanted = expected.map((event) => event.replace(' ', ` ${this.root}/`)).sort();
    await eventually(`the events ${expected.join(', ')}; there are ${this.recorder.events.join(', ')}`, () =>
      wanted.every((event) => this.recorder.events.includes(event)),
    );
    await this.realtime.idle();
    const events = this.recorder.events.splice(0).sort();
    if (events.join() !== wanted.join()) throw new Error(`other events: ${events.join(', ')}`);
    if (this.failures.length > 0) throw this.failures[0];
  }

  async remove(): Promise<void> {
    await this.realtime.close();
    await this.#threads.close();
    removeTree(this.root);
    if (this.recorder.marks.size > 0) throw new Error('marks of a scan were not ended');
  }

  #shared(): { readonly ignore: IgnoreList; readonly fileSystems: FileSystems } {
    return {
      ignore: this.#ignore,
      fileSystems: new FileSystems({ nfs: true, dev: false, sys: true, proc: true }),
    };
  }
}
