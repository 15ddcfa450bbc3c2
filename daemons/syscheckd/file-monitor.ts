import { readdirSync } from 'node:fs';
import { MANAGER_ID } from '../../lib/agentlink/agent-identity.js';
import type { dbContract } from '../../lib/bus/contracts/db.js';
import type { ScanStatus } from '../../lib/bus/contracts/syscheckd.js';
import type { EventProducer } from '../../lib/bus/event-producer.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import { FIM_FILE } from '../../lib/events/fim/fim-messages.js';
import { EntryThreads } from '../../lib/fim/scan/entry-threads.js';
import { WatchedDirectories } from '../../lib/fim/scan/watched-directories.js';
import type { Home } from '../../lib/home/home.js';
import type { Logger } from '../../lib/log/logger.js';
import { HOST_CLOCK as SYNC_CLOCK } from '../../lib/sync/sync-clock.js';
import { AgentOutlet, ManagerOutlet, type SyncOutlet } from '../../lib/sync/sync-outlet.js';
import { copyName } from './diff/copy-name.js';
import { diffSettings, DiffWorker } from './diff/diff-worker.js';
import { HostNames } from './host-names.js';
import { LinkWatch } from './link-watch.js';
import { Realtime } from './realtime/realtime.js';
import { ThreadWatcher } from './realtime/thread-watcher.js';
import { FillState } from './record/fill-state.js';
import { Recorder } from './record/recorder.js';
import { HOST_CLOCK, ScanLoop } from './scan/scan-loop.js';
import { ScanRunner } from './scan/scan-runner.js';
import type { SyscheckdSettings } from './settings.js';
import { Baselines } from './store/baselines.js';
import type { FileStore } from './store/file-store.js';
import { isOtherPrefilter, rememberPrefilter } from './store/prefilter-mark.js';
import { SyncSource } from './store/sync-source.js';
import { SyncRunner } from './sync/sync-runner.js';
import { WatchLog } from './watch-log.js';

/** Threads that look at files changed in real time: one file at a time is the rule. */
const REALTIME_THREADS = 1;

export type FileMonitorParts = {
  readonly home: Home;
  /** In force now; the same object until it changes. */
  readonly settings: () => SyscheckdSettings;
  readonly store: FileStore;
  readonly producer: EventProducer;
  /** On a manager: what is synchronised goes to svc-db at once. */
  readonly db: RequestClient<typeof dbContract> | undefined;
  readonly logger: Logger;
  readonly setProblem: (problem: string | undefined) => void;
  /** It cannot go on. */
  readonly fatal: (error: unknown) => void;
};

/** Watches files: scans, real time, the record of them and its synchronisation (integrity-and-inventory.md 3). */
export class FileMonitor {
  readonly #parts: FileMonitorParts;
  readonly #log: WatchLog;
  readonly #recorder: Recorder;
  readonly #baselines: Baselines;
  readonly #contents: DiffWorker;
  readonly #threads: EntryThreads;
  readonly #realtime: Realtime;
  readonly #runner: ScanRunner;
  readonly #loop: ScanLoop;
  readonly #links: LinkWatch;
  readonly #sync: SyncRunner;

  constructor(parts: FileMonitorParts) {
    const { home, settings, store, logger, fatal } = parts;
    const { scan, options, syscheck } = settings();
    this.#parts = parts;
    this.#log = new WatchLog(logger);
    this.#baselines = new Baselines(store);
    this.#contents = new DiffWorker({
      home: home.root,
      logger,
      settings: () => diffSettings(settings().syscheck.diff, settings().scan.nodiff),
    });
    const names = new HostNames();
    this.#recorder = new Recorder({
      store,
      directories: () => this.directories,
      names: () => names.current(),
      limit: () => settings().fileLimit,
      contents: this.#contents,
      logger,
      now: Date.now,
    });
    this.#threads = new EntryThreads(scan.limits);
    this.#realtime = new Realtime({
      watcher: new ThreadWatcher(),
      recorder: this.#recorder,
      outbox: store.outbox,
      threads: new EntryThreads(scan.limits, REALTIME_THREADS),
      logger,
      delay: options.get('syscheck.rt_delay'),
      silent: (directory) => this.#baselines.silent(directory),
      linkChanged: () => {
        this.#links.look();
      },
      failed: fatal,
    });
    this.#runner = new ScanRunner({
      rules: settings,
      recorder: this.#recorder,
      outbox: store.outbox,
      threads: this.#threads,
      baselines: this.#baselines,
      contents: this.#contents,
      follower: this.#realtime,
      fill: new FillState(store, logger),
      refreshed: (directories) => {
        this.#log.directories(directories);
      },
      logger,
      now: Date.now,
    });
    this.#loop = this.#newLoop();
    this.#links = this.#newLinkWatch();
    const outlet = this.#syncOutlet();
    this.#sync = new SyncRunner(
      { source: new SyncSource(store.table), outlet, clock: SYNC_CLOCK, logger },
      syscheck.synchronization,
    );
  }

  #newLoop(): ScanLoop {
    const { settings, logger, setProblem } = this.#parts;
    return new ScanLoop({
      what: 'File integrity monitoring',
      enabled: () => settings().watchesFiles,
      scan: (signal) => this.#scan(signal),
      times: settings().times,
      clock: HOST_CLOCK,
      logger,
      setProblem,
    });
  }

  #newLinkWatch(): LinkWatch {
    const { settings, logger } = this.#parts;
    return new LinkWatch({
      scanned: () => this.directories,
      now: () => settings().scan.directories(),
      changed: () => {
        this.#loop.request();
      },
      logger,
    });
  }

  /** Configured paths as they were looked at last. */
  get directories(): WatchedDirectories {
    return this.#runner.directories;
  }

  get status(): ScanStatus['fim'] {
    return { enabled: this.#parts.settings().watchesFiles, ...this.#loop.status, files: this.#recorder.rows };
  }

  /** For `stats` of the daemon. */
  get stats(): Record<string, unknown> {
    const { outbox } = this.#parts.store;
    return {
      scans: { ...this.#loop.status, ...this.#runner.counters },
      files: { known: this.#recorder.rows, ...this.#recorder.counters },
      outbox: { events: outbox.size, bytes: outbox.bytes },
      realtime: this.#realtime.status,
      synchronization: this.#sync.stats,
    };
  }

  /** @throws StoreError */
  async start(): Promise<void> {
    const { settings, store, logger } = this.#parts;
    const { options, scan } = settings();
    this.#log.settings(settings());
    const mark = settings().scan.limits.prefilter?.mark;
    const isOther = settings().watchesFiles && isOtherPrefilter(store, mark);
    if (isOther && this.#recorder.rows > 0) {
      logger.info('<prefilter_cmd> is another one: files are recorded anew, without events.');
    }
    if (isOther || options.get('syscheck.alert_changes_while_stopped') === 0) {
      await store.clear();
      await this.#baselines.clear();
    }
    if (isOther) await rememberPrefilter(store, mark);
    await store.readBy(String(scan.limits.maxFileBytes));
    const directories = await this.#runner.refresh();
    await this.#forgetCopies(directories);
    this.#links.start(options.get('syscheck.symlink_scan_interval'));
    this.#loop.start();
  }

  /** Goes on with the settings that are in force now. @param changed whether `<syscheck>` differs */
  async reload(changed: boolean): Promise<void> {
    if (!changed) return;
    const { settings } = this.#parts;
    this.#log.settings(settings());
    await this.#runner.refresh();
    this.#loop.reschedule(settings().times);
    this.requestScan();
    if (!settings().watchesFiles) {
      const { ignore, fileSystems } = settings().scan;
      await this.#realtime.update({ directories: new WatchedDirectories([]), ignore, fileSystems });
    }
    const { synchronization } = settings().syscheck;
    await this.#sync.apply({ ...synchronization, enabled: synchronization.enabled && settings().watchesFiles });
  }

  /** A scan now, or right after the one that is running. */
  requestScan(): void {
    this.#loop.request();
  }

  /** An answer of the manager to a message of the synchronisation, a byte string. */
  synchronise(text: string): void {
    this.#sync.take(text);
  }

  /** Calls off everything; what is recorded is on its way to the disk. Nothing goes on when the store is closed. */
  async stop(): Promise<void> {
    this.#links.stop();
    await Promise.all([this.#loop.stop(), this.#sync.stop(), this.#realtime.close()]);
    await Promise.all([this.#threads.close(), this.#contents.close()]);
  }

  async #scan(signal: AbortSignal): Promise<boolean> {
    try {
      const finished = await this.#runner.scan(signal);
      if (finished) this.#sync.start();
      return finished;
    } catch (error) {
      // Another scan would fail for the same reason: the threads do not come back.
      if (!signal.aborted && this.#threads.failure !== undefined) this.#parts.fatal(error);
      throw error;
    } finally {
      this.#threads.rest();
    }
  }

  #syncOutlet(): SyncOutlet {
    const { db, producer, logger } = this.#parts;
    if (db === undefined) return new AgentOutlet({ producer, location: FIM_FILE, now: Date.now, logger });
    return new ManagerOutlet({
      deliver: (message, options) => db.call('fim.sync', { agent: MANAGER_ID, message }, options),
      answered: (order) => this.synchronise(order),
      logger,
    });
  }

  /** Copies of files that are known no more: the configuration has changed while the daemon was stopped, say. */
  async #forgetCopies(directories: WatchedDirectories): Promise<void> {
    const { home, store } = this.#parts;
    if (isEmpty(home.path('queue', 'diff', 'file'))) return;
    const known = new Set<string>();
    for await (const rows of store.pieces(() => true)) {
      for (const { path } of rows) if (directories.decides(path)?.reportChanges === true) known.add(copyName(path));
    }
    await this.#contents.retain((name) => known.has(name));
  }
}

function isEmpty(directory: string): boolean {
  try {
    return readdirSync(directory).length === 0;
  } catch {
    return true;
  }
}
