import { lstatSync, mkdirSync, readdirSync, type Stats } from 'node:fs';
import { ifPresentSync } from '../../../lib/files/if-present.js';
import { readFileBelow } from '../../../lib/files/read-below.js';
import type { Home } from '../../../lib/home/home.js';
import { isTestFile, MAX_TEST_FILE_BYTES } from '../../../lib/ruleset/tests/read-test-file.js';
import { ApiError } from '../../http/api-error.js';

/** Where the user's tests are, below the home. */
export const TESTS_DIRECTORY = 'etc/tests';

/** Permissions of the directory where a home has none yet: whoever may write rules may write their tests. */
const DIRECTORY_MODE = 0o770;

/** A file with tests, as the API shows it. */
export type TestFile = { readonly filename: string; readonly relative_dirname: string };

/** The user's files of tests; links are none, and none are behind a link, for they could show what is not the user's to see. */
export class OwnTestFiles {
  readonly #home: Home;

  constructor(home: Home) {
    this.#home = home;
  }

  /** All of them by name. @throws the file system's error */
  list(): TestFile[] {
    if (this.#directory?.isDirectory() !== true) return [];
    const names = ifPresentSync(() => readdirSync(this.#home.path(TESTS_DIRECTORY))) ?? [];
    return names
      .filter((name) => isTestFile(name) && this.has(name))
      .sort()
      .map((filename) => ({ filename, relative_dirname: TESTS_DIRECTORY }));
  }

  /** Whether there is a regular file of this name. */
  has(filename: string): boolean {
    if (this.#directory?.isDirectory() !== true) return false;
    return lstatSync(this.#home.path(TESTS_DIRECTORY, filename), { throwIfNoEntry: false })?.isFile() === true;
  }

  /** @throws the file system's error; RangeError when it is too large */
  read(filename: string): string {
    return readFileBelow(this.#home.root, `${TESTS_DIRECTORY}/${filename}`, MAX_TEST_FILE_BYTES).toString('utf8');
  }

  /** That files may be changed where they are. @throws ApiError 1006 when it is a link: it may lead out of the home */
  checkDirectory(): void {
    if (this.#directory?.isDirectory() === false) {
      throw new ApiError(1006, { extra: `${TESTS_DIRECTORY} is not a directory` });
    }
  }

  /** Makes the directory in a home of an earlier version. @throws ApiError as `checkDirectory`; the file system's error */
  makeDirectory(): void {
    this.checkDirectory();
    mkdirSync(this.#home.path(TESTS_DIRECTORY), { recursive: true, mode: DIRECTORY_MODE });
  }

  /** Of the directory itself, not of what it may lead to. */
  get #directory(): Stats | undefined {
    return lstatSync(this.#home.path(TESTS_DIRECTORY), { throwIfNoEntry: false });
  }
}
