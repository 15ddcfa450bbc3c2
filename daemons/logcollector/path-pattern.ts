import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Entries of one directory looked at: stops a pattern on a directory of millions from holding the daemon. */
const MAX_DIRECTORY_ENTRIES = 100_000;

/** Whether a path holds `*`, `?` or `[`. */
export function hasWildcard(path: string): boolean {
  return /[*?[]/.test(path);
}

/** A regular expression for one name of a path, with `*`, `?` and `[...]` as glob(7) has them. */
function nameMatcher(pattern: string): RegExp {
  let source = '';
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern.charAt(at);
    if (character === '*') {
      // Several stars in a row are one: a run of them would only make the match slow.
      if (pattern.charAt(at + 1) !== '*') {
        source += '[^/]*';
      }
    } else if (character === '?') {
      source += '[^/]';
    } else if (character === '[') {
      const set = readSet(pattern, at);
      source += set?.source ?? '\\[';
      at = set?.end ?? at;
    } else {
      source += character.replace(/[\\^$.+(){}|\]]/, '\\$&');
    }
  }
  return new RegExp(`^${source}$`, 's');
}

/** `[abc]`, `[!a-c]`: undefined when there is no closing bracket or the range is none; then `[` is itself. */
function readSet(pattern: string, start: number): { readonly source: string; readonly end: number } | undefined {
  const negated = /[!^]/.test(pattern.charAt(start + 1));
  const first = start + (negated ? 2 : 1);
  // A bracket right at the beginning is a member.
  const end = pattern.indexOf(']', first + 1);
  if (end < 0) {
    return undefined;
  }
  const source = `[${negated ? '^/' : ''}${pattern.slice(first, end).replace(/[\\\][^]/g, '\\$&')}]`;
  try {
    new RegExp(source);
  } catch {
    return undefined;
  }
  return { source, end };
}

/** Tells whether a path matches a pattern; names are compared one by one, so that `*` does not cross a `/`. */
export function pathMatcher(pattern: string): (path: string) => boolean {
  const names = pattern.split('/').map(nameMatcher);
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
