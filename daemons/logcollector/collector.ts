import type { EventProducer } from '../../lib/bus/event-producer.js';
import type { EventStream } from '../../lib/bus/event-stream.js';
import type { LocalfileConfig } from '../../lib/config/sections/localfile.js';
import { QUEUE_IDS } from '../../lib/events/queue-ids.js';
import { writeFileAtomically } from '../../lib/files/write-file-atomically.js';
import type { Home } from '../../lib/home/home.js';
import type { LimitedLogger, Logger } from '../../lib/log/logger.js';
import { bootId } from '../../lib/process/process-identity.js';
import type { CollectorSettings } from './collector-settings.js';
import { CollectorStats } from './collector-stats.js';
import { FileFollower } from './file-follower.js';
import type { HostFacts } from './file-source.js';
import { JournalReader } from './journal-reader.js';
import { MAX_LINE_BYTES } from './line-splitter.js';
import { openLog } from './open-log.js';
import { type MessageFormat, Outlet, type OutletParts, type SocketOutlet } from './outlet.js';
import { compileOutputFormat } from './output-format.js';
import { PassingSources } from './passing-sources.js';
import { PositionStore, type SavedJournal } from './position-store.js';
import { SocketTarget } from './socket-target.js';
import { AGENT_TARGET } from './usable-targets.js';

/**
 * Pauses between two saves of positions, the second as a multiple of what a save takes. What the sink has beyond them it
 * tells after a crash; but of a file that was cut while nobody looked, only the positions know how it began.
 */
const MIN_SAVE_PAUSE_MS = 1000;
const SAVE_PAUSE_FACTOR = 20;
/** Location of the journal's events. */
const JOURNAL_LOCATION = 'journald';

export type CollectorParts = {
  readonly home: Home;
  readonly settings: CollectorSettings;
  readonly producer: EventProducer;
  readonly host: HostFacts;
  readonly logger: Logger;
  /** Program that shows the journal. */
  readonly journalctl: string;
};

/** Everything svc-logcollector collects: files, the journal, commands, pipes. */
export class Collector {
  readonly stats = new CollectorStats(() => new Date());
  readonly #parts: CollectorParts;
  readonly #follower: FileFollower;
  readonly #passing: PassingSources;
  readonly #store: PositionStore;
  readonly #cutLog: LimitedLogger;
  /** Of this host, for `$(host_ip)`. */
  #address: string;
  #settings: CollectorSettings;
  #sockets = new Map<string, SocketTarget>();
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
    this.#cutLog = logger.limited();
    this.#address = parts.host.address();
    this.#store = new PositionStore(home.path('queue', 'logcollector', 'file_status.json'), logger);
    this.#passing = new PassingSources({
      home,
      producer,
      makeOutlet: (config, location, send) => this.#outlet(config, location, send),
      logger,
      sampleBytes: options.get('logcollector.sample_log_length'),
    });
    this.#follower = new FileFollower({
      openFile: (path) => openLog(home.root, path),
      events: {
        openStream: (name, from, options) => producer.openStream(name, from, options),
        trySend: (event) => producer.trySend(event),
        ready: () => producer.ready(),
      },
      makeOutlet: (source, path, stream) =>
        this.#outlet(source.config, source.locationOf(path), sendOn(stream), source.queue),
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
    await this.#passing.exchange(this.#settings);
    this.#every(options.get('logcollector.loop_timeout'), () => this.#look());
    this.#every(Math.max(1, options.get('logcollector.vcheck_files')), () => this.#follower.scan());
    this.#every(MIN_SAVE_PAUSE_MS / 1000, () => this.#saveAndPause());
    const addressInterval = options.get('logcollector.ip_update_interval');
    if (addressInterval > 0) {
      this.#every(addressInterval, () => {
        this.#address = this.#parts.host.address();
        return Promise.resolve();
      });
    }
    const interval = options.get('logcollector.state_interval');
    if (interval > 0) {
      this.#every(interval, () => this.#writeState());
    }
  }

  async #look(): Promise<void> {
    this.#passing.look();
    await this.#follower.poll();
  }

  /** Goes over to other settings; files, commands and pipes whose block did not change are not touched. */
  async reload(settings: CollectorSettings): Promise<void> {
    const journalBefore = JSON.stringify(this.#settings.journal?.blocks);
    const socketsBefore = JSON.stringify(this.#settings.sockets);
    this.#settings = settings;
    if (JSON.stringify(settings.sockets) !== socketsBefore) {
      this.#openSockets();
    }
    await this.#follower.reload(settings.files);
    await this.#passing.exchange(settings);
    if (JSON.stringify(settings.journal?.blocks) !== journalBefore) {
      await this.#journal?.stop();
      this.#startJournal(await this.#journal?.settledPosition());
    }
  }

  get counters(): Record<string, unknown> {
    return { ...this.#follower.counters, ...this.#passing.counters, journal: this.#journal !== undefined };
  }

  /** Stops reading; what was read is acknowledged or read again after the next start. */
  async stop(drained: () => Promise<void>): Promise<void> {
    this.#stopped = true;
    this.#timers.forEach((timer) => {
      clearTimeout(timer);
    });
    await Promise.all([this.#passing.stop(), this.#journal?.stop()]);
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

  /** @param send hands an event to the sink of the home; absent when `agent` is no target */
  #outlet(config: LocalfileConfig, location: string, send: OutletParts['send'], queue: string = QUEUE_IDS.log): Outlet {
    const format = this.#format(config, AGENT_TARGET, location);
    const sockets = this.#socketsOf(config, location);
    return new Outlet({ location, queue, send, format, sockets, stats: this.stats, now: Date.now });
  }

  #socketsOf(config: LocalfileConfig, location: string): SocketOutlet[] {
    return config.target
      .filter((name) => name !== AGENT_TARGET)
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
    const { hostname, now } = this.#parts.host;
    const cut = (bytes: number): void => {
      this.#cutLog.warn(
        `A message of '${location}' has ${String(bytes)} bytes in its 'out_format' and is cut to ${String(MAX_LINE_BYTES)}`,
      );
    };
    return compileOutputFormat(chosen.format, { location, hostname, hostAddress: () => this.#address, now, cut });
  }

  // ---- other sources

  #startJournal(saved: SavedJournal | undefined): void {
    const { journal } = this.#settings;
    this.#journal = undefined;
    if (journal === undefined) {
      return;
    }
    const { config } = journal;
    const { producer, logger, journalctl } = this.#parts;
    this.#journal = new JournalReader({
      program: journalctl,
      filter: journal.filter,
      filterKey: journal.filterKey,
      lines: journal.lines,
      makeOutlet: (stream) => this.#outlet(config, JOURNAL_LOCATION, sendOn(stream)),
      onlyFuture: journal.onlyFuture,
      openStream: config.target.includes(AGENT_TARGET) ? (name, from) => producer.openStream(name, from) : undefined,
      ready: () => producer.ready(),
      logger,
      now: Date.now,
      savePosition: () => this.#save(),
    });
    this.#journal.start(saved);
  }
}

function sendOn(stream: EventStream | undefined): OutletParts['send'] {
  return stream === undefined ? undefined : (event, sequence) => stream.trySend(event, sequence);
}
