import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hasWildcard, namePattern } from '../../lib/files/name-pattern.js';

/** Entries of one directory looked at: stops a pattern on a directory of millions from holding the daemon. */
const MAX_DIRECTORY_ENTRIES = 100_000;

/** One name of a path. A backslash is a character like others. */
const nameMatcher = (pattern: string): ReturnType<typeof namePattern> => namePattern(pattern, false);

/** Tells whether a path matches a pattern; names are compared one by one, so that `*` does not cross a `/`. */
export function pathMatcher(pattern: string): (path: string) => boolean {
  const names = pattern.split('/').map((name) => nameMatcher(name));
  return (path) => {
    const parts = path.split('/');
    return parts.length === names.length && names.every((name, index) => name.test(parts[index] ?? ''));
  };
}

/** What a pattern stands for now. */
export type Expansion = {
  /** Sorted. Not all of them need be files. */
  readonly paths: readonly string[];
  /** Existing directories in which a new match may appear. */
  readonly directories: readonly string[];
  /** Whether there are more paths than `limit`. */
  readonly cut: boolean;
};

/**
 * Paths that match an absolute pattern. As in a shell, `*` and `?` do not match a leading dot.
 *
 * @param limit most paths given back
 */
export function expandPath(pattern: string, limit: number): Expansion {
  if (!hasWildcard(pattern)) {
    return { paths: [pattern], directories: existing([dirname(pattern)]), cut: false };
  }
  const names = pattern.split('/').slice(1);
  const directories = new Set<string>();
  let found = ['/'];
  names.forEach((name, index) => {
    const last = index === names.length - 1;
    if (!hasWildcard(name)) {
      found = found.map((directory) => join(directory, name));
      found = last ? found.filter(exists) : existing(found);
      return;
    }
    const matcher = nameMatcher(name);
    const next: string[] = [];
    for (const directory of found) {
      directories.add(directory);
      for (const entry of list(directory)) {
        if (matcher.test(entry) && (name.startsWith('.') || !entry.startsWith('.')) && next.length <= limit) {
          next.push(join(directory, entry));
        }
      }
    }
    found = last ? next : existing(next);
  });
  // A name without wildcards behind them appears in directories that are not listed.
  if (!hasWildcard(names.at(-1) ?? '')) {
    found.forEach((path) => directories.add(dirname(path)));
  }
  return { paths: found.slice(0, limit).sort(), directories: [...directories], cut: found.length > limit };
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory).slice(0, MAX_DIRECTORY_ENTRIES);
  } catch {
    return [];
  }
}

function existing(paths: readonly string[]): string[] {
  return paths.filter((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false);
}

function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
