import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { MatchContext } from '../patterns/matcher.js';
import { compilePattern } from '../patterns/compile-pattern.js';
import type { Diagnostics } from '../engine/event.js';
import type { RulesetSources } from '../engine/load-ruleset.js';
import { DiskRulesetFileSystem } from '../engine/ruleset-file-system.js';
import { offlineSelection, readRulesetFiles, selectRulesetFiles, type RulesetKind } from '../engine/ruleset-files.js';
import type { RulesetSource } from '../engine/ruleset-source.js';

/** Rules name lists by the path that a home gives them. */
const LIST_PATH = 'etc/lists';

/**
 * Reads the files of a ruleset that lies in plain directories, each holding `decoders/`, `rules/` and `lists/`, as they
 * would be read in a home.
 *
 * @throws RulesetError when the selection is not possible
 */
export function readOfflineRuleset(dirs: readonly string[], diagnostics: Diagnostics): RulesetSources {
  const fileSystem = new DiskRulesetFileSystem(process.cwd());
  const selection = offlineSelection(dirs);
  const options = { fileSystem, compilePattern, context: new MatchContext(), diagnostics };
  const read = (kind: RulesetKind): RulesetSource[] =>
    readRulesetFiles(selectRulesetFiles(kind, selection[kind], options), fileSystem, diagnostics);
  return { decoders: read('decoders'), rules: read('rules'), lists: dirs.flatMap(readLists) };
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
