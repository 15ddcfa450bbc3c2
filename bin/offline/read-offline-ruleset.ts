import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Diagnostics } from '../../lib/engine/event.js';
import type { RulesetSources } from '../../lib/engine/load/load-ruleset.js';
import { RulesetError } from '../../lib/engine/load/ruleset-error.js';
import { DiskRulesetFileSystem } from '../../lib/engine/load/ruleset-file-system.js';
import {
  offlineSelection,
  readRulesetFiles,
  type RulesetKind,
  selectRulesetFiles,
} from '../../lib/engine/load/ruleset-files.js';
import type { RulesetSource } from '../../lib/engine/load/ruleset-source.js';
import { compilePattern } from '../../lib/patterns/compile-pattern.js';
import { MatchContext } from '../../lib/patterns/matcher.js';

/** Rules name lists by the path that a home gives them. */
const LIST_PATH = 'etc/lists';

/** What a directory of a ruleset holds, some of it or all. */
const PARTS = ['decoders', 'rules', 'lists'];

/**
 * Refuses directories that are none of a ruleset: a path that was typed wrong would pass for a ruleset without rules.
 *
 * @throws RulesetError that names the first of them
 */
export function checkRulesetDirs(dirs: readonly string[]): void {
  for (const dir of dirs) {
    const place = { file: dir, line: 0 };
    if (!existsSync(dir)) {
      throw new RulesetError('no such directory: --ruleset needs one with decoders/, rules/', place);
    }
    if (PARTS.some((part) => existsSync(join(dir, part)))) continue;
    throw new RulesetError('no ruleset: --ruleset needs a directory that holds decoders/, rules/ or lists/', place);
  }
}

/**
 * Reads the files of a ruleset that lies in plain directories, each holding `decoders/`, `rules/` and `lists/`, as they
 * would be read in a home.
 *
 * @throws RulesetError when the selection is not possible, or there is neither a decoder nor a rule
 */
export function readOfflineRuleset(dirs: readonly string[], diagnostics: Diagnostics): RulesetSources {
  checkRulesetDirs(dirs);
  const fileSystem = new DiskRulesetFileSystem(process.cwd());
  const selection = offlineSelection(dirs);
  const options = { fileSystem, compilePattern, context: new MatchContext(), diagnostics };
  const read = (kind: RulesetKind): RulesetSource[] =>
    readRulesetFiles(selectRulesetFiles(kind, selection[kind], options), fileSystem, diagnostics);
  const decoders = read('decoders');
  const rules = read('rules');
  if (decoders.length === 0 && rules.length === 0) {
    throw new RulesetError('no file of decoders or rules (.xml) is there', { file: dirs.join(', '), line: 0 });
  }
  return { decoders, rules, lists: dirs.flatMap(readLists) };
}

/** Text lists of one directory, under the paths that rules name. */
function readLists(dir: string): RulesetSource[] {
  const root = join(dir, 'lists');
  let entries;
  try {
    entries = readdirSync(root, { recursive: true, withFileTypes: true });
  } catch {
    return [];
  }
  return entries
    .filter((entry) => entry.isFile() && !/\.cdb$|~$|^\./.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => ({
      path: `${LIST_PATH}/${relative(root, path)}`,
      content: readFileSync(path, 'latin1'),
    }));
}
