import { lstat, opendir } from 'node:fs/promises';
import { hasWildcard, namePattern } from '../../files/name-pattern.js';
import { bytesOf } from '../byte-order.js';

/** Most paths that one wildcard stands for. */
const MOST_MATCHES = 10_000;
/** Most names that are compared for one wildcard. */
const MOST_NAMES = 1_000_000;

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
      const expression = namePattern(part);
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
  return namePattern(part).test(name);
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
