import type { Alert } from '../../lib/engine/alert/alert.js';
import type { DiffSnapshot } from '../../lib/engine/correlate/diff-store.js';
import type { RememberedEvents } from '../../lib/engine/correlate/remembered-events.js';
import type { RequestScaDump } from '../../lib/engine/decode/internal/internal-decoder.js';
import { Engine, type EngineHooks } from '../../lib/engine/engine.js';
import { EngineState, type EngineStateOptions, type EngineStateSnapshot } from '../../lib/engine/engine-state.js';
import { EngineEvent, type IncomingEvent } from '../../lib/engine/event.js';
import type { HourReport } from '../../lib/engine/event-counting.js';
import type { EngineRuleset } from '../../lib/engine/load/engine-ruleset.js';
import type { LoggedState } from '../../lib/engine/state-changes.js';
import { Statistics } from '../../lib/engine/statistics.js';
import type { Home } from '../../lib/home/home.js';
import type { Logger } from '../../lib/log/logger.js';
import type { CloseOptions, FileRepair } from '../../lib/output/append-file.js';
import type { CompiledSources } from './configuration.js';
import { describeRepair } from './describe-repair.js';
import { EventDiagnostics } from './engine-diagnostics.js';
import { FileDiffStore } from './file-diff-store.js';
import { engineOptionsOf, type InForce, isSameInForce, respondingIn } from './in-force.js';
import { LineFile } from './line-file.js';
import { Outputs, type OutputsState } from './outputs.js';
import type { RemovedAgents, StoredLog } from './pipeline/journal-record.js';
import { Responses } from './responses/responses.js';
import { StatisticsFiles, type StatisticsFilesState } from './statistics-files.js';
import type { ThreadConfiguration } from './threads/thread-words.js';
import { prepareRuleset } from './warm-up.js';

const MEGABYTE = 1024 * 1024;
/** Bound on the memory of remembered events (correlation). */
const MAX_REMEMBERED_BYTES = 256 * MEGABYTE;
/** Parts of these by agent (rules-and-alerts.md 12). */
const SHARDS = 64;

/** Everything the analysis has come to, as plain data: the engine's state, and where the files end that it writes. */
export type AnalysisSnapshot = {
  readonly inForce: InForce;
  readonly engine: EngineStateSnapshot;
  /** First-seen keys that `queue/fts/fts-queue` cannot hold; the others are in it, up to the length below. */
  readonly unwrittenKeys: readonly string[];
  readonly outputs: OutputsState;
  readonly firstTimeSeen: number;
  readonly ignored: number;
  readonly statistics: StatisticsFilesState;
  /** Logs of `check_diff` that are not in their files. */
  readonly diffs: DiffSnapshot;
  /** Number of the last removal of an agent that was obeyed. Not in snapshots of earlier versions. */
  readonly removedThrough?: number;
};

/** Where an analysis begins: afresh at a moment, with the files as they are, or from a checkpoint. */
export type AnalysisStart =
  | { readonly now: Date; readonly inForce: InForce }
  | {
      readonly snapshot: AnalysisSnapshot;
      /** Restores what is in a log beside the snapshot. */
      readonly restoreLogged?: (states: readonly LoggedState[]) => void;
    };

/** The engine with the outputs and the small files beside them: all that analysed events change. */
export class Analysis {
  readonly #home: Home;
  readonly #logger: Logger;
  readonly #firstTimeSeen: LineFile;
  readonly #ignored: LineFile;
  readonly #statistics: StatisticsFiles;
  readonly #diffs: FileDiffStore;
  readonly #diagnostics: EventDiagnostics;
  readonly #unwrittenKeys: string[];
  readonly #maxRememberedBytes: number;
  #outputs: Outputs;
  #inForce: InForce;
  #engine: Engine;
  #responses: Responses;
  #removedThrough: number;
  /** What the engine brings about beside alerts. */
  readonly hooks: EngineHooks;
  /** The averages as they were saved last. */
  #savedAverages: string;
  /** Agents that were forgotten, as far as it was said. */
  #forgottenAgents = 0;

  /**
   * @param ruleset that of the configuration in force
   * @param maxRememberedBytes bound on the memory of remembered events
   * @throws Error of the file system
   */
  constructor(
    home: Home,
    logger: Logger,
    ruleset: EngineRuleset,
    start: AnalysisStart,
    maxRememberedBytes = MAX_REMEMBERED_BYTES,
  ) {
    this.#maxRememberedBytes = maxRememberedBytes;
    this.#home = home;
    this.#logger = logger;
    const snapshot = 'snapshot' in start ? start.snapshot : undefined;
    this.#inForce = 'snapshot' in start ? start.snapshot.inForce : start.inForce;
    this.#diagnostics = new EventDiagnostics(logger);
    const onRepair = (repair: FileRepair): void => {
      logger.warn(describeRepair(repair));
    };
    const now = 'now' in start ? start.now : start.snapshot.statistics;
    this.#firstTimeSeen = new LineFile(home.path('queue', 'fts', 'fts-queue'), snapshot?.firstTimeSeen, onRepair);
    this.#ignored = new LineFile(home.path('queue', 'fts', 'ig-queue'), snapshot?.ignored, onRepair);
    this.#statistics = new StatisticsFiles(home.path('stats'), now, onRepair);
    this.#diffs = new FileDiffStore(home.path('queue', 'diff'));
    this.#unwrittenKeys = [...(snapshot?.unwrittenKeys ?? [])];
    this.#removedThrough = snapshot?.removedThrough ?? 0;
    const state = new EngineState(ruleset.rules, this.#stateOptions(this.#inForce), this.#diffs);
    if (snapshot === undefined) {
      this.#statistics.load(state.statistics);
    } else {
      state.restore(snapshot.engine);
      if ('snapshot' in start) start.restoreLogged?.(state.logged);
      this.#diffs.restore(snapshot.diffs);
    }
    for (const key of [...this.#firstTimeSeen.read(), ...this.#unwrittenKeys]) state.firstTimeSeen.load(key);
    this.hooks = this.#makeHooks();
    this.#engine = this.#makeEngine(ruleset, state);
    this.#responses = this.#makeResponses(ruleset);
    // A crash may have come between the state and the files.
    const onDisk = new Statistics(this.#inForce.state.statistics);
    this.#statistics.load(onDisk);
    this.#savedAverages = averagesOf(onDisk);
    const from = 'snapshot' in start ? start.snapshot.outputs : start.now;
    this.#outputs = new Outputs(home, this.#inForce.outputs, logger, from);
  }

  get engine(): Engine {
    return this.#engine;
  }

  /** What all agents share, for threads that analyse some of them. */
  get shared(): { readonly state: EngineState; readonly hooks: EngineHooks } {
    return { state: this.#engine.state, hooks: this.hooks };
  }

  get responses(): Responses {
    return this.#responses;
  }

  get outputs(): Outputs {
    return this.#outputs;
  }

  get inForce(): InForce {
    return this.#inForce;
  }

  /** `<custom_alert_output>`, a byte string; null = the usual form. */
  get customFormat(): string | null {
    return this.#inForce.customFormat;
  }

  /** Logs of `check_diff`, as the engine sees them. */
  get diffs(): FileDiffStore {
    return this.#diffs;
  }

  /** Told whose results of a policy the engine lacks. */
  onDumpRequest: RequestScaDump = () => {};

  /** Told of each log of logtest that the engine has come to. */
  onStoredLog: (stored: StoredLog) => void = () => {};

  /** First-time-seen keys found since the start. */
  ftsWritten = 0;

  /** Whether so much waits for a checkpoint that one should be made now. */
  get checkpointDue(): boolean {
    return this.#diffs.isCheckpointDue;
  }

  /** Whether so much waits that nothing should be analysed before checkpoints have been made. */
  get isFull(): boolean {
    return this.#diffs.isFull || this.isLogFull();
  }

  /** Whether the log of the state has as much to write as may wait. */
  isLogFull: () => boolean = () => false;

  /** Whether another configuration opens other files. */
  reopensFor({ outputs }: InForce): boolean {
    return JSON.stringify(outputs) !== JSON.stringify(this.#inForce.outputs);
  }

  /**
   * Puts a configuration in force. The state of rules that still exist is kept.
   * @param now at which outputs that are opened begin
   * @throws Error of the file system; to be called again then
   */
  configure(inForce: InForce, ruleset: EngineRuleset, now: Date): void {
    if (isSameInForce(inForce, this.#inForce)) return;
    if (this.reopensFor(inForce)) {
      this.flush();
      this.#outputs.close();
      this.#outputs = new Outputs(this.#home, inForce.outputs, this.#logger, now);
    }
    this.#inForce = inForce;
    const state = this.#engine.state.transferTo(ruleset.rules, this.#stateOptions(inForce));
    this.#engine = this.#makeEngine(ruleset, state);
    this.#responses = this.#makeResponses(ruleset);
  }

  /** The configuration in force, for threads. */
  threadConfiguration({ sources, loading }: Omit<CompiledSources, 'ruleset'>): ThreadConfiguration {
    return {
      inForce: this.#inForce,
      sources,
      loading,
      maxRememberedBytes: this.#maxRememberedBytes,
      shards: SHARDS,
    };
  }

  /** Day switch and rotation of the outputs. @throws Error of the file system; to be called again then */
  rotate(now: Date): void {
    this.#outputs.rotate(now);
  }

  /** Takes a log of `check_diff` that logtest stored. */
  storeLog(stored: StoredLog): void {
    this.#diffs.store(stored.host, stored.rule, stored.log);
    this.onStoredLog(stored);
  }

  /**
   * Forgets what removed agents did, so that those that get their numbers begin with nothing. Once for each removal.
   * @returns those that are forgotten now
   */
  forgetAgents({ ids, through }: RemovedAgents): readonly string[] {
    if (through <= this.#removedThrough) return [];
    this.#removedThrough = through;
    for (const id of ids) this.#engine.state.forgetAgent(id);
    return ids;
  }

  /** Number of the last removal of an agent that was obeyed; 0 when there was none. */
  get removedThrough(): number {
    return this.#removedThrough;
  }

  /** Hands everything to the file system. @throws its error; nothing is lost, the next call goes on */
  flush(): void {
    this.#outputs.flush();
    this.#firstTimeSeen.flush();
    this.#ignored.flush();
    this.#statistics.flush();
  }

  /** Waits until everything flushed so far is on the disk itself. @throws the system's error */
  async sync(): Promise<void> {
    await this.#outputs.sync();
    await this.#firstTimeSeen.sync();
    await this.#ignored.sync();
    await this.#statistics.sync();
  }

  /** A replay has given everything that may have been written before. Errors as `flush`. */
  endReplay(): void {
    this.#outputs.endReplay();
    this.#firstTimeSeen.endReplay();
    this.#ignored.endReplay();
    this.#statistics.endReplay();
  }

  /** Parts of the engine's state that a capture does not have: a log of their changes does. */
  get logged(): readonly LoggedState[] {
    return this.#engine.state.logged;
  }

  /**
   * To be taken when everything is flushed; good for a checkpoint once a `sync` begun after it is done. The events that
   * the engine remembers are given apart.
   */
  capture(): { readonly snapshot: AnalysisSnapshot; readonly events: RememberedEvents } {
    const { snapshot: engine, events } = this.#engine.state.capture();
    const snapshot = {
      inForce: this.#inForce,
      engine,
      unwrittenKeys: [...this.#unwrittenKeys],
      outputs: this.#outputs.state(),
      firstTimeSeen: this.#firstTimeSeen.state(),
      ignored: this.#ignored.state(),
      statistics: this.#statistics.state(),
      diffs: this.#diffs.pending(),
      removedThrough: this.#removedThrough,
    };
    return { snapshot, events };
  }

  /**
   * The alert of more events than usual. It shows the event that set it off as it is by itself: what the engine remembers,
   * and would join to it, is no matter of the number of events.
   * @param text what it says
   */
  statisticsAlert(incoming: IncomingEvent, text: string): Alert {
    const { ruleset } = this.#engine;
    const state = new EngineState(ruleset.rules, this.#stateOptions(this.#inForce));
    const engine = new Engine({
      ruleset,
      state,
      options: engineOptionsOf(this.#inForce),
      diagnostics: this.#diagnostics,
    });
    return this.#engine.statisticsAlert(engine.decode(incoming) ?? new EngineEvent(incoming), text);
  }

  /** Once in a while: says what was held back of messages about events, and what was forgotten of agents. */
  report(): void {
    this.#diagnostics.flush();
    const { forgotten, size } = this.#engine.state.agents;
    if (forgotten === this.#forgottenAgents) return;
    const count = forgotten - this.#forgottenAgents;
    this.#forgottenAgents = forgotten;
    this.#logger.warn(
      `What ${String(count)} agents reported before was forgotten, as it is known of ${String(size)} that were heard since; results of theirs may be alerted once more.`,
    );
  }

  /** Flushes and closes the files. @throws Error of the file system */
  close(options: CloseOptions): void {
    this.#saveAverages();
    this.#outputs.close(options);
    this.#firstTimeSeen.close(options);
    this.#ignored.close(options);
    this.#statistics.close(options);
  }

  #makeEngine(ruleset: EngineRuleset, state: EngineState): Engine {
    prepareRuleset(ruleset);
    return new Engine({
      ruleset,
      state,
      options: engineOptionsOf(this.#inForce),
      diagnostics: this.#diagnostics,
      hooks: this.hooks,
    });
  }

  #makeHooks(): EngineHooks {
    return {
      firstTimeSeen: (key) => {
        this.ftsWritten += 1;
        // A line end in a key would add keys of the sender's choice, and what he does next would not be new any more.
        if (key.includes('\n')) this.#keepUnwritten(key);
        else this.#firstTimeSeen.append(`${key}\n`);
      },
      ignored: (key) => {
        this.#ignored.append(`\n${key}\n`);
      },
      hourEnded: (report) => {
        this.#hourEnded(report);
      },
      requestScaDump: (...request) => {
        this.onDumpRequest(...request);
      },
    };
  }

  #stateOptions({ state }: InForce): EngineStateOptions {
    return { ...state, maxRememberedBytes: this.#maxRememberedBytes, shards: SHARDS };
  }

  #makeResponses(ruleset: EngineRuleset): Responses {
    return new Responses(ruleset.rules.rules, respondingIn(this.#inForce), this.#diagnostics);
  }

  /** @throws Error of the file system */
  #saveAverages(): void {
    const averages = averagesOf(this.#engine.state.statistics);
    if (averages === this.#savedAverages) return;
    this.#statistics.save(this.#engine.state.statistics);
    this.#savedAverages = averages;
  }

  #keepUnwritten(key: string): void {
    this.#unwrittenKeys.push(key);
    if (this.#unwrittenKeys.length > MAX_UNWRITTEN_KEYS) this.#unwrittenKeys.shift();
  }

  #hourEnded(report: HourReport): void {
    const { statistics } = this.#engine.state;
    const [endedDay] = report.hourKey.split('T');
    const [nextDay] = report.nextHourKey.split('T');
    try {
      this.#statistics.appendTotals(report, endedDay === nextDay ? undefined : statistics.counts);
      this.#saveAverages();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#logger.error(`Statistics cannot be written: ${reason}`);
    }
  }
}

/** Keys with line ends are made up; that many are remembered over a restart. */
const MAX_UNWRITTEN_KEYS = 10_000;

function averagesOf({ hourly, weekly }: Statistics): string {
  return JSON.stringify([hourly, weekly]);
}
