// What is checked without running the product: types made from the contract, types, formatting, lint and layers.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { root } from './phases.mjs';

const bin = (name) => join(root, 'node_modules/.bin', name);

/** Each takes one core or more, and up to 1 GB. */
const MOST_AT_ONCE = 2;

/** Each [name, command, arguments], the longest first. */
const CHECKS = [
  ['types', process.execPath, [join(root, 'node_modules/typescript7/bin/tsc')]],
  ['lint', bin('oxlint'), ['--type-aware', '--max-warnings', '0', '--report-unused-disable-directives']],
  ['layers', bin('depcruise'), ['--output-type', 'err', 'bin', 'api', 'daemons', 'lib', 'test']],
  ['error codes', process.execPath, [join(root, '.ci/generate-errors.mjs'), '--check']],
  ['operations', process.execPath, [join(root, '.ci/generate-operations.mjs'), '--check']],
  // What runs in the browser knows its names, and no other file does.
  [
    'types of /docs',
    process.execPath,
    [join(root, 'node_modules/typescript7/bin/tsc'), '-p', join(root, 'api/docs/browser')],
  ],
  [
    'types of /console',
    process.execPath,
    [join(root, 'node_modules/typescript7/bin/tsc'), '-p', join(root, 'api/console/browser')],
  ],
  ['format', bin('oxfmt'), ['--check', '.']],
  ['shared', process.execPath, [join(root, '.ci/layers.mjs')]],
  ['exports', process.execPath, [join(root, '.ci/unused-exports.mjs')]],
];

/**
 * Runs every check, or those named, each as a phase, two at a time.
 * @returns the names of those that failed
 */
export async function runChecks(phases, names = CHECKS.map(([name]) => name)) {
  const waiting = CHECKS.filter(([each]) => names.includes(each));
  const failed = [];
  async function runOneAfterAnother() {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      const [name, command, args] = check;
      if ((await phases.run(name, command, args, { whole: true })) === 0) continue;
      failed.push(name);
      console.error(`lint: ${name} failed`);
    }
  }
  const atOnce = Math.min(availableParallelism(), MOST_AT_ONCE);
  await Promise.all(Array.from({ length: atOnce }, runOneAfterAnother));
  return failed;
}
