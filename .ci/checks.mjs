// What is checked without running the product, in this order: types made from the contract, types, formatting, lint and layers.
import { join } from 'node:path';
import { root } from './phases.mjs';

const bin = (name) => join(root, 'node_modules/.bin', name);

/** Each [name, command, arguments]. */
const CHECKS = [
  ['error codes', process.execPath, [join(root, '.ci/generate-errors.mjs'), '--check']],
  ['operations', process.execPath, [join(root, '.ci/generate-operations.mjs'), '--check']],
  ['types', process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-b']],
  [
    'prettier',
    bin('prettier'),
    ['--check', '--cache', '--cache-location', '.cache/prettier', '--log-level', 'warn', '.'],
  ],
  ['eslint', bin('eslint'), ['--cache', '--cache-location', '.cache/eslint', '--max-warnings', '0', '.']],
  ['layers', bin('depcruise'), ['--output-type', 'err', 'bin', 'api', 'daemons', 'lib', 'test']],
  ['shared', process.execPath, [join(root, '.ci/layers.mjs')]],
  ['exports', process.execPath, [join(root, '.ci/unused-exports.mjs')]],
];

/**
 * Runs every check, or those named, each as a phase.
 * @returns how many failed
 */
export async function runChecks(phases, names = CHECKS.map(([name]) => name)) {
  let failed = 0;
  for (const [name, command, args] of CHECKS.filter(([each]) => names.includes(each))) {
    if ((await phases.run(name, command, args)) === 0) continue;
    failed++;
    console.error(`lint: ${name} failed`);
  }
  return failed;
}
