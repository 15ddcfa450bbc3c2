import { accessSync, constants, lstatSync, type Stats, statSync } from 'node:fs';
import type { Home } from '../../../../lib/home/home.js';
import { describeError } from '../../../../lib/log/describe-error.js';

/** Where programs lie, relative to the home. */
const PROGRAM_DIRECTORY = 'integrations';
const OTHERS_WRITE = 0o022;

/**
 * Why the program of an integration cannot be run; undefined when it can. It must be root's, this user's, or the owner's of the
 * home, and nobody else may write to it: what lies there is run. A link could lead anywhere and is none.
 */
export function programProblem(home: Home, name: string): string | undefined {
  const file = `${PROGRAM_DIRECTORY}/${name}`;
  const stats = lstatSync(home.path(PROGRAM_DIRECTORY, name), { throwIfNoEntry: false });
  if (stats === undefined) return "File not found inside 'integrations'.";
  const why = distrust(home, stats) ?? distrust(home, lstatSync(home.path(PROGRAM_DIRECTORY)), 'directory');
  if (why !== undefined) return `'${file}' ${why}.`;
  try {
    accessSync(programPath(home, name), constants.X_OK);
    return undefined;
  } catch (error) {
    return `${describeError(error)}.`;
  }
}

/** Path of the program of an integration. */
export function programPath(home: Home, name: string): string {
  return home.path(PROGRAM_DIRECTORY, name);
}

function distrust(home: Home, stats: Stats, kind: 'file' | 'directory' = 'file'): string | undefined {
  if (stats.isSymbolicLink()) return 'is a link';
  if (kind === 'file' ? !stats.isFile() : !stats.isDirectory()) return 'is not a regular file';
  const trusted = [0, process.geteuid?.() ?? 0, statSync(home.root).uid];
  const where = kind === 'file' ? '' : 'lies in a directory that ';
  if (!trusted.includes(stats.uid)) return `${where}belongs to user ${String(stats.uid)}`;
  if ((stats.mode & OTHERS_WRITE) !== 0) return `${where}can be written by others (chmod go-w)`;
  return undefined;
}
