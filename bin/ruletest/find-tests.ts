import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { readIniTests } from './read-ini-tests.js';
import { readYamlTests } from './read-yaml-tests.js';
import { type RuleTest, RuleTestError } from './rule-test.js';

/** Largest test file read. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;
const TEST_FILES = new Set(['.yml', '.yaml', '.ini']);

/**
 * Reads the tests of files, and of directories with everything below them, in the order of their names.
 *
 * @throws RuleTestError when something cannot be read
 */
export function findTests(paths: readonly string[]): RuleTest[] {
  return paths.flatMap(testFiles).flatMap((file) => {
    const source = readSource(file);
    return extname(file) === '.ini' ? readIniTests(source, file) : readYamlTests(source, file);
  });
}

/** Test files at a path, sorted. */
function testFiles(path: string): string[] {
  if (!attempt(path, () => statSync(path)).isDirectory()) {
    return [path];
  }
  return attempt(path, () => readdirSync(path, { recursive: true, encoding: 'utf8' }))
    .filter((name) => TEST_FILES.has(extname(name)))
    .sort()
    .map((name) => join(path, name));
}

function readSource(file: string): string {
  return attempt(file, () => {
    if (statSync(file).size > MAX_FILE_BYTES) {
      throw new RuleTestError(file, 0, `larger than ${String(MAX_FILE_BYTES)} bytes`);
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
