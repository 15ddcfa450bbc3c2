import { byteString } from '../config/pattern-text.js';
import type { PathOrPattern } from '../config/sections/syscheck.js';
import { PathPattern } from '../fim/scan/path-list.js';

/** `<ignore>` of `<rootcheck>`: exact paths and simple patterns (integrity-and-inventory.md 9.1). */
export class RootcheckIgnore {
  readonly #paths: ReadonlySet<string>;
  readonly #patterns: readonly PathPattern[];

  /** @throws PatternError */
  constructor(entries: readonly PathOrPattern[]) {
    this.#paths = new Set(entries.filter(({ kind }) => kind === 'path').map(({ value }) => byteString(value)));
    this.#patterns = entries.filter(({ kind }) => kind === 'sregex').map(({ value }) => new PathPattern(value));
  }

  /** A directory that is ignored is not entered. @param path byte string */
  ignores(path: string): boolean {
    return this.#paths.has(path) || this.#patterns.some((pattern) => pattern.test(path));
  }
}
