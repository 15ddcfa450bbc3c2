import { accessSync, constants, lstatSync, type Stats, statSync } from 'node:fs';
import type { Home } from '../../lib/home/home.js';
import { checkTrustedDirectory } from '../../lib/home/trusted-file.js';
import { describeError } from '../../lib/log/describe-error.js';
import { isScriptName } from './response-commands.js';

/** Where responses lie, relative to the home. */
const RESPONSE_DIRECTORY = 'active-response/bin';

const OTHERS_WRITE = 0o022;

/** A program that can be run: its path from the home, as it is called. */
export type FoundProgram = { readonly program: string };
/** Why none can. */
export type NoProgram = { readonly problem: string };

/**
 * The first of some files of active-response/bin that is there. It is run with all rights of this process, so it and the
 * directories on the way must be this user's, root's or the owner's of the home, and nobody else may write to them. A link
 * could lead anywhere and is none.
 */
export function findProgram(home: Home, executables: readonly string[]): FoundProgram | NoProgram {
  let problem: string | undefined;
  for (const name of executables) {
    const found = lookAt(home, name);
    if (found === undefined) continue;
    if ('program' in found) return found;
    problem ??= found.problem;
  }
  return { problem: problem ?? `${RESPONSE_DIRECTORY} has no '${executables.join("', '")}'` };
}

/** @returns undefined when there is nothing of that name */
function lookAt(home: Home, name: string): FoundProgram | NoProgram | undefined {
  if (!isScriptName(name)) return { problem: `'${name}' is no name of a file` };
  const program = `${RESPONSE_DIRECTORY}/${name}`;
  const path = home.path(program);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  try {
    const problem = distrust(home, stats);
    if (problem !== undefined) return { problem: `'${program}' ${problem}` };
    checkTrustedDirectory(home, RESPONSE_DIRECTORY);
    accessSync(path, constants.X_OK);
    return { program };
  } catch (error) {
    return { problem: describeError(error) };
  }
}

function distrust(home: Home, stats: Stats): string | undefined {
  if (stats.isSymbolicLink()) return 'is a link';
  if (!stats.isFile()) return 'is not a regular file';
  const trusted = [0, process.geteuid?.() ?? 0, statSync(home.root).uid];
  if (!trusted.includes(stats.uid)) return `belongs to user ${String(stats.uid)}`;
  if ((stats.mode & OTHERS_WRITE) !== 0) return 'can be written by others (chmod go-w)';
  return undefined;
}
