import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { root } from './phases.mjs';

/** Digits of a commit's hash that make a seed of 31 bits at most. */
const HEX_DIGITS = 7;

/** The seed of the commit that is checked out, or one at random where there is no commit. @returns {string} */
export function commitSeed() {
  const { stdout, status } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' });
  return String(status === 0 ? Number.parseInt(stdout.slice(0, HEX_DIGITS), 16) : randomInt(1, 2 ** 31));
}
