import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { ReportedError } from '../../lib/daemon/reported-error.js';
import type { Diagnostics } from '../../lib/engine/event.js';
import type { EngineRuleset } from '../../lib/engine/load/engine-ruleset.js';
import { loadRuleset, type RulesetSources } from '../../lib/engine/load/load-ruleset.js';
import { MitreTable } from '../../lib/engine/load/mitre-table.js';
import { RulesetError } from '../../lib/engine/load/ruleset-error.js';
import { DiskRulesetFileSystem, type RulesetFileSystem } from '../../lib/engine/load/ruleset-file-system.js';
import { type FileSelection, readRulesetFiles, selectRulesetFiles } from '../../lib/engine/load/ruleset-files.js';
import type { Home } from '../../lib/home/home.js';
import { compilePattern } from '../../lib/patterns/compile-pattern.js';
import { MatchContext } from '../../lib/patterns/matcher.js';
import { ClusterRulesetFiles } from './cluster-ruleset.js';
import type { EngineDiagnostics } from './engine-diagnostics.js';
import { loadingOf, type LoadingSettings } from './in-force.js';
import type { Settings } from './settings.js';

/** The texts a ruleset is made from, with the table that gives its alerts the names of MITRE ATT&CK. */
export type StoredRuleset = RulesetSources & {
  /** Text of the table; null where there is none. */
  readonly mitre: string | null;
};

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

/** Told of a list that cannot be read. @param reason of the file system */
type AbsentList = (path: string, reason: string) => void;

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
  const { ruleset } = settings.config;
  const fileSystem =
    clusterRuleset === undefined ? new DiskRulesetFileSystem(home.root) : new ClusterRulesetFiles(home, clusterRuleset);
  const selection = { fileSystem, compilePattern, context: new MatchContext(), diagnostics };
  const read = (kind: 'rules' | 'decoders', files: FileSelection) =>
    readRulesetFiles(selectRulesetFiles(kind, files, selection), fileSystem, diagnostics);
  return {
    decoders: read('decoders', {
      includes: ruleset.decoder_include,
      directories: ruleset.decoder_dir,
      excludes: ruleset.decoder_exclude,
    }),
    rules: read('rules', {
      includes: ruleset.rule_include,
      directories: ruleset.rule_dir,
      excludes: ruleset.rule_exclude,
    }),
    lists:
      absent === undefined
        ? readRulesetFiles(ruleset.list, fileSystem, diagnostics)
        : readLists(ruleset.list, fileSystem, absent),
    mitre: readMitreText(home, diagnostics),
  };
}

function readLists(
  paths: readonly string[],
  fileSystem: RulesetFileSystem,
  absent: AbsentList,
): RulesetSources['lists'] {
  return paths.flatMap((path) => {
    const content = fileSystem.read(path);
    if (typeof content === 'string') return [{ path, content }];
    absent(path, content.text);
    return [];
  });
}

/** Loads a ruleset from its texts. @throws RulesetError */
export function compileRuleset(
  sources: StoredRuleset,
  loading: LoadingSettings,
  diagnostics: Diagnostics,
): EngineRuleset {
  return loadRuleset(sources, { ...loading, diagnostics, compilePattern, mitre: mitreTable(sources, diagnostics) });
}

function readMitreText(home: Home, diagnostics: Diagnostics): string | null {
  try {
    return readFileSync(home.path('ruleset', 'mitre', 'attack.json'), 'utf8');
  } catch (error) {
    warnOfMitre(error, diagnostics);
    return null;
  }
}

function mitreTable({ mitre }: StoredRuleset, diagnostics: Diagnostics): MitreTable {
  if (mitre === null) return MitreTable.empty;
  try {
    return MitreTable.parse(mitre);
  } catch (error) {
    warnOfMitre(error, diagnostics);
    return MitreTable.empty;
  }
}

function warnOfMitre(error: unknown, diagnostics: Diagnostics): void {
  const reason = error instanceof Error ? error.message : String(error);
  diagnostics.warn(`MITRE ATT&CK names are not available: ${reason}`);
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
