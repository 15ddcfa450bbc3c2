// Lint, then the whole mocha suite. Extra arguments go to mocha (for example: npm test -- --grep osregex).
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Each process that runs test files takes up to 300 MB, and what its tests start about as much. */
const MOST_JOBS = 4;
/**
 * Tries a test has. Most tests hold real processes, files and clocks: a machine that stalls must not stop a release. A second
 * try is named by the reporter, so that none hides a defect; properties draw the same examples in each (properties.mjs).
 */
const TRIES = 2;
/**
 * The longest first, so that none is left over when the others are done: they wait more than they compute. Short ones at the
 * end keep all processes busy.
 */
const SUITES = ['integration/chaos.test.js', 'integration', 'conformance', 'unit'];

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const tests = join(root, 'dist/test');
const files = readdirSync(tests, { recursive: true }).filter((path) => path.endsWith('.test.js'));
const inSuite = (suite) => files.filter((path) => path === suite || path.startsWith(`${suite}/`)).sort();
// A file that two of them name runs once, where it is named first.
const specs = [...new Set(SUITES.flatMap(inSuite))].map((path) => join('dist/test', path));
const jobs = Math.min(availableParallelism(), MOST_JOBS);

const lint = spawnSync(process.execPath, [join(root, '.ci/lint.mjs')], { cwd: root, stdio: 'inherit' });
const mocha = spawnSync(
  process.execPath,
  [
    '--enable-source-maps',
    join(root, 'node_modules/mocha/bin/mocha.js'),
    ...(jobs > 1 ? ['--parallel', '--jobs', String(jobs)] : []),
    ...['--retries', String(TRIES - 1)],
    ...specs,
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: 'inherit', env: { ...process.env, SVC_LINT_FAILED: lint.status === 0 ? '' : '1' } },
);
process.exit(lint.status !== 0 ? (lint.status ?? 1) : (mocha.status ?? 1));
