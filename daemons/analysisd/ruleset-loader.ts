import { dirname } from 'node:path';
import { ReportedError } from '../../lib/daemon/reported-error.js';
import type { Diagnostics } from '../../lib/engine/event.js';
import type { EngineRuleset } from '../../lib/engine/load/engine-ruleset.js';
import { RulesetError } from '../../lib/engine/load/ruleset-error.js';
import { DiskRulesetFileSystem } from '../../lib/engine/load/ruleset-file-system.js';
import type { Home } from '../../lib/home/home.js';
import { loadingOf } from '../../lib/ruleset/loading-settings.js';
import { type AbsentList, compileRuleset, readRuleset, type StoredRuleset } from '../../lib/ruleset/read-ruleset.js';
import { ClusterRulesetFiles } from './cluster-ruleset.js';
import type { EngineDiagnostics } from './engine-diagnostics.js';
import type { Settings } from './settings.js';

/** A ruleset with what it was made from, so that it can be kept as the last good one and shared. */
export type LoadedRuleset = {
  readonly ruleset: EngineRuleset;
  readonly sources: StoredRuleset;
  readonly settings: Settings;
};

/**
 * Reads the files the configuration selects and loads them.
 * @param clusterRuleset id of the ruleset of the cluster that stands in for the user's files in etc
 * @throws RulesetError naming file and line; the messages that led to it went to the diagnostics before
 */
export function loadHomeRuleset(
  home: Home,
  settings: Settings,
  diagnostics: EngineDiagnostics,
  clusterRuleset?: string,
): LoadedRuleset {
  const { lists } = diagnostics;
  const sources = readHomeRuleset(home, settings, diagnostics, {
    absent: (path, reason) => lists.absent(path, reason),
    clusterRuleset,
  });
  const ruleset = compileRuleset(sources, loadingOf(settings), diagnostics);
  diagnostics.tellMissingLists();
  return { ruleset, sources, settings };
}

export type ReadRulesetOptions = {
  /** Told of lists that cannot be read; without it each is a warning (1103). */
  readonly absent?: AbsentList;
  /** As in {@link loadHomeRuleset}. */
  readonly clusterRuleset?: string | undefined;
};

/**
 * Reads the files the configuration selects.
 * @throws RulesetError when a directory's pattern does not compile; Error when the ruleset of the cluster is missing
 */
export function readHomeRuleset(
  home: Home,
  settings: Settings,
  diagnostics: Diagnostics,
  { absent, clusterRuleset }: ReadRulesetOptions = {},
): StoredRuleset {
  const fileSystem =
    clusterRuleset === undefined ? new DiskRulesetFileSystem(home.root) : new ClusterRulesetFiles(home, clusterRuleset);
  return readRuleset({ home, ruleset: settings.config.ruleset, fileSystem, diagnostics, absent });
}

/**
 * A failed load as the last line of a start or check: what is wrong has been logged by then (rules-and-alerts.md 1.3,
 * decoding.md 4.1). Other errors are given back as they are.
 */
export function closingError(error: unknown, settings: Settings): unknown {
  if (!(error instanceof RulesetError)) return error;
  const { file } = error.place;
  const { decoder_include: includes, decoder_dir: directories } = settings.config.ruleset;
  const isDecoder =
    includes.includes(file) || directories.some(({ path }) => dirname(file) === path.replace(/\/+$/, ''));
  const message = isDecoder
    ? `(1202): Configuration error at '${file}'.`
    : `(1220): Error loading the rules: '${file}'.`;
  return new ReportedError(message, error);
}
