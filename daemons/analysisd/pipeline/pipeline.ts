import { setTimeout as delay } from 'node:timers/promises';
import { Limiter } from '../../../lib/async/limiter.js';
import { waitUntil } from '../../../lib/async/wait-until.js';
import type { EventBatch } from '../../../lib/bus/bus-event.js';
import { MemoryStreamPositions } from '../../../lib/bus/stream-positions.js';
import type { JournalConfig } from '../../../lib/config/sections/journal.js';
import type { LoggedState } from '../../../lib/engine/state-changes.js';
import { CheckpointStore } from '../../../lib/journal/checkpoint-store.js';
import { Journal } from '../../../lib/journal/journal.js';
import { describeDamage } from '../../../lib/journal/journal-error.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { LimitedLogger } from '../../../lib/log/logger.js';
import { dayOf, isSameDay } from '../../../lib/time/local-day.js';
import { Analysis } from '../analysis.js';
import { Configuration, type ConfigurationParts } from '../configuration.js';
import type { Counters } from '../counters.js';
import type { EngineDiagnostics } from '../engine-diagnostics.js';
import type { EpsLimiter } from '../eps-limiter.js';
import { type InForce, isSameInForce } from '../in-force.js';
import type { Settings } from '../settings.js';
import { AnalysisThreads } from '../threads/analysis-threads.js';
import { EventsAhead } from '../threads/events-ahead.js';
import { Analyzer, type Progress } from './analyzer.js';
import { AppendingOutputs } from './appending-outputs.js';
import {
  analysisOf,
  type CheckpointData,
  encodeCheckpoint,
  joinCheckpoint,
  loadCheckpoint,
} from './checkpoint-data.js';
import { Checkpointer, type CheckpointSource, type RecordedRuleset, type StoredCheckpoint } from './checkpointer.js';
import { EventWriter } from './event-writer.js';
import { Intake } from './intake.js';
import { JournalFeed } from './journal-feed.js';
import { journalIdentity } from './journal-identity.js';
import type { RemovedAgents, StoredLog } from './journal-record.js';
import { pipelineStatistics } from './pipeline-statistics.js';
import { scanJournal, type ScannedJournal } from './scan-journal.js';
import { StateRecorder } from './state-recorder.js';
import { type EventStore, StoredEvents } from './stored-events.js';
import { TakenEvents } from './taken-events.js';

/** How long a stop goes on analysing what is in the journal; the rest is analysed after the next start. */
const DRAIN_MS = 2000;
/** How long a stop waits for its checkpoint; without it the next start analyses once more what came since the last. */
const LAST_CHECKPOINT_MS = 1500;
const DRAIN_POLL_MS = 10;

export type PipelineParts = ConfigurationParts & {
  readonly settings: Settings;
  readonly counters: Counters;
  readonly epsLimiter: EpsLimiter | undefined;
  /** As in `AnalyzerParts`; without it events are analysed at once. */
  readonly ready?: () => Promise<unknown>;
  /** Wall clock, epoch milliseconds. */
  readonly now: () => number;
  /** Alerts have reached the file system. */
  readonly onWritten: () => void;
  /** Where events of some queues are stored beside their analysis. */
  readonly stores?: readonly EventStore[];
  /** For tests: bound on the memory of remembered events. */
  readonly maxRememberedBytes?: number | undefined;
  /** For benches: what threads of the analysis run. */
  readonly threadProgram?: URL;
  /** For tests, as in `StateRecorderParts`. */
  readonly logSpareBytes?: number;
};

/** The part of the journal that is kept for svc-db while it is away. */
const HELD_FOR_STORES = 1 / 4;

/**
 * The way of events through svc-analysisd (architecture.md 4 "Events", "Journal and checkpoint"):
 *
 *     sink -> intake -> journal -> feed -> analyzer -> outputs
 *                               -> stored events -> svc-db
 *
 * What the intake has taken is in the journal and acknowledged. The analyzer follows the journal; from time to time a
 * checkpoint holds how far it is. A start goes on from the last checkpoint and does again what came behind it, which gives
 * the same bytes, so that each event has its alert once whatever happened in between.
 */
export class Pipeline {
  readonly #parts: PipelineParts;
  readonly #journal: Journal;
  readonly #store: CheckpointStore;
  readonly #feed: JournalFeed;
  readonly #intake: Intake;
  readonly #stored: readonly StoredEvents[];
  readonly #analysis: Analysis;
  readonly #taken: TakenEvents;
  readonly #threads: AnalysisThreads | undefined;
  readonly #analyzer: Analyzer;
  readonly #checkpointer: Checkpointer;
  readonly #recorder: StateRecorder;
  readonly #configuration: Configuration;
  readonly #troubleLog: LimitedLogger;
  readonly #journalConfig: JournalConfig;
  /** Last accepted sequence of every stream: for the sink. */
  readonly positions: MemoryStreamPositions;
  /** What the newest record of the journal puts in force. */
  #newest: InForce;
  /** Rulesets that records of the journal name. */
  #rulesets: readonly RecordedRuleset[];
  #removedThrough: number;
  /** Events that were in the journal, and not analysed, at the start. */
  readonly #backlog: number;
  readonly #reloads = new Limiter({ atOnce: 1 });
  #rotation: { readonly position: number; readonly at: number } | undefined;
  #ticking = false;
  #checkpointedAt: number;
  /** How far the analysis was at the last checkpoint that is safe, and at the one that is being made. */
  #checkpointed = '';
  #captured = '';
  #stopped = false;
  #onFailure: (error: unknown) => void = () => {};

  /**
   * Opens journal and outputs where the last run has left them and finds out what was accepted. Nothing is analysed
   * before `start`.
   * @throws RulesetError when no ruleset loads; Error of the file system when what is there cannot be read
   */
  static async open(parts: PipelineParts): Promise<Pipeline> {
    const { home, logger, settings } = parts;
    const directory = home.path('queue', 'journal');
    const { journal: config } = settings.config;
    const store = new CheckpointStore(directory, ({ file, reason }) => {
      logger.error(`The checkpoint ${file} cannot be used: ${reason}.`);
    });
    const { loaded, data } = loadCheckpoint(store, directory);
    const troubleLog = logger.limited();
    const journal = await Journal.open({
      directory,
      sync: config.sync,
      segmentBytes: config.segment_size,
      maxBytes: config.max_size,
      ...(loaded === undefined ? {} : { committed: loaded.position }),
      onDamage: (report) => {
        if (report.kind === 'torn') logger.warn(describeDamage(report));
        else logger.error(describeDamage(report));
      },
      onTrouble: (error) => {
        troubleLog.error(`The journal has trouble with its files: ${describeError(error)}`);
      },
    });
    const checkpoint = loaded === undefined || data === undefined ? undefined : { position: loaded.position, data };
    if (checkpoint === undefined && journal.start < journal.end) {
      logger.error(
        loaded === undefined
          ? 'There is no checkpoint: all events of the journal are analysed, alerts that were written already are repeated.'
          : 'The checkpoint is from another version: all events of the journal are analysed, alerts may be repeated.',
      );
    }
    const positions = new MemoryStreamPositions();
    for (const [stream, sequence] of checkpoint?.data.taken.streams ?? []) positions.set(stream, sequence);
    const from = checkpoint?.position ?? journal.start;
    const scanned = await scanJournal(journal, from, positions);
    const analysed = checkpoint?.data.analysis.inForce;
    const configuration = new Configuration(parts, settings, (scanned.inForce ?? analysed)?.ruleset);
    const identity = await journalIdentity(directory);
    const mostHeld = Math.floor(config.max_size * HELD_FOR_STORES);
    const stored = (parts.stores ?? []).map(
      (place) => new StoredEvents({ journal, identity, store: place, logger, mostHeld }),
    );
    return new Pipeline(parts, {
      journal,
      store,
      checkpoint,
      positions,
      scanned,
      configuration,
      troubleLog,
      from,
      stored,
    });
  }

  private constructor(
    parts: PipelineParts,
    found: {
      readonly journal: Journal;
      readonly store: CheckpointStore;
      readonly checkpoint: { readonly position: number; readonly data: CheckpointData } | undefined;
      readonly positions: MemoryStreamPositions;
      readonly scanned: ScannedJournal;
      readonly configuration: Configuration;
      readonly troubleLog: LimitedLogger;
      readonly from: number;
      readonly stored: readonly StoredEvents[];
    },
  ) {
    const { home, logger, now, settings } = parts;
    const { journal, checkpoint, scanned, configuration, from } = found;
    this.#parts = parts;
    this.#journal = journal;
    this.#store = found.store;
    this.#journalConfig = settings.config.journal;
    this.#configuration = configuration;
    this.#troubleLog = found.troubleLog;
    this.positions = found.positions;
    this.#rulesets = scanned.rulesets;
    this.#removedThrough = Math.max(scanned.removedThrough, checkpoint?.data.analysis.removedThrough ?? 0);
    this.#checkpointedAt = now();

    const wanted = configuration.atStart();
    const inForce = checkpoint?.data.analysis.inForce ?? wanted;
    const directory = home.path('queue', 'journal');
    this.#recorder = new StateRecorder(
      { directory, logger, now, spareBytes: parts.logSpareBytes },
      checkpoint?.data.log,
    );
    this.#analysis = this.#newAnalysis(checkpoint?.data, inForce);
    this.#recorder.follow(this.#analysis);
    this.#taken = new TakenEvents();
    if (checkpoint !== undefined) this.#taken.restore(checkpoint.data.taken);
    const { threads } = settings.config.analysis;
    this.#feed = new JournalFeed(journal, from, (error) => {
      logger.error(`Events may be lost: ${describeError(error)}`);
    });
    this.#stored = found.stored;
    this.#intake = new Intake(journal, [this.#feed, ...this.#stored], now);
    this.#newest = wanted;
    if (!isSameInForce(wanted, scanned.inForce ?? inForce)) {
      this.#intake.require(() => {
        configuration.keep();
        return { kind: 'configuration', inForce: wanted };
      });
    }
    const done = checkpoint?.data.done ?? 0;
    this.#backlog = Math.max(0, scanned.events - done);
    this.#checkpointer = this.#newCheckpointer(
      checkpoint && { position: checkpoint.position, ruleset: inForce.ruleset, log: checkpoint.data.log ?? [] },
    );
    this.#threads = threads > 1 ? this.#newThreads(threads) : undefined;
    this.#analyzer = this.#newAnalyzer({ position: from, done }, checkpoint?.data.isSettled ?? false);
    if (this.#backlog > 0) logger.info(`${String(this.#backlog)} events of the journal are analysed first.`);
  }

  #newAnalyzer(start: Progress, startIsSettled: boolean): Analyzer {
    const { counters, logger, epsLimiter, now, onWritten } = this.#parts;
    const threads = this.#threads;
    return new Analyzer({
      analysis: this.#analysis,
      feed: this.#feed,
      writer: new EventWriter(this.#analysis, this.#taken, counters, logger),
      ...(threads === undefined ? {} : { ahead: new EventsAhead({ threads, taken: this.#taken, counters }) }),
      configuration: this.#configuration,
      logger,
      epsLimiter,
      now,
      start,
      startIsSettled,
      replayEnd: this.#journal.end,
      ready: this.#parts.ready ?? (() => Promise.resolve()),
      checkpoint: () => this.#checkpointer.make(),
      onWritten,
    });
  }

  #newThreads(count: number): AnalysisThreads {
    const { logger, counters, threadProgram: program } = this.#parts;
    const analysis = this.#analysis;
    return new AnalysisThreads({
      program,
      analysis,
      counters,
      outputs: new AppendingOutputs(analysis, counters),
      count,
      logger,
      onFailure: (error) => {
        this.#onFailure(error);
      },
    });
  }

  #newAnalysis(data: CheckpointData | undefined, inForce: InForce): Analysis {
    const { home, logger, now } = this.#parts;
    const restoreLogged = (states: readonly LoggedState[]): void => {
      this.#recorder.restore(states);
    };
    return new Analysis(
      home,
      logger,
      this.#configuration.rulesetOf(inForce),
      data === undefined ? { inForce, now: new Date(now()) } : { snapshot: analysisOf(data), restoreLogged },
      this.#parts.maxRememberedBytes,
    );
  }

  #newCheckpointer(last: StoredCheckpoint | undefined): Checkpointer {
    const { logger, now } = this.#parts;
    return new Checkpointer(
      {
        store: this.#store,
        logger,
        now,
        capture: () => this.#analyzer.atRest(() => this.#capture()),
        onKept: (older, newer) => {
          this.#checkpointed = this.#captured;
          this.#journal.free(Math.min(this.#store.freeable, ...this.#stored.map(({ needed }) => needed)));
          this.#forgetRulesets(older, newer);
          this.#recorder.retain([...older.log, ...newer.log]);
        },
      },
      last,
    );
  }

  get analysis(): Analysis {
    return this.#analysis;
  }

  get configuration(): Configuration {
    return this.#configuration;
  }

  /** Begins to analyse. @param onFailure gets what should never be thrown */
  async start(onFailure: (error: unknown) => void): Promise<void> {
    this.#onFailure = onFailure;
    const { inForce } = this.#analysis;
    await this.#threads?.begin(this.#analysis.threadConfiguration(this.#configuration.compiledFor(inForce)));
    // A copy that is there already is the usual case; without it nothing may name the ruleset, which is tried again.
    try {
      this.#configuration.keep();
    } catch (error) {
      this.#troubleLog.error(`The ruleset could not be kept as the last good one: ${describeError(error)}`);
    }
    await this.#recorder.start();
    // Without one, where the outputs end is not known: neither may they be written, nor may an event be accepted.
    if (this.#checkpointer.position === undefined) await this.#checkpointer.make();
    await this.tick();
    for (const stored of this.#stored) stored.start(onFailure);
    this.#analyzer.start(onFailure);
  }

  /**
   * Takes a batch of the sink: it is in the journal, and may be acknowledged, when this resolves.
   * @throws Error saying why not
   */
  take(batch: EventBatch): Promise<void> {
    if (this.#checkpointer.position === undefined) {
      return Promise.reject(new Error(this.#checkpointer.failure ?? 'there is no checkpoint yet'));
    }
    return this.#intake.take(batch);
  }

  /** Stores a log of `check_diff` at this place of the journal. @throws Error saying why not */
  async storeLog(stored: StoredLog): Promise<void> {
    await this.#intake.control({ kind: 'stored-log', stored });
  }

  /** Number of the last removal of an agent that is in the journal; 0 when there was none. */
  get removedThrough(): number {
    return this.#removedThrough;
  }

  /** Has the engine forget agents that were removed, for the events that come from now on. @throws Error saying why not */
  async forgetAgents(removed: RemovedAgents): Promise<void> {
    await this.#intake.control({ kind: 'agents-removed', removed });
    this.#removedThrough = removed.through;
  }

  /**
   * Puts the configuration on disk in force for the events that come from now on.
   * @returns the warnings of the load
   * @throws RulesetError naming file and line, Error when it could not be recorded; what was in force stays
   */
  reload(settings: Settings, diagnostics: EngineDiagnostics): Promise<readonly string[]> {
    return this.#reloads.run(() => this.#reload(settings, diagnostics));
  }

  async #reload(settings: Settings, diagnostics: EngineDiagnostics): Promise<readonly string[]> {
    const { inForce, accept, warnings } = this.#configuration.load(this.#newest, settings, diagnostics);
    if (!isSameInForce(inForce, this.#newest)) {
      const position = await this.#intake.control({ kind: 'configuration', inForce });
      this.#rulesets = [...this.#rulesets, { position, ruleset: inForce.ruleset }];
      this.#newest = inForce;
    }
    accept();
    return warnings;
  }

  /** What time brings: rotation, checkpoints, another try of what the disk refused. To be called each second. */
  async tick(): Promise<void> {
    if (this.#ticking || this.#stopped) return;
    this.#ticking = true;
    try {
      await this.#intake.meet();
      await this.#rotateIfDue();
    } catch (error) {
      this.#troubleLog.error(`The journal takes nothing, events wait at their producers: ${describeError(error)}`);
    } finally {
      this.#ticking = false;
    }
    this.#recorder.tick();
    if (this.#checkpointDue()) void this.#checkpointer.makeUnlessRunning();
  }

  #checkpointDue(): boolean {
    // Segments are kept for the older checkpoint, too: a journal that fills up has room only when both have moved on.
    const crowded = this.#journal.counters.bytes > this.#journalConfig.max_size / 2;
    if (crowded && this.#store.freeable < this.#analyzer.position) return true;
    const now = this.#parts.now();
    const elapsed = now - this.#checkpointedAt;
    // A clock that was set back must not keep checkpoints off.
    if (elapsed >= 0 && elapsed < this.#journalConfig.checkpoint_interval * 1000) return false;
    this.#checkpointedAt = now;
    return this.#progressText() !== this.#checkpointed;
  }

  /** Events in the journal whose alerts are not written. */
  get pending(): number {
    return Math.max(0, this.#backlog + this.#intake.journaled - this.#analyzer.written);
  }

  /** Whether no record is at hand, be it events or something else. */
  get isIdle(): boolean {
    return this.pending === 0 && this.#analyzer.recordTime === undefined;
  }

  /** Whether what is analysed may have been analysed before the start. */
  get replaying(): boolean {
    return this.#analyzer.replaying;
  }

  /** Members of the daemon's statistics. */
  stats() {
    return pipelineStatistics({
      now: this.#parts.now(),
      counters: this.#parts.counters,
      pending: this.pending,
      journal: this.#journal,
      journalConfig: this.#journalConfig,
      intake: this.#intake,
      analyzer: this.#analyzer,
      checkpointer: this.#checkpointer,
      analysis: this.#analysis,
      recorder: this.#recorder,
      threads: this.#threads,
      stored: this.#stored,
    });
  }

  /**
   * Analyses what is in the journal for a while, makes a last checkpoint and closes everything. To be called when no more
   * batches come.
   */
  async stop(): Promise<void> {
    const drained = (): boolean => this.pending === 0 || this.#analyzer.blocked !== undefined;
    await waitUntil(drained, { everyMs: DRAIN_POLL_MS, mostMs: DRAIN_MS });
    this.#stopped = true;
    await Promise.all(this.#stored.map((stored) => stored.stop()));
    await this.#analyzer.stop();
    await Promise.race([this.#checkpointer.make(), delay(LAST_CHECKPOINT_MS, undefined, { ref: false })]);
    await this.#threads?.close();
    this.#feed.close();
    await this.#recorder.stop();
    await this.#journal.close();
    try {
      this.#analysis.close({ midway: this.#analyzer.replaying });
    } catch (error) {
      this.#parts.logger.error(
        `Outputs could not be written at the end, the next start does it: ${describeError(error)}`,
      );
    }
  }

  async #rotateIfDue(): Promise<void> {
    const now = this.#parts.now();
    const probing = this.#intake.blocked !== undefined;
    if (!probing && !this.#analysis.outputs.isRotationDue(new Date(now))) return;
    const { progress } = this.#analyzer;
    const waits =
      this.#rotation !== undefined && progress !== undefined && progress.position <= this.#rotation.position;
    // One that the analysis has not come to yet does it, unless the day has changed once more.
    if (!probing && waits && isSameDay(dayOf(new Date(now)), dayOf(new Date(this.#rotation?.at ?? now)))) return;
    const position = await this.#intake.control({ kind: 'rotation' });
    this.#rotation = { position, at: now };
  }

  #progressText(): string {
    return JSON.stringify(this.#analyzer.progress);
  }

  /** Everything in one turn of the event loop: what is between two events belongs together. */
  #capture(): CheckpointSource | undefined {
    const { progress } = this.#analyzer;
    if (progress === undefined) return undefined;
    const analysis = this.#analysis;
    const { ruleset } = analysis.inForce;
    if (ruleset === this.#newest.ruleset) this.#configuration.keep();
    analysis.flush();
    this.#captured = this.#progressText();
    this.#checkpointedAt = this.#parts.now();
    const { snapshot, events } = analysis.capture();
    const { isSettled } = this.#analyzer;
    const recorder = this.#recorder;
    const parts = { done: progress.done, isSettled, taken: this.#taken.snapshot(), analysis: snapshot };
    // Asked now, threads say what they remember between the same two events.
    const gathered = this.#threads?.gather();
    gathered?.catch(() => {});
    return {
      position: progress.position,
      log: recorder.mark(),
      data: async (log) =>
        gathered === undefined
          ? encodeCheckpoint({ ...parts, log }, events)
          : joinCheckpoint({ ...parts, log }, await gathered),
      ruleset,
      sync: async () => {
        await analysis.sync();
        await recorder.sync();
      },
      onSafe: () => analysis.diffs.checkpointed(),
    };
  }

  /** Removes copies that neither of the two newest checkpoints needs, nor a record behind them. */
  #forgetRulesets(older: StoredCheckpoint, newer: StoredCheckpoint): void {
    this.#rulesets = this.#rulesets.filter(({ position }) => position >= older.position);
    try {
      this.#configuration.library.retain(
        new Set([...this.#rulesets, older, newer, this.#newest].map(({ ruleset }) => ruleset)),
      );
    } catch (error) {
      this.#troubleLog.error(`Copies of old rulesets could not be removed: ${describeError(error)}`);
    }
  }
}
