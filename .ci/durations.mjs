// Notes how long each file of tests takes: with --parallel several processes run them, and a reporter does not see hooks, in
// which daemons start and stop. Each file is a line of JSON in the file that SVC_TEST_DURATIONS names.
import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { performance } from 'node:perf_hooks';

const path = process.env.SVC_TEST_DURATIONS;
/** When the file before ended: what follows is the import of the next one. */
let ended = performance.now();

/** Loaded with --require: once a file, in the process that runs it. */
export const mochaHooks = {
  afterAll() {
    const now = performance.now();
    const file = this.test?.parent?.suites[0]?.file;
    if (path !== undefined && file !== undefined) {
      appendFileSync(path, `${JSON.stringify({ file: relative(process.cwd(), file), milliseconds: now - ended })}\n`);
    }
    ended = now;
  },
};

/**
 * @param lines what was noted
 * @returns the longest files, longest first, as lines for people
 */
export function longestFiles(lines, count) {
  const files = lines.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
  return files
    .sort((one, other) => other.milliseconds - one.milliseconds)
    .slice(0, count)
    .map(({ file, milliseconds }) => `${(milliseconds / 1000).toFixed(1).padStart(6)} s  ${file}`);
}

/** @returns what was noted in a file, nothing where no test ran */
export function readDurations(from) {
  try {
    return readFileSync(from, 'utf8');
  } catch {
    return '';
  }
}
