// Installs, builds, checks and runs the whole mocha suite, and says what it is doing. Other arguments than these go to mocha
// (for example: npm test -- --grep osregex).
//   --quick           types, layers, and the unit and conformance tests that take no long time, for daily work
//   --new-properties  properties draw examples of the commit's own seed, which is printed: new ones for each commit, and the same
//                     ones when it is checked again
import { readFileSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { runChecks } from './checks.mjs';
import { commitSeed } from './commit-seed.mjs';
import { cpuOfFiles, longestFiles, readDurations } from './durations.mjs';
import { clock, Phases, root } from './phases.mjs';
import { temporaryDirectory } from './temporary.mjs';
import { noTests, verdict } from './verdict.mjs';

/** The whole is to take no longer on 2 cores; a slower machine is told, and may. */
const BUDGET_MS = 10 * 60_000;
/** Each process that runs test files takes up to 300 MB, and what its tests start about as much. */
const MOST_JOBS = 4;
/** Tests wait as well as compute; with more of them at a time the whole takes as long, and what each waits for comes later. */
const SPARE_JOBS = 1;
/** So many of the longest files are named in the end, so that they are kept short. */
const NAMED_FILES = 10;
/**
 * Tries a test has. Most tests hold real processes, files and clocks: a machine that stalls must not stop a release. Properties
 * draw the same examples in each (properties.mjs).
 */
const TRIES = 2;
/**
 * The longest first, so that none is left over when the others are done: they wait more than they compute. Short ones at the
 * end keep all processes busy.
 */
const SUITES = ['integration/chaos.test.js', 'integration', 'conformance', 'unit'];
/** A file that takes more than some 5 seconds says so by its name and is left out. */
const QUICK_SUITES = ['conformance', 'unit'];
const SLOW = '.slow.test.js';

const own = ['--quick', '--new-properties'];
const [isQuick, drawsNew] = own.map((name) => process.argv.includes(name));
const forMocha = process.argv.slice(2).filter((argument) => !own.includes(argument));

const phases = new Phases();
const total = noTests();
/** What was tried twice and what failed, once more at the end of some thousand lines. */
const closing = [];

function testFiles() {
  const tests = join(root, 'dist/test');
  const files = readdirSync(tests, { recursive: true }).filter((path) => path.endsWith('.test.js'));
  const inSuite = (suite) => files.filter((path) => path === suite || path.startsWith(`${suite}/`)).sort();
  // A file that two of them name runs once, where it is named first.
  const selected = [...new Set((isQuick ? QUICK_SUITES : SUITES).flatMap(inSuite))];
  return selected.filter((path) => !isQuick || !path.endsWith(SLOW)).map((path) => join('dist/test', path));
}

/** Runs mocha on files and adds what it counted. */
async function runTests(files) {
  const { homes, results, before, remove } = temporaryDirectory();
  const result = join(results, 'result.json');
  const durations = join(results, 'durations');
  const jobs = Math.min(availableParallelism() + SPARE_JOBS, MOST_JOBS);
  const [command, ...args] = [...before, process.execPath];
  const status = await phases.run(
    'tests',
    command,
    [
      ...args,
      '--enable-source-maps',
      join(root, 'node_modules/mocha/bin/mocha.js'),
      ...(jobs > 1 ? ['--parallel', '--jobs', String(jobs)] : []),
      ...['--retries', String(TRIES - 1)],
      ...['--require', join(root, '.ci/durations.mjs')],
      ...files,
      ...forMocha,
    ],
    {
      quiet: true,
      env: {
        TMPDIR: homes,
        SVC_TEST_RESULT: result,
        SVC_TEST_DURATIONS: durations,
        SVC_TEST_FILES: String(files.length),
        // A second of CPU each time that svc-analysisd starts, for speed that no test looks at.
        SVC_WARM_UP: 'no',
      },
    },
  );
  let counted = noTests();
  try {
    const { named, ...counts } = JSON.parse(readFileSync(result, 'utf8'));
    counted = counts;
    closing.push(
      ...named.secondTries.map((line) => `second try: ${line}`),
      ...named.failures.map((line) => `failed: ${line}`),
    );
  } catch {
    closing.push('failed: mocha ended before it had counted');
  }
  // A run that went wrong without a failed test (none loaded, one left the process) has failed as well.
  if (status !== 0 && counted.failed === 0) {
    counted.failed = 1;
    closing.push(`failed: mocha ended with status ${String(status)}, though no test failed`);
  }
  for (const key of Object.keys(total)) total[key] += counted[key];
  const noted = readDurations(durations);
  console.log(`The longest files:\n${longestFiles(noted, NAMED_FILES).join('\n')}`);
  console.log(`CPU of all: ${cpuOfFiles(noted).toFixed(0)} s`);
  remove();
}

const node = (name, script, ...args) => phases.run(name, process.execPath, [join(root, '.ci', script), ...args]);
for (const [name, ...command] of [
  ['install', 'prepare.mjs', '--install-only'],
  ['build', 'build.mjs'],
]) {
  if ((await node(name, ...command)) !== 0) {
    console.log('0 passed, 1 failed, 0 skipped');
    process.exit(1);
  }
}
const failedChecks = await runChecks(phases, isQuick ? ['operations', 'types', 'layers'] : undefined);
if (drawsNew) {
  const seed = commitSeed();
  console.log(`properties: examples of seed ${seed} (FC_SEED=${seed} npm test draws them again)`);
  process.env.FC_SEED = seed;
}
await runTests(testFiles());

console.log(phases.summary());
if (phases.elapsedMs > BUDGET_MS && !isQuick) {
  console.log(`That is longer than ${clock(BUDGET_MS)}, the bound for 2 cores.`);
}
for (const line of [...failedChecks.map((name) => `failed: the check ${name}`), ...closing]) console.log(line);
const { lines, hasPassed } = verdict(total, failedChecks.length);
console.log(lines.join('\n'));
process.exitCode = hasPassed ? 0 : 1;
