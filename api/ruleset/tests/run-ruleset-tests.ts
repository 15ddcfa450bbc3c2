import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigError } from '../../../lib/config/config-error.js';
import { loadInternalOptions } from '../../../lib/config/internal-options.js';
import { loadManagerConfig } from '../../../lib/config/load-manager-config.js';
import { parseListedFile } from '../../../lib/engine/listing/parse-listed-file.js';
import type { EngineRuleset } from '../../../lib/engine/load/engine-ruleset.js';
import { RulesetError } from '../../../lib/engine/load/ruleset-error.js';
import { Home } from '../../../lib/home/home.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { loadingOf } from '../../../lib/ruleset/loading-settings.js';
import { compileRuleset, readRuleset } from '../../../lib/ruleset/read-ruleset.js';
import { isTestFile, readTestFile } from '../../../lib/ruleset/tests/read-test-file.js';
import { type RuleTest, RuleTestError } from '../../../lib/ruleset/tests/rule-test.js';
import { RuleTestRunner } from '../../../lib/ruleset/tests/run-rule-test.js';
import { LISTS_DIRECTORY } from '../list-directory.js';
import { checkUploadedList, ListFormatError } from '../list-text.js';
import { ChangedFiles } from './changed-files.js';
import { OwnTestFiles, TESTS_DIRECTORY } from './own-test-files.js';
import { SILENT, SpokenMessages } from './spoken-messages.js';
import type { ChangedFile, TestsOrder, TestsReport, WantedTests } from './tests-order.js';
import { ReportedTests } from './tests-report.js';

/** Tests of a run at most. */
const MAX_TESTS = 50_000;

/**
 * Loads the ruleset of a home as it would be with files changed, and runs tests on it. Takes as long as a start of the engine
 * does, so it belongs in a thread. What is wrong with files is in the report.
 * @throws the file system's error
 */
export function runRulesetTests({ home: root, files, tests: wanted }: TestsOrder): TestsReport {
  const home = new Home(root);
  const said = new SpokenMessages();
  const isReadable = checkTexts(files, said);
  const tests = findTests(home, files, wanted, said);
  const ruleset = isReadable ? load(home, files, said) : undefined;
  const reported = new ReportedTests();
  if (ruleset === undefined) return reported.report(said.messages, false);
  const runner = new RuleTestRunner(ruleset, SILENT, said.spoken);
  for (const test of tests) reported.add(runner.run(test));
  return reported.report(said.messages, true);
}

/** What uploads are held against before the engine sees them. @returns whether all of it can be read */
function checkTexts(files: readonly ChangedFile[], said: SpokenMessages): boolean {
  let isReadable = true;
  for (const { path, content } of files) {
    if (content === null || path.startsWith(`${TESTS_DIRECTORY}/`)) continue;
    const line = lineOfProblem(path, content);
    if (line === undefined) continue;
    said.error(line.text, { file: path, line: line.line });
    isReadable = false;
  }
  return isReadable;
}

function lineOfProblem(path: string, content: string): { line: number; text: string } | undefined {
  if (path.startsWith(`${LISTS_DIRECTORY}/`)) {
    try {
      checkUploadedList(content);
      return undefined;
    } catch (error) {
      if (error instanceof ListFormatError) return { line: error.line, text: error.message };
      throw error;
    }
  }
  const file = { filename: posix.basename(path), relative_dirname: posix.dirname(path), status: 'enabled' as const };
  const parsed = parseListedFile({ file, content });
  return 'message' in parsed ? { line: parsed.line, text: parsed.message } : undefined;
}

function load(home: Home, files: readonly ChangedFile[], said: SpokenMessages): EngineRuleset | undefined {
  try {
    const config = loadManagerConfig(home, ['global', 'alerts', 'ruleset']);
    const options = loadInternalOptions(home, ['analysisd']);
    const fileSystem = new ChangedFiles(home.root, files);
    const sources = readRuleset({ home, ruleset: config.ruleset, fileSystem, diagnostics: said });
    return compileRuleset(sources, loadingOf({ config, options }), said);
  } catch (error) {
    // Whoever throws it has said all of it before.
    if (error instanceof RulesetError) return undefined;
    if (!(error instanceof ConfigError)) throw error;
    said.error(error.message);
    return undefined;
  }
}

/** Tests of the user, as their files would be, and those that came with the product. */
function findTests(home: Home, files: readonly ChangedFile[], wanted: WantedTests, said: SpokenMessages): RuleTest[] {
  const changed = new Map(files.map(({ path, content }) => [path, content]));
  const own = new OwnTestFiles(home);
  const names = new Set(own.list().map(({ filename }) => `${TESTS_DIRECTORY}/${filename}`));
  for (const [path, content] of changed) {
    const isTest = path.startsWith(`${TESTS_DIRECTORY}/`) && isTestFile(path);
    if (isTest && content !== null) names.add(path);
  }
  const tests: RuleTest[] = [];
  const take = (path: string, read: () => RuleTest[]): void => {
    const found = attempt(said, path, read);
    if (wanted === 'none') return;
    if (tests.length + found.length > MAX_TESTS) {
      said.error(`more than ${String(MAX_TESTS)} tests: those of this file were not run`, { file: path, line: 0 });
      return;
    }
    // One by one: a call takes fewer arguments than a file may have tests.
    for (const test of found) tests.push(test);
  };
  for (const path of [...names].sort()) {
    const content = changed.get(path);
    // Files that are sent are read whatever is run: what is wrong with them is what somebody asks.
    if (content === null || (wanted === 'none' && content === undefined)) continue;
    take(path, () => readTestFile(content ?? own.read(posix.basename(path)), path));
  }
  if (wanted === 'all') {
    const directory = fileURLToPath(new URL('etc/ruleset/tests/', productRoot()));
    for (const name of readdirSync(directory).filter(isTestFile).sort()) {
      const path = `ruleset/tests/${name}`;
      take(path, () => readTestFile(readFileSync(directory + name, 'utf8'), path));
    }
  }
  return tests;
}

function attempt(said: SpokenMessages, file: string, read: () => RuleTest[]): RuleTest[] {
  try {
    return read();
  } catch (error) {
    if (error instanceof RuleTestError) said.error(error.text, { file, line: error.line });
    else if (error instanceof RangeError) said.error(error.message, { file, line: 0 });
    else throw error;
    return [];
  }
}
