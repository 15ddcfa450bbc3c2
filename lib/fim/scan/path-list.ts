import { byteString } from '../../config/pattern-text.js';
import type { PathOrPattern } from '../../config/sections/syscheck.js';
import { compilePattern } from '../../patterns/compile-pattern.js';
import { foldAscii } from '../../patterns/fold-ascii.js';
import { MatchContext, type Matcher } from '../../patterns/matcher.js';
import { expandVariable, type Variables } from './expand-variable.js';

/** A simple pattern (`type="sregex"`, `restrict`) tried on paths. */
export class PathPattern {
  readonly #matcher: Matcher;
  readonly #context = new MatchContext();

  /** @param source as written @throws PatternError */
  constructor(source: string) {
    this.#matcher = compilePattern('osmatch', byteString(source));
  }

  /** As written, a byte string. */
  get source(): string {
    return this.#matcher.source;
  }

  get negated(): boolean {
    return this.source.startsWith('!');
  }

  /** @param path byte string */
  test(path: string): boolean {
    return this.#matcher.test(path, this.#context);
  }
}

/** What is not watched: `<ignore>` (integrity-and-inventory.md 2.5). */
export class IgnoreList {
  readonly #prefixes: readonly string[];
  readonly #patterns: readonly PathPattern[];

  /** @throws PatternError */
  constructor(entries: readonly PathOrPattern[], variables: Variables) {
    this.#prefixes = plainPaths(entries, variables).map((path) => foldAscii(path));
    this.#patterns = patternsOf(entries);
  }

  /**
   * A plain entry is compared with the beginning of the path without regard to case, and without regard to where a name
   * ends: `/etc/mtab` also leaves out `/etc/mtab.bak`.
   * @param path byte string
   * @param directory a negated pattern does not leave out a directory: what it means may lie inside
   */
  ignores(path: string, directory: boolean): boolean {
    if (this.#prefixes.length > 0) {
      const folded = foldAscii(path);
      if (this.#prefixes.some((prefix) => folded.startsWith(prefix))) return true;
    }
    return this.#patterns.some((pattern) => !(directory && pattern.negated) && pattern.test(path));
  }
}

/** Files whose changes are not shown: `<nodiff>` (integrity-and-inventory.md 2.5). */
export class NodiffList {
  readonly #paths: ReadonlySet<string>;
  readonly #patterns: readonly PathPattern[];

  /** @throws PatternError */
  constructor(entries: readonly PathOrPattern[], variables: Variables) {
    this.#paths = new Set(plainPaths(entries, variables));
    this.#patterns = patternsOf(entries);
  }

  /** A plain entry is the whole path, case included. @param path byte string */
  includes(path: string): boolean {
    return this.#paths.has(path) || this.#patterns.some((pattern) => pattern.test(path));
  }
}

function plainPaths(entries: readonly PathOrPattern[], variables: Variables): string[] {
  return entries
    .filter(({ kind, value }) => kind === 'path' && value !== '')
    .flatMap(({ value }) => expandVariable(value, variables).paths.map(byteString));
}

function patternsOf(entries: readonly PathOrPattern[]): PathPattern[] {
  return entries.filter(({ kind }) => kind === 'sregex').map(({ value }) => new PathPattern(value));
}
