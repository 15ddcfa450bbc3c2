import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { getSystemErrorMap } from 'node:util';

/** Why a file could not be read: the number and the text of the system's error. */
export type ReadFailure = {
  readonly errno: number;
  readonly text: string;
};

/** The files a ruleset is read from. Paths and names are ordinary strings, contents are byte strings. */
export interface RulesetFileSystem {
  /** Names in a directory, or undefined when it is not there. */
  list(directory: string): readonly string[] | undefined;
  /** Content as a byte string. */
  read(path: string): string | ReadFailure;
}

/** Files below a root directory (the home); absolute paths are taken as they are. */
export class DiskRulesetFileSystem implements RulesetFileSystem {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  list(directory: string): readonly string[] | undefined {
    try {
      return readdirSync(this.#path(directory));
    } catch {
      return undefined;
    }
  }

  read(path: string): string | ReadFailure {
    try {
      return readFileSync(this.#path(path), 'latin1');
    } catch (error) {
      const errno = error instanceof Error && 'errno' in error && typeof error.errno === 'number' ? error.errno : 0;
      const text = getSystemErrorMap().get(errno)?.[1] ?? 'unknown error';
      return { errno: Math.abs(errno), text: text.charAt(0).toUpperCase() + text.slice(1) };
    }
  }

  #path(path: string): string {
    return resolve(this.#root, path);
  }
}
