import type { DaemonContext } from '../../lib/daemon/daemon-spec.js';
import { Engine, DEFAULT_STEP_BUDGET, type EngineHooks, type HourReport } from '../../lib/engine/engine.js';
import { EngineState } from '../../lib/engine/engine-state.js';
import type { LoadMessage } from '../../lib/engine/explain/explain-why.js';
import { EngineDiagnostics, EventDiagnostics } from './engine-diagnostics.js';
import { FileDiffStore } from './file-diff-store.js';
import { LineFile } from './line-file.js';
import { closingError, compileRuleset, loadHomeRuleset, type LoadedRuleset } from './ruleset-loader.js';
import { RulesetStore } from './ruleset-store.js';
import type { Settings } from './settings.js';
import { StatisticsFiles } from './statistics-files.js';

const MEGABYTE = 1024 * 1024;
/** Bound on the memory of remembered events (correlation). */
const MAX_REMEMBERED_BYTES = 256 * MEGABYTE;

/**
 * The engine with everything that belongs to the home: the ruleset on disk and the last good one, the state that
 * survives a reload, and the small files beside the outputs.
 */
export class Analysis {
  readonly #context: DaemonContext;
  readonly #store: RulesetStore;
  readonly #firstTimeSeen: LineFile;
  readonly #ignored: LineFile;
  readonly #statistics: StatisticsFiles;
  readonly #diffs: FileDiffStore;
  readonly #diagnostics: EventDiagnostics;
  #settings: Settings;
  #engine: Engine;
  #loaded: LoadedRuleset;
  #loadWarnings: readonly LoadMessage[] = [];

  /**
   * Loads the ruleset of the home, or the last good one when that does not load; the problem is then shown until a
   * reload succeeds.
   * @throws RulesetError when neither loads
   */
  constructor(context: DaemonContext, settings: Settings) {
    const { home, logger } = context;
    this.#context = context;
    this.#settings = settings;
    this.#store = new RulesetStore(home.path('queue', 'journal', 'rulesets'));
    this.#firstTimeSeen = new LineFile(home.path('queue', 'fts', 'fts-queue'));
    this.#ignored = new LineFile(home.path('queue', 'fts', 'ig-queue'));
    this.#statistics = new StatisticsFiles(home.path('stats'));
    this.#diffs = new FileDiffStore(home.path('queue', 'diff'));
    this.#loaded = this.#loadAtStart();
    const { options } = settings;
    const state = new EngineState(
      this.#loaded.ruleset.rules,
      {
        maxRememberedBytes: MAX_REMEMBERED_BYTES,
        firstTimeSeen: {
          listSize: options.get('analysisd.fts_list_size'),
          minSize: options.get('analysisd.fts_min_size_for_str'),
        },
        statistics: {
          level: settings.config.global.stats,
          maxDiff: options.get('analysisd.stats_maxdiff'),
          minDiff: options.get('analysisd.stats_mindiff'),
          percentDiff: options.get('analysisd.stats_percent_diff'),
        },
      },
      this.#diffs,
    );
    for (const key of this.#firstTimeSeen.read()) state.firstTimeSeen.load(key);
    this.#statistics.load(state.statistics);
    this.#diagnostics = new EventDiagnostics(logger);
    this.#engine = this.#makeEngine(this.#loaded, state);
  }

  get engine(): Engine {
    return this.#engine;
  }

  get loaded(): LoadedRuleset {
    return this.#loaded;
  }

  get settings(): Settings {
    return this.#settings;
  }

  /** Files that are written together with the outputs. */
  get sideFiles(): readonly { flush(): void }[] {
    return [this.#firstTimeSeen, this.#ignored, this.#diffs];
  }

  /** Warnings of the last load that succeeded. */
  get loadWarnings(): readonly LoadMessage[] {
    return this.#loadWarnings;
  }

  /** First-time-seen keys found since the start. */
  ftsWritten = 0;

  /**
   * Loads the ruleset anew and keeps the state of rules that still exist. On an error everything stays as it was.
   * @returns the warnings of the load
   * @throws RulesetError naming file and line
   */
  reload(settings: Settings, diagnostics = new EngineDiagnostics(this.#context.logger)): readonly string[] {
    const { home, logger, setProblem } = this.#context;
    logger.info('Reloading ruleset');
    const loaded = loadHomeRuleset(home, settings, diagnostics);
    const state = this.#engine.state.transferTo(loaded.ruleset.rules);
    this.#settings = settings;
    this.#loaded = loaded;
    this.#loadWarnings = diagnostics.loadWarnings;
    this.#engine = this.#makeEngine(loaded, state);
    this.#keep(loaded);
    setProblem(undefined);
    logger.info('Ruleset reloaded successfully');
    return diagnostics.warnings;
  }

  /** Once in a while: says what was held back of messages about events. */
  report(): void {
    this.#diagnostics.flush();
  }

  /** Writes what is kept over a restart. */
  close(): void {
    this.#statistics.save(this.#engine.state.statistics);
  }

  #loadAtStart(): LoadedRuleset {
    const { home, logger, setProblem } = this.#context;
    const diagnostics = new EngineDiagnostics(logger);
    try {
      const loaded = loadHomeRuleset(home, this.#settings, diagnostics);
      this.#keep(loaded);
      this.#loadWarnings = diagnostics.loadWarnings;
      return loaded;
    } catch (error) {
      const sources = this.#store.load();
      if (sources === undefined) throw closingError(error, this.#settings);
      const ruleset = compileRuleset(home, this.#settings, sources, diagnostics);
      const reason = error instanceof Error ? error.message : String(error);
      setProblem(`The ruleset does not load, the last one that did is in use: ${reason}`);
      return { ruleset, sources, settings: this.#settings };
    }
  }

  #keep(loaded: LoadedRuleset): void {
    try {
      this.#store.save(loaded.sources);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#context.logger.warn(`The ruleset could not be kept as the last good one: ${reason}`);
    }
  }

  #makeEngine({ ruleset }: LoadedRuleset, state: EngineState): Engine {
    const hooks: EngineHooks = {
      firstTimeSeen: (key) => {
        this.ftsWritten += 1;
        // A line end in a key would add keys of the sender's choice, and what he does next would not be new any more.
        if (!key.includes('\n')) this.#firstTimeSeen.append(`${key}\n`);
      },
      ignored: (key) => {
        this.#ignored.append(`\n${key}\n`);
      },
      hourEnded: (report) => {
        this.#hourEnded(report);
      },
    };
    return new Engine({
      ruleset,
      state,
      options: {
        mode: 'live',
        origin: this.#settings.origin,
        logFirewall: this.#settings.options.get('analysisd.log_fw') === 1,
        budget: DEFAULT_STEP_BUDGET,
      },
      diagnostics: this.#diagnostics,
      hooks,
    });
  }

  #hourEnded(report: HourReport): void {
    const { statistics } = this.#engine.state;
    const today = this.#engine.clock.dayKey(Math.floor(Date.now() / 1000));
    const dayEnded = !report.hourKey.startsWith(today);
    try {
      this.#statistics.appendTotals(report, dayEnded ? statistics.counts : undefined);
      this.#statistics.save(statistics);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#context.logger.error(`Statistics cannot be written: ${reason}`);
    }
  }
}
