import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isTestFile, MAX_TEST_FILE_BYTES, readTestFile } from '../../lib/ruleset/tests/read-test-file.js';
import { type RuleTest, RuleTestError } from '../../lib/ruleset/tests/rule-test.js';

/**
 * Reads the tests of files, and of directories with everything below them, in the order of their names.
 *
 * @throws RuleTestError when something cannot be read
 */
export function findTests(paths: readonly string[]): RuleTest[] {
  return paths.flatMap(testFiles).flatMap((file) => readTestFile(readSource(file), file));
}

/** Test files at a path, sorted. */
function testFiles(path: string): string[] {
  if (!attempt(path, () => statSync(path)).isDirectory()) {
    return [path];
  }
  return attempt(path, () => readdirSync(path, { recursive: true, encoding: 'utf8' }))
    .filter((name) => isTestFile(name))
    .sort()
    .map((name) => join(path, name));
}

function readSource(file: string): string {
  return attempt(file, () => {
    if (statSync(file).size > MAX_TEST_FILE_BYTES) {
      throw new RuleTestError(file, 0, `larger than ${String(MAX_TEST_FILE_BYTES)} bytes`);
    }
    return readFileSync(file, 'utf8');
  });
}

function attempt<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof RuleTestError) {
      throw error;
    }
    throw new RuleTestError(path, 0, error instanceof Error ? error.message : String(error));
  }
}
