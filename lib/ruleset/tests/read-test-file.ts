import { extname } from 'node:path';
import { readIniTests } from './read-ini-tests.js';
import { readYamlTests } from './read-yaml-tests.js';
import type { RuleTest } from './rule-test.js';

/** Largest file of tests, bytes. */
export const MAX_TEST_FILE_BYTES = 16 * 1024 * 1024;
const TEST_FILES = new Set(['.yml', '.yaml', '.ini']);

/** Whether a file of this name holds tests. */
export function isTestFile(name: string): boolean {
  return TEST_FILES.has(extname(name));
}

/**
 * Reads a file of tests of either form.
 * @param file its name, for errors; the extension says the form
 * @throws RuleTestError with the line
 */
export function readTestFile(source: string, file: string): RuleTest[] {
  return extname(file) === '.ini' ? readIniTests(source, file) : readYamlTests(source, file);
}
