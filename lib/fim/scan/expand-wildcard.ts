import { lstat, opendir } from 'node:fs/promises';
import { bytesOf } from '../byte-order.js';

/** Most paths that one wildcard stands for. */
const MOST_MATCHES = 10_000;
/** Most names that are compared for one wildcard. */
const MOST_NAMES = 1_000_000;

/** Whether a path has a wildcard (integrity-and-inventory.md 2.5). */
export function hasWildcard(path: string): boolean {
  return /[*?[]/.test(path);
}

/** A wildcard that stands for too much. */
export class WildcardError extends Error {
  override readonly name = 'WildcardError';
  readonly code = 'too_many_matches';
}

/**
 * Paths that a wildcard stands for now, in byte order (glob(3): `*`, `?` and `[...]` within a name, and a leading dot is
 * matched by a dot alone). What cannot be read has no matches.
 * @param pattern absolute, byte string
 * @throws WildcardError
 */
export async function expandWildcard(pattern: string): Promise<string[]> {
  let paths = [''];
  let budget = MOST_NAMES;
  for (const part of pattern.split('/').slice(1)) {
    const next: string[] = [];
    for (const path of paths) {
      if (!hasWildcard(part)) {
        // A backslash only takes away a meaning.
        const plain = `${path}/${part.replace(/\\(.)/gs, '$1')}`;
        if (await exists(plain)) next.push(plain);
        continue;
      }
      const expression = nameExpression(part);
      for await (const name of namesIn(path === '' ? '/' : path)) {
        if ((budget -= 1) < 0) throw new WildcardError(`'${pattern}' looks at too many names`);
        if (name.startsWith('.') && !part.startsWith('.')) continue;
        if (expression.test(name)) next.push(`${path}/${name}`);
        if (next.length > MOST_MATCHES) throw new WildcardError(`'${pattern}' has more than ${MOST_MATCHES} matches`);
      }
    }
    paths = next;
  }
  return paths.sort((first, second) => (first < second ? -1 : 1));
}

/** Whether a wildcard stands for this path or for one above it. @param pattern absolute, byte string */
export function matchesAbove(pattern: string, path: string): boolean {
  const names = path.split('/');
  const parts = pattern.split('/');
  return parts.length <= names.length && parts.every((part, at) => matchesName(part, names[at] ?? ''));
}

function matchesName(part: string, name: string): boolean {
  if (hasWildcard(part) && name.startsWith('.') && !part.startsWith('.')) return false;
  return nameExpression(part).test(name);
}

/** One name of a wildcard as an expression that takes no longer than name and wildcard are long, times each other. */
export function nameExpression(part: string): { test(name: string): boolean } {
  const pieces: ('*' | ((code: number) => boolean))[] = [];
  for (let at = 0; at < part.length;) {
    const char = part.charAt(at);
    const set = char === '[' ? readSet(part, at) : undefined;
    if (char === '*') {
      if (pieces.at(-1) !== '*') pieces.push('*');
      at += 1;
    } else if (char === '?') {
      pieces.push(() => true);
      at += 1;
    } else if (set !== undefined) {
      pieces.push(set.has);
      at = set.next;
    } else {
      const escaped = char === '\\' && at + 1 < part.length;
      const code = part.charCodeAt(escaped ? at + 1 : at);
      pieces.push((other) => other === code);
      at += escaped ? 2 : 1;
    }
  }
  return { test: (name) => matches(pieces, name) };
}

/** Goes back to the last `*` alone: an earlier one never has to take more. */
function matches(pieces: readonly ('*' | ((code: number) => boolean))[], name: string): boolean {
  let piece = 0;
  let at = 0;
  let star = -1;
  let mark = 0;
  while (at < name.length) {
    const current = pieces[piece];
    if (current === '*') {
      star = piece++;
      mark = at;
    } else if (current?.(name.charCodeAt(at)) === true) {
      piece += 1;
      at += 1;
    } else if (star >= 0) {
      piece = star + 1;
      at = ++mark;
    } else {
      return false;
    }
  }
  while (pieces[piece] === '*') piece += 1;
  return piece === pieces.length;
}

/** `[abc]`, `[a-z]`, `[!...]`, `[^...]`; a `]` in the first place is meant as such. Undefined without an end. */
function readSet(
  part: string,
  start: number,
): { readonly has: (code: number) => boolean; readonly next: number } | undefined {
  let at = start + 1;
  const negated = part.charAt(at) === '!' || part.charAt(at) === '^';
  if (negated) at += 1;
  const end = part.indexOf(']', at + 1);
  if (end < 0) return undefined;
  const ranges: [number, number][] = [];
  while (at < end) {
    const low = part.charCodeAt(at);
    if (part.charAt(at + 1) === '-' && at + 2 < end) {
      ranges.push([low, part.charCodeAt(at + 2)]);
      at += 3;
    } else {
      ranges.push([low, low]);
      at += 1;
    }
  }
  return { has: (code) => ranges.some(([low, high]) => code >= low && code <= high) !== negated, next: end + 1 };
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(bytesOf(path));
    return true;
  } catch {
    return false;
  }
}

async function* namesIn(path: string): AsyncGenerator<string> {
  try {
    for await (const { name } of await opendir(bytesOf(path), { encoding: 'latin1', bufferSize: 1024 })) yield name;
  } catch (error) {
    if (error instanceof WildcardError) throw error;
  }
}
