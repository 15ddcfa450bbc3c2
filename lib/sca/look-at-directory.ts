import { isErrno } from '../files/is-errno.js';
import { bytesOf, readable } from '../fim/byte-order.js';
import type { Matcher } from '../patterns/matcher.js';
import { SYSTEM_TREE, type TreeCalls } from '../rootcheck/tree-calls.js';
import { FOUND, invalid, NOT_FOUND, type Outcome } from './finding.js';
import type { LinePattern } from './line-pattern.js';
import { fileExists, fileMatches, type LookBudget } from './look-at-file.js';
import { MOST_DEPTH, MOST_ENTRIES } from './look-limits.js';
import { isSystemError, systemReason } from './system-reason.js';

/** Magic numbers of NFS, CIFS and SMB2, which `skip_nfs` means. */
const NETWORK_FILE_SYSTEMS: ReadonlySet<number> = new Set([0x6969, 0xff534d42, 0xfe534d42]);

/** Whether there is a directory, links resolved. @param path byte string */
export function directoryExists(path: string): Outcome {
  try {
    const stats = SYSTEM_TREE.lstat(bytesOf(SYSTEM_TREE.real(path)));
    return stats?.isDirectory() === true ? FOUND : NOT_FOUND;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return NOT_FOUND;
    return invalid(`Could not resolve the real path of '${readable(path)}': ${systemReason(error)}`);
  }
}

/** System calls of a walk. */
type WalkCalls = Pick<TreeCalls, 'real' | 'fileSystem' | 'entries' | 'lstat'>;

export type DirectoryLook = {
  /** Of files, in the directory and below. */
  readonly names: Matcher;
  /** Of their lines; without it a file is enough. */
  readonly pattern: LinePattern | undefined;
  readonly skipNfs: boolean;
};

/**
 * Whether there is such a file in a directory or below. Links to directories are not followed, but for the directory itself; a
 * directory is never the file that is looked for, whatever its name.
 * @param path byte string
 */
export function directoryHas(
  path: string,
  look: DirectoryLook,
  budget: LookBudget,
  calls: WalkCalls = SYSTEM_TREE,
): Outcome {
  const walk = new DirectoryWalk(look, budget, calls);
  try {
    walk.walk(calls.real(path), path);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return couldNotOpen(path, error);
  }
  return walk.result;
}

class DirectoryWalk {
  result = NOT_FOUND;
  readonly #look: DirectoryLook;
  readonly #budget: LookBudget;
  readonly #calls: WalkCalls;
  #entriesLeft = MOST_ENTRIES;

  constructor(look: DirectoryLook, budget: LookBudget, calls: WalkCalls) {
    this.#look = look;
    this.#budget = budget;
    this.#calls = calls;
  }

  /** @param real where it is read @param shown how messages call it */
  walk(real: string, shown: string): void {
    const pending = [{ real, shown, depth: 0 }];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      try {
        if (this.#look.skipNfs && NETWORK_FILE_SYSTEMS.has(this.#calls.fileSystem(next.real))) {
          this.#note(invalid(`Directory '${readable(next.shown)}' flagged as NFS and skip_nfs is enabled`));
          continue;
        }
        const below = this.#directory(next);
        if (below === undefined) return;
        pending.push(...below);
      } catch (error) {
        if (!isSystemError(error)) throw error;
        // One below may have gone since it was listed.
        if (next.depth > 0 && isErrno(error, 'ENOENT')) continue;
        this.#note(couldNotOpen(next.shown, error));
      }
    }
  }

  /** @returns directories in it; undefined when nothing more is to be looked at */
  #directory({ real, shown, depth }: { readonly real: string; readonly shown: string; readonly depth: number }) {
    const below: { real: string; shown: string; depth: number }[] = [];
    for (const { name, kind } of this.#calls.entries(real)) {
      this.#entriesLeft -= 1;
      if (this.#entriesLeft < 0) {
        this.#note(invalid(`More than ${String(MOST_ENTRIES)} names below '${readable(shown)}'`));
        return undefined;
      }
      const entry = { real: joined(real, name), shown: joined(shown, name), depth: depth + 1 };
      if (this.#isDirectory(entry.real, kind)) {
        if (entry.depth <= MOST_DEPTH) below.push(entry);
        else this.#note(invalid(`'${readable(entry.shown)}' is too deep`));
        continue;
      }
      this.#note(this.#file(entry.real, name));
      if (this.result.finding === 'found') return undefined;
    }
    return below;
  }

  #file(path: string, name: string): Outcome {
    const { names, pattern } = this.#look;
    const matches = this.#budget.steps.test(names, name);
    if (matches === undefined) return invalid('A regex took too many steps on the name of a file');
    if (!matches) return NOT_FOUND;
    return pattern === undefined ? fileExists(path) : fileMatches(path, pattern, this.#budget);
  }

  #isDirectory(path: string, kind: string | undefined): boolean {
    return kind === undefined ? this.#calls.lstat(bytesOf(path))?.isDirectory() === true : kind === 'directory';
  }

  #note(outcome: Outcome): void {
    if (outcome.finding === 'found' || this.result.finding === 'not-found') this.result = outcome;
  }
}

function joined(directory: string, name: string): string {
  return directory.endsWith('/') ? `${directory}${name}` : `${directory}/${name}`;
}

function couldNotOpen(path: string, error: NodeJS.ErrnoException): Outcome {
  return invalid(`Could not open '${readable(path)}': ${systemReason(error)}`);
}
