import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { watch } from 'chokidar';
import type { Diagnostics } from '../../lib/engine/event.js';
import { RulesetError } from '../../lib/engine/load/ruleset-error.js';
import { LoadMessages } from '../../lib/logtest/load-messages.js';
import { type RuleTest, RuleTestError } from '../../lib/ruleset/tests/rule-test.js';
import { type RuleTestResult, RuleTestRunner } from '../../lib/ruleset/tests/run-rule-test.js';
import { loadOfflineRuleset } from '../offline/offline-ruleset.js';
import { checkRulesetDirs } from '../offline/read-offline-ruleset.js';
import { renderExplanation } from '../offline/render-explanation.js';
import { stderrDiagnostics } from '../offline/stderr-diagnostics.js';
import { ProgressLine } from '../terminal/progress-line.js';
import { type TextStyle, textStyle } from '../terminal/text-style.js';
import { findTests } from './find-tests.js';
import { junitReport } from './junit-report.js';
import { renderCoverage, renderResult, renderSummary } from './render-results.js';
import { CANNOT_RUN, parseRuletestOptions, type RuletestOptions } from './ruletest-options.js';
import { testCoverage } from './test-coverage.js';

/** Time in which changes of files are taken together. */
const SETTLE_MS = 150;
/** Failures that are explained step by step, unless all are asked for. */
const EXPLAINED = 5;
/** Time after which a run lets signals be heard. */
const SLICE_MS = 50;

/**
 * `svc-ruletest`: runs the tests that lie beside rules.
 * @param args without program and script
 * @returns the exit status; with --watch never
 */
export async function ruletestCommand(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const options = parseRuletestOptions(args);
  if (typeof options === 'number') {
    return options;
  }
  const style = textStyle(process.stdout.isTTY, environment);
  if (!options.watch) {
    return runOnce(options, style);
  }
  return runWhenChanged(options, style);
}

/** Loads, runs, and prints. @returns the exit status */
async function runOnce(options: RuletestOptions, style: TextStyle): Promise<number> {
  const begin = performance.now();
  const diagnostics = stderrDiagnostics(options.quiet);
  try {
    checkRulesetDirs(options.ruleset);
    const tests = findTests(options.tests).filter((test) => isWanted(test, options.grep));
    if (tests.length === 0) {
      throw new RuleTestError(noTests(options), 0, 'no tests');
    }
    const messages = new LoadMessages(diagnostics);
    const ruleset = loadOfflineRuleset(options.ruleset, messages);
    // What a rule or decoder complains about while tests run is seen in their results.
    const results = await runAll(new RuleTestRunner(ruleset, SILENT, messages.all), tests, options, style);
    if (options.junit !== undefined) {
      writeReport(options.junit, junitReport(results));
    }
    const failed = results.some(({ status }) => status === 'failed');
    let uncovered = false;
    if (options.coverage) {
      const coverage = testCoverage(ruleset, results);
      uncovered = coverage.neverExpected.length + coverage.neverExcluded.length > 0;
      process.stdout.write(renderCoverage(coverage, style));
    }
    if (!options.quiet || failed) {
      process.stdout.write(renderSummary(results, performance.now() - begin, style));
    }
    if (results.every(({ status }) => status === 'skipped')) {
      throw new RuleTestError(noTests(options), 0, 'every test is skipped');
    }
    return failed || (options.requireCoverage && uncovered) ? 1 : 0;
  } catch (error) {
    if (error instanceof RuleTestError || error instanceof RulesetError) {
      process.stderr.write(`svc-ruletest: ${error.message}\n`);
      return CANNOT_RUN;
    }
    throw error;
  }
}

/** Where tests were looked for in vain. */
function noTests({ tests, ruleset, grep }: RuletestOptions): string {
  if (grep !== undefined) return `--grep ${grep}`;
  return tests.length > 0 ? tests.join(', ') : ruleset.map((dir) => join(dir, 'tests')).join(', ');
}

function isWanted({ name, file }: RuleTest, grep: string | undefined): boolean {
  return grep === undefined || name.includes(grep) || file.includes(grep);
}

async function runAll(
  runner: RuleTestRunner,
  tests: readonly RuleTest[],
  { verbose, quiet, explain }: RuletestOptions,
  style: TextStyle,
): Promise<RuleTestResult[]> {
  const progress = new ProgressLine((text) => process.stderr.write(text), process.stderr.isTTY);
  const results: RuleTestResult[] = [];
  let failed = 0;
  let slice = performance.now();
  for (const test of tests) {
    const result = runner.run(test);
    results.push(result);
    if (result.status === 'failed') {
      failed += 1;
    }
    if (verbose || result.status === 'failed' || (result.status === 'skipped' && !quiet)) {
      progress.clear();
      process.stdout.write(renderResult(result, style));
      if (result.status === 'failed' && (explain || failed <= EXPLAINED)) {
        const explanation = new Map([['explain', runner.explain(test)]]);
        process.stdout.write(`${renderExplanation(explanation, style, false)}\n`);
      }
    }
    progress.update(`${results.length} of ${tests.length} tests, ${failed} failed`);
    if (performance.now() - slice > SLICE_MS) {
      await setImmediate();
      slice = performance.now();
    }
  }
  progress.clear();
  return results;
}

function writeReport(file: string, report: string): void {
  try {
    writeFileSync(file, report);
  } catch (error) {
    throw new RuleTestError(file, 0, error instanceof Error ? error.message : String(error));
  }
}

/** Runs now and after every change, until the process is told to end. */
function runWhenChanged(options: RuletestOptions, style: TextStyle): Promise<number> {
  return new Promise((resolve) => {
    const watcher = watch([...options.ruleset, ...options.tests], { ignoreInitial: true });
    let timer: NodeJS.Timeout | undefined;
    let running = false;
    const run = (): void => {
      timer = undefined;
      running = true;
      void runOnce(options, style)
        .catch((error: unknown) => {
          process.stderr.write(
            `svc-ruletest: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
          );
        })
        .finally(() => {
          running = false;
          process.stdout.write(`${style.faint('Waiting for a change of rules, decoders or tests.')}\n`);
        });
    };
    const again = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (running) {
          again();
        } else {
          run();
        }
      }, SETTLE_MS);
    };
    watcher.on('all', again);
    watcher.on('ready', run);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        clearTimeout(timer);
        void watcher.close().then(() => {
          resolve(0);
        });
      });
    }
  });
}

const silent = (): void => {};
const SILENT: Diagnostics = { debug: silent, info: silent, warn: silent, error: silent };
