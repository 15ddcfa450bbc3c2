import type { MatchContext } from '../../patterns/matcher.js';
import type { Diagnostics } from '../event.js';
import type { PatternCompiler } from './pattern-compiler.js';
import { RulesetError } from './ruleset-error.js';
import type { RulesetFileSystem } from './ruleset-file-system.js';
import type { RulesetSource } from './ruleset-source.js';

/** One `rule_dir` or `decoder_dir`. */
export type RulesetDirectory = {
  readonly path: string;
  /** OS_Regex on `<dir>/<file>`. */
  readonly pattern: string;
};

/** Which files hold rules, or decoders (rules-and-alerts.md 1.1, decoding.md 4.1). */
export type FileSelection = {
  /** `rule_include`, `decoder_include`: as written. */
  readonly includes: readonly string[];
  readonly directories: readonly RulesetDirectory[];
  readonly excludes: readonly string[];
};

/** The files of a ruleset. */
export type RulesetSelection = {
  readonly decoders: FileSelection;
  readonly rules: FileSelection;
};

export type RulesetKind = 'decoders' | 'rules';

/** Pattern of a directory for which none is configured. */
const DEFAULT_PATTERN = '.xml$';

/** The ruleset of directories without a home around them, each holding `decoders/` and `rules/`. */
export function offlineSelection(dirs: readonly string[]): RulesetSelection {
  const inside = (part: RulesetKind): FileSelection => ({
    includes: [],
    directories: directories(...dirs.map((dir) => `${dir.replace(/\/+$/, '')}/${part}`)),
    excludes: [],
  });
  return { decoders: inside('decoders'), rules: inside('rules') };
}

function directories(...paths: string[]): RulesetDirectory[] {
  return paths.map((path) => ({ path, pattern: DEFAULT_PATTERN }));
}

/** What finding files needs. */
export type SelectFilesOptions = {
  readonly fileSystem: RulesetFileSystem;
  readonly compilePattern: PatternCompiler;
  readonly context: MatchContext;
  readonly diagnostics: Diagnostics;
};

/**
 * The files of a ruleset in load order: includes and the matching entries of all directories, without the excluded ones,
 * sorted by base name in byte order; files of the same name keep the order of their directories.
 *
 * @throws RulesetError when a directory's pattern does not compile, after its texts went to the diagnostics
 */
export function selectRulesetFiles(kind: RulesetKind, selection: FileSelection, options: SelectFilesOptions): string[] {
  const shipped = `ruleset/${kind}`;
  const files = new Set<string>();
  for (const include of selection.includes) {
    files.add(include.includes('/') ? include : `${shipped}/${include}`);
  }
  const dirs = selection.directories.length > 0 ? selection.directories : directories(shipped);
  const excludes = new Set(selection.excludes);
  for (const dir of dirs) {
    const matcher = compileDirectoryPattern(kind, dir, options);
    // readdir gives no order; one by name makes the outcome the same everywhere.
    for (const entry of [...(options.fileSystem.list(dir.path) ?? [])].sort(compareBytes)) {
      const path = `${dir.path}/${entry}`;
      // An entry is also skipped when a file of exactly this name, without a directory, was included.
      if (excludes.has(entry) || excludes.has(path) || files.has(entry)) {
        continue;
      }
      if (matcher.test(Buffer.from(path, 'utf8').toString('latin1'), options.context)) {
        files.add(path);
      }
    }
  }
  return [...files].sort((a, b) => compareBytes(baseName(a), baseName(b)));
}

function compileDirectoryPattern(
  kind: RulesetKind,
  dir: RulesetDirectory,
  { compilePattern, diagnostics }: SelectFilesOptions,
): ReturnType<PatternCompiler> {
  try {
    return compilePattern('osregex', dir.pattern);
  } catch {
    const element = kind === 'rules' ? 'rule_dir' : 'decoder_dir';
    const place = { file: dir.path, line: 0 };
    const text = `(1202): Configuration error at 'pattern in ${element} does not compile'.`;
    diagnostics.error(text, place);
    diagnostics.error('Regex would not compile', place);
    throw new RulesetError(text, place);
  }
}

/**
 * Reads files as byte strings. One that cannot be read is reported (1103) and left out, as in the reference.
 *
 * @param paths as `selectRulesetFiles` gave them
 */
export function readRulesetFiles(
  paths: readonly string[],
  fileSystem: RulesetFileSystem,
  diagnostics: Diagnostics,
): RulesetSource[] {
  const sources: RulesetSource[] = [];
  for (const path of paths) {
    const content = fileSystem.read(path);
    if (typeof content === 'string') {
      sources.push({ path, content });
    } else {
      const reason = `[(${String(content.errno)})-(${content.text})]`;
      diagnostics.warn(`(1103): Could not open file '${path}' due to ${reason}.`, { file: path, line: 0 });
    }
  }
  return sources;
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function compareBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
