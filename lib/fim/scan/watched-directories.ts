import { lstat, realpath } from 'node:fs/promises';
import { byteString } from '../../config/pattern-text.js';
import type { SyscheckDirectory } from '../../config/sections/syscheck.js';
import { hasWildcard } from '../../files/name-pattern.js';
import { PatternError } from '../../patterns/pattern-error.js';
import { bytesOf, readable } from '../byte-order.js';
import { expandVariable, type Variables } from './expand-variable.js';
import { expandWildcard, matchesAbove, WildcardError } from './expand-wildcard.js';
import { directoryTraits, type TraitDefaults, type WatchedDirectory } from './watched-directory.js';

/** Something in `<directories>` that does not work as it stands; the rest does. */
export type DirectoryProblem = { readonly path: string; readonly text: string };

/** Configured paths in byte order, and which of them a file belongs to. */
export class WatchedDirectories implements Iterable<WatchedDirectory> {
  readonly problems: readonly DirectoryProblem[];
  readonly #byPath: ReadonlyMap<string, WatchedDirectory>;
  readonly #wildcards: readonly string[];

  /** @param wildcards all that are configured, those without a match too */
  constructor(
    directories: Iterable<WatchedDirectory>,
    problems: readonly DirectoryProblem[] = [],
    wildcards: readonly string[] = [],
  ) {
    const last = new Map<string, WatchedDirectory>();
    for (const directory of directories) last.set(directory.path, directory);
    this.#byPath = new Map([...last].sort(([first], [second]) => (first < second ? -1 : 1)));
    this.problems = problems;
    this.#wildcards = wildcards;
  }

  get size(): number {
    return this.#byPath.size;
  }

  [Symbol.iterator](): Iterator<WatchedDirectory> {
    return this.#byPath.values();
  }

  /** The one configured with exactly this path. */
  at(path: string): WatchedDirectory | undefined {
    return this.#byPath.get(path);
  }

  /** The one that decides about a path: the longest that is a part of it (integrity-and-inventory.md 2.5). */
  decides(path: string): WatchedDirectory | undefined {
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
      const directory = this.#byPath.get(path.slice(0, end));
      if (directory !== undefined) return directory;
    }
    return this.#byPath.get('/');
  }

  /** Whether a wildcard names a directory that this path would lie in, be it there or not. */
  isBelowWildcard(path: string): boolean {
    return this.#wildcards.some((pattern) => matchesAbove(pattern, path));
  }
}

/**
 * Puts `<directories>` in order as the file system is now: variables, wildcards, links that are followed, duplicates
 * (integrity-and-inventory.md 2.5). To be done again before every scan.
 */
export async function watchedDirectories(
  entries: readonly SyscheckDirectory[],
  defaults: TraitDefaults,
  variables: Variables,
): Promise<WatchedDirectories> {
  const expanded: WatchedDirectory[] = [];
  const explicit: WatchedDirectory[] = [];
  const problems: DirectoryProblem[] = [];
  const wildcards: string[] = [];
  for (const { path: written, options } of entries) {
    const { paths, unknown } = expandVariable(written, variables);
    if (unknown !== undefined) {
      problems.push({ path: written, text: `(6718): Could not expand the environment variable ${unknown}.` });
    }
    try {
      const traits = directoryTraits(options, defaults);
      for (const text of paths) {
        const path = trimEnd(byteString(text));
        if (!path.startsWith('/')) {
          problems.push({ path: text, text: `'${text}' is not an absolute path and is not monitored.` });
        } else if (hasWildcard(path)) {
          wildcards.push(path);
          for (const match of await expandWildcard(path)) {
            expanded.push({ ...traits, ...(await target(match, traits.followLink)), wildcard: path });
          }
        } else {
          explicit.push({ ...traits, ...(await target(path, traits.followLink)) });
        }
      }
    } catch (error) {
      if (!(error instanceof PatternError || error instanceof WildcardError)) throw error;
      problems.push({ path: written, text: `'${readable(byteString(written))}' is not monitored: ${error.message}` });
    }
  }
  // A path that is written out counts before the same from a wildcard, wherever it stands.
  return new WatchedDirectories([...expanded, ...explicit], problems, wildcards);
}

/** Where a link in the configured path leads when it is to be followed; a link to nowhere stays what it is. */
async function target(path: string, follow: boolean): Promise<{ readonly path: string; readonly link?: string }> {
  if (!follow) return { path };
  try {
    if (!(await lstat(bytesOf(path))).isSymbolicLink()) return { path };
    return { path: (await realpath(bytesOf(path), { encoding: 'buffer' })).toString('latin1'), link: path };
  } catch {
    return { path };
  }
}

/** One `/` at the end says nothing. */
function trimEnd(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}
