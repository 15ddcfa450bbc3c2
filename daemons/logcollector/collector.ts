import type { BusEvent } from '../../lib/bus/bus-event.js';
import type { EventProducer } from '../../lib/bus/event-producer.js';
import type { LocalfileConfig } from '../../lib/config/sections/localfile.js';
import { unlessAborted } from '../../lib/daemon/unless-aborted.js';
import { QUEUE_IDS } from '../../lib/events/queue-ids.js';
import { writeFileAtomically } from '../../lib/files/write-file-atomically.js';
import type { Home } from '../../lib/home/home.js';
import type { Logger } from '../../lib/log/logger.js';
import { bootId } from '../../lib/process/process-identity.js';
import type { CollectorSettings } from './collector-settings.js';
import { CollectorStats } from './collector-stats.js';
import { CommandRunner } from './command-runner.js';
import { FileFollower } from './file-follower.js';
import type { HostFacts } from './file-source.js';
import { JournalReader } from './journal-reader.js';
import { openLog } from './open-log.js';
import { type MessageFormat, Outlet, type SocketOutlet } from './outlet.js';
import { compileOutputFormat } from './output-format.js';
import { PositionStore, type SavedJournal } from './position-store.js';
import { SocketTarget } from './socket-target.js';

/**
 * Pauses between two saves of positions, the second as a multiple of what a save takes. What the sink has beyond them it
 * tells after a crash; but of a file that was cut while nobody looked, only the positions know how it began.
 */
const MIN_SAVE_PAUSE_MS = 1000;
const SAVE_PAUSE_FACTOR = 20;

export type CollectorParts = {
  readonly home: Home;
  readonly settings: CollectorSettings;
  readonly producer: EventProducer;
  readonly host: HostFacts;
  readonly logger: Logger;
  /** Program that shows the journal. */
  readonly journalctl: string;
};

/** Everything svc-logcollector collects: files, the journal, commands. */
export class Collector {
  readonly stats = new CollectorStats(() => new Date());
  readonly #parts: CollectorParts;
  readonly #follower: FileFollower;
  readonly #store: PositionStore;
  #settings: CollectorSettings;
  #sockets = new Map<string, SocketTarget>();
  #commands: CommandRunner[] = [];
  #journal: JournalReader | undefined;
  readonly #timers = new Set<NodeJS.Timeout>();
  #saving: Promise<unknown> = Promise.resolve();
  /** A save that has not begun: whoever wants one meanwhile shares it. */
  #nextSave: Promise<boolean> | undefined;
  #stopped = false;

  constructor(parts: CollectorParts) {
    const { home, settings, producer, logger } = parts;
    const { options } = settings;
    this.#parts = parts;
    this.#settings = settings;
    this.#store = new PositionStore(home.path('queue', 'logcollector', 'file_status.json'), logger);
    this.#follower = new FileFollower({
      openFile: (path) => openLog(home.root, path),
      events: {
        openStream: (name, from, options) => producer.openStream(name, from, options),
        trySend: (event) => producer.trySend(event),
        ready: () => producer.ready(),
      },
      makeOutlet: (source, path, stream) => {
        const location = source.locationOf(path);
        return new Outlet({
          location,
          queue: source.queue,
          stream,
          streamFormat: this.#format(source.config, 'agent', location),
          sockets: this.#socketsOf(source.config, location),
          stats: this.stats,
          now: Date.now,
        });
      },
      logger,
      limits: {
        maxFiles: options.get('logcollector.max_files'),
        maxLines: options.get('logcollector.max_lines'),
        sampleBytes: options.get('logcollector.sample_log_length'),
      },
      now: Date.now,
      monotonic: () => performance.now(),
      boot: bootId(),
      savePositions: () => this.#save(),
    });
  }

  async start(): Promise<void> {
    const { options } = this.#settings;
    const state = this.#store.load();
    this.#openSockets();
    this.#startJournal(state.journald);
    await this.#follower.start(this.#settings.files, state.files, state.locations ?? []);
    this.#startCommands();
    this.#every(options.get('logcollector.loop_timeout'), () => this.#follower.poll());
    this.#every(Math.max(1, options.get('logcollector.vcheck_files')), () => this.#follower.scan());
    this.#every(MIN_SAVE_PAUSE_MS / 1000, () => this.#saveAndPause());
    const interval = options.get('logcollector.state_interval');
    if (interval > 0) {
      this.#every(interval, () => this.#writeState());
    }
  }

  /** Goes over to other settings; files whose block did not change are not touched. */
  async reload(settings: CollectorSettings): Promise<void> {
    const journalBefore = JSON.stringify(this.#settings.journal?.blocks);
    const socketsBefore = JSON.stringify(this.#settings.sockets);
    this.#settings = settings;
    if (JSON.stringify(settings.sockets) !== socketsBefore) {
      this.#openSockets();
    }
    await this.#follower.reload(settings.files);
    await Promise.all(this.#commands.map((command) => command.stop()));
    this.#startCommands();
    if (JSON.stringify(settings.journal?.blocks) !== journalBefore) {
      await this.#journal?.stop();
      this.#startJournal(await this.#journal?.settledPosition());
    }
  }

  get counters(): Record<string, unknown> {
    return { ...this.#follower.counters, commands: this.#commands.length, journal: this.#journal !== undefined };
  }

  /** Stops reading; what was read is acknowledged or read again after the next start. */
  async stop(drained: () => Promise<void>): Promise<void> {
    this.#stopped = true;
    this.#timers.forEach((timer) => {
      clearTimeout(timer);
    });
    await Promise.all([...this.#commands.map((command) => command.stop()), this.#journal?.stop()]);
    await this.#follower.stop(async () => {
      await drained();
      await this.#save();
    });
    this.#sockets.forEach((socket) => {
      socket.stop();
    });
  }

  /**
   * Writes positions down, what changed before the call included. One after the other: positions collected earlier must
   * not be written later.
   * @returns false when they could not be written
   */
  #save(): Promise<boolean> {
    if (this.#nextSave === undefined) {
      this.#nextSave = this.#saving.then(() => {
        this.#nextSave = undefined;
        return this.#saveNow();
      });
      this.#saving = this.#nextSave.catch(() => undefined);
    }
    return this.#nextSave;
  }

  async #saveNow(): Promise<boolean> {
    const { files, locations } = await this.#follower.positions();
    const journald = this.#journal?.position;
    return this.#store.save({ files, locations, ...(journald === undefined ? {} : { journald }) });
  }

  /** Saves, and gives the pause after it, seconds, in proportion: many files must not keep the daemon busy. */
  async #saveAndPause(): Promise<number> {
    const begin = performance.now();
    await this.#save();
    return Math.max(MIN_SAVE_PAUSE_MS, SAVE_PAUSE_FACTOR * (performance.now() - begin)) / 1000;
  }

  #writeState(): Promise<void> {
    this.stats.nextInterval();
    const path = this.#parts.home.path('var', 'run', 'svc-logcollector.state');
    writeFileAtomically(path, `${JSON.stringify(this.stats.toJson())}\n`, { mode: 0o640 });
    return Promise.resolve();
  }

  /** Does something again and again, `seconds` after it was done before, or as many as it says. */
  #every(seconds: number, action: () => Promise<unknown>): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      let pause = seconds;
      // A call that throws at once, such as a write to a full disk, ends as one that rejects: said, and done again later.
      Promise.resolve()
        .then(action)
        .then((wanted) => {
          if (typeof wanted === 'number') {
            pause = wanted;
          }
        })
        .catch((error: unknown) => {
          this.#parts.logger.error(error instanceof Error ? error.message : String(error));
        })
        .finally(() => {
          if (!this.#stopped) {
            this.#every(pause, action);
          }
        });
    }, seconds * 1000);
    this.#timers.add(timer);
  }

  // ---- targets

  #openSockets(): void {
    const { logger, settings } = this.#parts;
    this.#sockets.forEach((socket) => {
      socket.stop();
    });
    this.#sockets = new Map(
      this.#settings.sockets.map(({ name, location, prefix }) => [
        name,
        new SocketTarget({
          name,
          path: location,
          prefix,
          queueSize: settings.options.get('logcollector.queue_size'),
          failTimeMs: settings.options.get('logcollector.sock_fail_time') * 1000,
          logger,
        }),
      ]),
    );
  }

  #socketsOf(config: LocalfileConfig, location: string): SocketOutlet[] {
    return config.target
      .filter((name) => name !== 'agent')
      .map((name) => ({
        name,
        target: () => this.#sockets.get(name),
        format: this.#format(config, name, location),
      }));
  }

  /** `out_format` of a target: its own, or one for all. */
  #format(config: LocalfileConfig, target: string, location: string): MessageFormat {
    const formats = config.out_format;
    const chosen = formats.find((each) => each.target === target) ?? formats.find((each) => each.target === undefined);
    if (chosen === undefined) {
      return (message) => message;
    }
    const { hostname, address, now } = this.#parts.host;
    return compileOutputFormat(chosen.format, { location, hostname, hostAddress: address, now });
  }

  // ---- other sources

  #startJournal(saved: SavedJournal | undefined): void {
    const { journal } = this.#settings;
    this.#journal = undefined;
    if (journal === undefined) {
      return;
    }
    const { producer, logger, journalctl } = this.#parts;
    this.#journal = new JournalReader({
      program: journalctl,
      filter: journal.filter,
      filterKey: journal.filterKey,
      lines: journal.lines,
      format: this.#format(journal.config, 'agent', 'journald'),
      onlyFuture: journal.onlyFuture,
      openStream: (name, from) => producer.openStream(name, from),
      ready: () => producer.ready(),
      logger,
      stats: this.stats,
      now: Date.now,
      savePosition: () => this.#save(),
    });
    this.#journal.start(saved);
  }

  #startCommands(): void {
    const { home, logger } = this.#parts;
    this.#commands = this.#settings.commands.map((config) => {
      const name = config.alias ?? config.command;
      const format = this.#format(config, 'agent', name);
      const runner = new CommandRunner({
        config,
        send: (location, message, signal) => this.#send(location, format(message), signal),
        logger,
        directory: home.root,
      });
      runner.start();
      return runner;
    });
  }

  /** Hands on an event that has no position: waits for room, as long as it takes or until the signal is aborted. */
  async #send(location: string, message: Buffer, signal: AbortSignal): Promise<void> {
    const { producer } = this.#parts;
    const event: BusEvent = {
      queue: QUEUE_IDS.log,
      location: Buffer.from(location, 'utf8').toString('latin1'),
      message,
      receivedAt: Date.now(),
    };
    while (!producer.trySend(event)) {
      await unlessAborted(signal, producer.ready());
      if (signal.aborted) {
        return;
      }
    }
    this.stats.count(location, message.length, ['agent']);
  }
}
