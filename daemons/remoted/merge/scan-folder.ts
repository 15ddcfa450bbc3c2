import { hash } from 'node:crypto';
import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { isSafeSharedName } from '../../../lib/agentlink/merged-file.js';
import { isErrno } from '../../../lib/files/is-errno.js';
import type { Breather } from './breather.js';
import { MAX_GROUP_ENTRIES, MAX_SHARED_PATH_CHARS } from './shared-limits.js';
import { compareSharedNames, isNeverShared, sharedPath } from './shared-names.js';
import type { SharedProblem } from './shared-problem.js';

/** A file as a scan saw it. */
export type ScannedFile = {
  /** Relative to the folder of the group. */
  readonly name: string;
  readonly size: number;
  readonly stamp: string;
};

/** A folder as a scan saw it. */
export type FolderScan = {
  /** What may be shared, in the order of a merged file. */
  readonly files: readonly ScannedFile[];
  /** The folder itself and those in it, by their path; the identity tells one from another made in its place. */
  readonly folders: ReadonlyMap<string, string>;
  /** The same as long as nothing in it changes. */
  readonly signature: string;
  /** Newest change, epoch milliseconds. */
  readonly changedAt: number;
  readonly problems: readonly SharedProblem[];
};

/** More in one group than can be shared. */
export class TooManyFilesError extends Error {
  override readonly name = 'TooManyFilesError';
}

/** A link or file was put in the place of a folder. */
class NotAFolderError extends Error {
  override readonly name = 'NotAFolderError';
}

/** Tells a file from what it was before. */
export function stampOf({ ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${String(ino)} ${String(size)} ${String(mtimeMs)} ${String(ctimeMs)}`;
}

/**
 * Lists what a group shares (agents-and-groups.md 6.4). Symbolic links are not followed, wherever they lead.
 * @param path folder of the group, absolute
 * @throws the file system's error for a folder that cannot be read; TooManyFilesError
 */
export async function scanFolder(group: string, path: string, breather: Breather): Promise<FolderScan> {
  const files: ScannedFile[] = [];
  const folders = new Map<string, string>();
  const problems: SharedProblem[] = [];
  const seen: string[] = [];
  let changedAt = 0;
  let entries = 0;
  const shownFolder = sharedPath(group, '');
  const problem = (name: string, level: SharedProblem['level'], text: (shown: string) => string): void => {
    const shown = shownFolder + name;
    problems.push({ path: shown, level, text: text(printable(shown)) });
  };

  const visit = async (below: string): Promise<void> => {
    const folder = below === '' ? path : join(path, below);
    const stats = lstatSync(folder);
    if (!stats.isDirectory()) throw new NotAFolderError(`${folder} is no folder any more`);
    const { ino, dev } = stats;
    folders.set(folder, `${String(dev)} ${String(ino)}`);
    for (const entry of readdirSync(folder)) {
      if (isNeverShared(entry)) continue;
      if (++entries > MAX_GROUP_ENTRIES) {
        throw new TooManyFilesError(`${sharedPath(group)} has more than ${String(MAX_GROUP_ENTRIES)} files`);
      }
      const name = below === '' ? entry : `${below}/${entry}`;
      if (breather.isTired) await breather.breathe();
      const stats = lstatSync(`${folder}/${entry}`, { throwIfNoEntry: false });
      const kind = stats === undefined ? 'gone' : kindOf(stats);
      if (stats === undefined || kind === 'folder') seen.push(`${name}\n${kind}`);
      else seen.push(`${name}\n${kind} ${stampOf(stats)}`);
      if (shownFolder.length + name.length > MAX_SHARED_PATH_CHARS) {
        problem(name, 'warn', (shown) => `Path too long '${shown}'`);
      } else if (!isSafeSharedName(name) || name.includes('\uFFFD')) {
        problem(name, 'error', (shown) => `Invalid name of a shared file '${shown}': agents refuse it. Ignoring it.`);
      } else if (kind === 'folder') {
        await visitThere(name);
      } else if (stats !== undefined && kind === 'file') {
        changedAt = Math.max(changedAt, stats.ctimeMs);
        files.push({ name, size: stats.size, stamp: stampOf(stats) });
      } else if (kind === 'link') {
        problem(name, 'warn', (shown) => `'${shown}' is a symbolic link, which is not followed. Ignoring it.`);
      } else if (kind === 'other') {
        problem(name, 'warn', (shown) => `'${shown}' is not a regular file. Ignoring it.`);
      }
    }
  };
  /** A folder that goes away while it is looked at is none; the change will be seen. */
  const visitThere = async (name: string): Promise<void> => {
    try {
      await visit(name);
    } catch (error) {
      if (!(error instanceof NotAFolderError) && !isErrno(error, 'ENOENT')) throw error;
      seen.push(`${name}\ngone`);
    }
  };

  await visit('');
  files.sort((a, b) => compareSharedNames(a.name, b.name));
  return { files, folders, changedAt, problems, signature: hash('md5', seen.sort().join('\n'), 'base64') };
}

function kindOf(stats: Stats): 'file' | 'folder' | 'link' | 'other' {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'folder';
  return stats.isSymbolicLink() ? 'link' : 'other';
}

/** A name with control characters must not make lines of its own in the log. */
function printable(path: string): string {
  return path.replace(/[\u0000-\u001f\u007f]/g, (character) => JSON.stringify(character).slice(1, -1));
}
