import { readFileSync } from 'node:fs';
import type { RulesetConfig } from '../config/sections/ruleset.js';
import type { Diagnostics } from '../engine/event.js';
import type { EngineRuleset } from '../engine/load/engine-ruleset.js';
import { loadRuleset, type RulesetSources } from '../engine/load/load-ruleset.js';
import { MitreTable } from '../engine/load/mitre-table.js';
import type { RulesetFileSystem } from '../engine/load/ruleset-file-system.js';
import { type FileSelection, readRulesetFiles, selectRulesetFiles } from '../engine/load/ruleset-files.js';
import type { Home } from '../home/home.js';
import { compilePattern } from '../patterns/compile-pattern.js';
import { MatchContext } from '../patterns/matcher.js';
import { optimizingLess } from '../process/optimizing-less.js';
import type { LoadingSettings } from './loading-settings.js';

/** The texts a ruleset is made from, with the table that gives its alerts the names of MITRE ATT&CK. */
export type StoredRuleset = RulesetSources & {
  /** Text of the table; null where there is none. */
  readonly mitre: string | null;
};

/** Told of a list that cannot be read. @param reason of the file system */
export type AbsentList = (path: string, reason: string) => void;

export type ReadRulesetParts = {
  readonly home: Home;
  /** `<ruleset>`: which files there are. */
  readonly ruleset: RulesetConfig;
  /** Where their texts come from. */
  readonly fileSystem: RulesetFileSystem;
  readonly diagnostics: Diagnostics;
  /** Without it each list that cannot be read is a warning (1103). */
  readonly absent?: AbsentList | undefined;
};

/**
 * Reads the files that the configuration of a home selects.
 * @throws RulesetError when a directory's pattern does not compile
 */
export function readRuleset({ home, ruleset, fileSystem, diagnostics, absent }: ReadRulesetParts): StoredRuleset {
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
  const mitre = mitreTable(sources, diagnostics);
  return optimizingLess(() => loadRuleset(sources, { ...loading, diagnostics, compilePattern, mitre }));
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
