import type { DaemonContext } from '../../lib/daemon/daemon-spec.js';
import type { Diagnostics } from '../../lib/engine/event.js';
import type { LoadMessage } from '../../lib/engine/explain/explain-why.js';
import type { EngineRuleset } from '../../lib/engine/load/engine-ruleset.js';
import { describeError } from '../../lib/log/describe-error.js';
import { loadingOf, type LoadingSettings } from '../../lib/ruleset/loading-settings.js';
import { compileRuleset } from '../../lib/ruleset/read-ruleset.js';
import { clusterRulesetOf } from './cluster-ruleset.js';
import { EngineDiagnostics } from './engine-diagnostics.js';
import { type InForce, inForceAfterReload, inForceOf } from './in-force.js';
import { RulesetLibrary } from './ruleset-library.js';
import { closingError, type LoadedRuleset, loadHomeRuleset } from './ruleset-loader.js';
import type { Settings } from './settings.js';

/** Compiled rulesets kept for records of the journal that the engine has not reached; each takes some 100 MB at most. */
const MAX_COMPILED = 4;

/** What was said of this ruleset was said when it was loaded from the files. */
const QUIET: Diagnostics = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** A ruleset with what it was compiled from. */
export type CompiledSources = Omit<LoadedRuleset, 'settings'> & { readonly loading: LoadingSettings };

export type ConfigurationParts = Pick<DaemonContext, 'home' | 'logger' | 'setProblem'>;

/** A configuration that loaded; it counts once the journal has it. */
export type ConfigurationCandidate = {
  readonly inForce: InForce;
  /** Texts without place, the first 50. */
  readonly warnings: readonly string[];
  /** Makes it the configuration of the daemon. */
  readonly accept: () => void;
};

/**
 * The newest configuration of the home that loads. The engine follows it when it comes to the record of the journal that
 * tells of it; until then events are analysed with the one that was in force when they came.
 */
export class Configuration {
  readonly library: RulesetLibrary;
  readonly #parts: ConfigurationParts;
  /** By what they were compiled from, the oldest first. */
  readonly #compiled = new Map<string, CompiledSources>();
  #settings: Settings;
  #loaded: LoadedRuleset;
  #hash: string;
  #kept = false;
  #clusterRuleset: string | undefined;
  #loadWarnings: readonly LoadMessage[] = [];

  /**
   * Loads the ruleset of the home, or the last good one when that does not load; the problem is then shown until a
   * reload succeeds.
   * @param last hash of the ruleset in force before
   * @throws RulesetError when neither loads
   */
  constructor(parts: ConfigurationParts, settings: Settings, last: string | undefined) {
    this.#parts = parts;
    this.library = new RulesetLibrary(parts.home.path('queue', 'journal', 'rulesets'));
    this.#settings = settings;
    this.#loaded = this.#loadAtStart(last);
    this.#hash = this.library.hashOf(this.#loaded.sources);
    this.#remember(this.#hash, loadingOf(settings), this.#loaded);
  }

  get settings(): Settings {
    return this.#settings;
  }

  get loaded(): LoadedRuleset {
    return this.#loaded;
  }

  /** Id of the ruleset of the cluster that was loaded; undefined for the files in etc, and for the last good one. */
  get clusterRuleset(): string | undefined {
    return this.#clusterRuleset;
  }

  /** Warnings of the last load that succeeded. */
  get loadWarnings(): readonly LoadMessage[] {
    return this.#loadWarnings;
  }

  /** What the files say is to be in force from the start on. */
  atStart(): InForce {
    return inForceOf(this.#settings, this.#hash);
  }

  /** Keeps a copy of the ruleset, which journal and checkpoints may name then. @throws Error of the file system */
  keep(): void {
    if (!this.#kept) this.library.keep(this.#loaded.sources);
    this.#kept = true;
  }

  /** The ruleset of a configuration that was in force; when its copy is lost, that of today, and the log says so. */
  rulesetOf(inForce: InForce): EngineRuleset {
    return this.compiledFor(inForce).ruleset;
  }

  /** The same with the texts that it was compiled from, for threads to compile it, too. */
  compiledFor({ ruleset: hash, loading }: InForce): CompiledSources {
    const known = this.#compiled.get(keyOf(hash, loading));
    if (known !== undefined) return known;
    const { logger } = this.#parts;
    const sources = this.library.load(hash);
    if (sources === undefined) {
      logger.error(
        `The copy of the ruleset ${hash} cannot be read: its events are analysed with the ruleset of today.`,
      );
      return this.#today();
    }
    try {
      const compiled = { ruleset: compileRuleset(sources, loading, QUIET), sources, loading };
      this.#remember(hash, loading, compiled);
      return compiled;
    } catch (error) {
      logger.error(
        `The ruleset ${hash} does not load any more: its events are analysed with that of today: ${describeError(error)}`,
      );
      return this.#today();
    }
  }

  /**
   * Loads what the files say now and keeps a copy; nothing changes before `accept`.
   * @param running what the newest record of the journal put in force
   * @throws RulesetError naming file and line; Error of the file system when the copy cannot be kept
   */
  load(running: InForce, settings: Settings, diagnostics: EngineDiagnostics): ConfigurationCandidate {
    const { home, logger } = this.#parts;
    logger.info('Reloading ruleset');
    const clusterRuleset = clusterRulesetOf(home, settings);
    const loaded = loadHomeRuleset(home, settings, diagnostics, clusterRuleset);
    const hash = this.library.keep(loaded.sources);
    this.#remember(hash, loadingOf(settings), loaded);
    return {
      inForce: inForceAfterReload(running, settings, hash),
      warnings: diagnostics.warnings,
      accept: () => {
        this.#settings = settings;
        this.#loaded = loaded;
        this.#hash = hash;
        this.#kept = true;
        this.#clusterRuleset = clusterRuleset;
        this.#loadWarnings = diagnostics.loadWarnings;
        this.#parts.setProblem(undefined);
        logger.info('Ruleset reloaded successfully');
      },
    };
  }

  #loadAtStart(last: string | undefined): LoadedRuleset {
    const { home, logger, setProblem } = this.#parts;
    const settings = this.#settings;
    const diagnostics = new EngineDiagnostics(logger);
    try {
      const clusterRuleset = clusterRulesetOf(home, settings);
      const loaded = loadHomeRuleset(home, settings, diagnostics, clusterRuleset);
      this.#clusterRuleset = clusterRuleset;
      this.#loadWarnings = diagnostics.loadWarnings;
      return loaded;
    } catch (error) {
      const sources = (last === undefined ? undefined : this.library.load(last)) ?? this.library.loadCurrent();
      if (sources === undefined) throw closingError(error, settings);
      const ruleset = compileRuleset(sources, loadingOf(settings), diagnostics);
      const reason = error instanceof Error ? error.message : String(error);
      setProblem(`The ruleset does not load, the last one that did is in use: ${reason}`);
      return { ruleset, sources, settings };
    }
  }

  #today(): CompiledSources {
    const { ruleset, sources, settings } = this.#loaded;
    return { ruleset, sources, loading: loadingOf(settings) };
  }

  #remember(hash: string, loading: LoadingSettings, compiled: Omit<CompiledSources, 'loading'>): void {
    const key = keyOf(hash, loading);
    this.#compiled.delete(key);
    this.#compiled.set(key, { ruleset: compiled.ruleset, sources: compiled.sources, loading });
    for (const oldest of this.#compiled.keys()) {
      if (this.#compiled.size <= MAX_COMPILED) return;
      this.#compiled.delete(oldest);
    }
  }
}

function keyOf(hash: string, loading: LoadingSettings): string {
  return JSON.stringify([hash, loading]);
}
