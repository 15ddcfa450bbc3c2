import { lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { ifPresentSync } from '../../../lib/files/if-present.js';
import { readFileBelow } from '../../../lib/files/read-below.js';
import type { Home } from '../../../lib/home/home.js';
import { isTestFile, MAX_TEST_FILE_BYTES } from '../../../lib/ruleset/tests/read-test-file.js';

/** Where the user's tests are, below the home. */
export const TESTS_DIRECTORY = 'etc/tests';

/** Permissions of the directory where a home has none yet: whoever may write rules may write their tests. */
const DIRECTORY_MODE = 0o770;

/** A file with tests, as the API shows it. */
export type TestFile = { readonly filename: string; readonly relative_dirname: string };

/** The user's files of tests; links are none, for they could show what is not the user's to see. */
export class OwnTestFiles {
  readonly #home: Home;

  constructor(home: Home) {
    this.#home = home;
  }

  /** All of them by name. @throws the file system's error */
  list(): TestFile[] {
    const names = ifPresentSync(() => readdirSync(this.#home.path(TESTS_DIRECTORY))) ?? [];
    return names
      .filter((name) => isTestFile(name) && this.has(name))
      .sort()
      .map((filename) => ({ filename, relative_dirname: TESTS_DIRECTORY }));
  }

  /** Whether there is a regular file of this name. */
  has(filename: string): boolean {
    return lstatSync(this.#home.path(TESTS_DIRECTORY, filename), { throwIfNoEntry: false })?.isFile() === true;
  }

  /** @throws the file system's error; RangeError when it is too large */
  read(filename: string): string {
    return readFileBelow(this.#home.root, `${TESTS_DIRECTORY}/${filename}`, MAX_TEST_FILE_BYTES).toString('utf8');
  }

  /** Makes the directory in a home of an earlier version. @throws the file system's error */
  makeDirectory(): void {
    mkdirSync(this.#home.path(TESTS_DIRECTORY), { recursive: true, mode: DIRECTORY_MODE });
  }
}
