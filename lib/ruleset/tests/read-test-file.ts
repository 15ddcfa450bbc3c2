import { extname } from 'node:path';
import { readIniTests } from './read-ini-tests.js';
import { readYamlTests } from './read-yaml-tests.js';
import { type RuleTest, RuleTestError } from './rule-test.js';

/** Largest file of tests, bytes: it is read at once, where others wait for it. */
export const MAX_TEST_FILE_BYTES = 1024 * 1024;
const TEST_FILES = new Set(['.yml', '.yaml', '.ini']);

/** Whether a file of this name holds tests. */
export function isTestFile(name: string): boolean {
  return TEST_FILES.has(extname(name));
}

/**
 * Reads a file of tests of either form.
 * @param file its name, for errors; the extension says the form
 * @throws RuleTestError with the line; for one larger than 1 MiB
 */
export function readTestFile(source: string, file: string): RuleTest[] {
  if (Buffer.byteLength(source) > MAX_TEST_FILE_BYTES) {
    throw new RuleTestError(file, 0, `larger than ${String(MAX_TEST_FILE_BYTES)} bytes`);
  }
  return extname(file) === '.ini' ? readIniTests(source, file) : readYamlTests(source, file);
}
