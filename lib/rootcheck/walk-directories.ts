import type { BigIntStats } from 'node:fs';
import { bytesOf } from '../fim/byte-order.js';
import type { CheckContext } from './check-context.js';
import type { TreeCalls, TreeEntry } from './tree-calls.js';

/** Directories found and not yet entered: some hundred bytes each. */
const MOST_PENDING = 500_000;

/** What is done on a walk. Paths are byte strings. */
export interface TreeVisitor {
  /** @returns whether the directory is entered */
  enters(path: string, stats: BigIntStats): boolean;
  /** Told of every name in it. */
  entry(path: string, entry: TreeEntry, directory: string): Promise<void>;
  /** Told after its last name. @param subdirectories counted in it */
  leaves(path: string, stats: BigIntStats, subdirectories: number): Promise<void>;
}

/** Goes through a directory and all below, links left alone. What cannot be read is left out. */
export async function walkDirectories(
  context: CheckContext,
  calls: TreeCalls,
  root: string,
  visitor: TreeVisitor,
): Promise<void> {
  const pending = [root];
  let surplus = 0;
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    context.step();
    const stats = lstatOf(calls, path);
    if (stats?.isDirectory() !== true || !visitor.enters(path, stats)) continue;
    let subdirectories = 0;
    try {
      for (const entry of calls.entries(path)) {
        context.step();
        const below = joined(path, entry.name);
        if (isDirectory(calls, below, entry)) {
          subdirectories += 1;
          if (pending.length < MOST_PENDING) pending.push(below);
          else surplus += 1;
        }
        await visitor.entry(below, entry, path);
      }
    } catch (error) {
      if (!isSystemError(error)) throw error;
      continue;
    }
    await visitor.leaves(path, stats, subdirectories);
  }
  if (surplus > 0) context.note('warn', `'${root}' has too many directories: ${String(surplus)} were left out`);
}

/** Directories in a directory as they are listed now. @throws Error of the system */
export function countDirectories(context: CheckContext, calls: TreeCalls, path: string): number {
  let count = 0;
  for (const entry of calls.entries(path)) {
    context.step();
    if (isDirectory(calls, joined(path, entry.name), entry)) count += 1;
  }
  return count;
}

/** Undefined when there is nothing, or it may not be looked at. */
export function lstatOf(calls: TreeCalls, path: string): BigIntStats | undefined {
  try {
    return calls.lstat(bytesOf(path));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return undefined;
  }
}

/**
 * What is to be opened for a path: where its link leads. In another tree than the real one a link may lead out of it; it is
 * left alone, as is one to nowhere: it cannot be opened.
 */
export function targetOf({ settings }: CheckContext, calls: TreeCalls, path: string): string {
  if (settings.base !== '' || lstatOf(calls, path)?.isSymbolicLink() !== true) return path;
  try {
    return calls.real(path);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return path;
  }
}

/** An error with a code of the system, which may come with any file. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

function isDirectory(calls: TreeCalls, path: string, { kind }: TreeEntry): boolean {
  return kind === undefined ? lstatOf(calls, path)?.isDirectory() === true : kind === 'directory';
}

function joined(directory: string, name: string): string {
  return directory.endsWith('/') ? `${directory}${name}` : `${directory}/${name}`;
}
