import { lstatSync, realpathSync, statSync } from 'node:fs';
import { posix, relative, sep } from 'node:path';
import { isErrno } from '../../lib/files/is-errno.js';
import type { Home } from '../../lib/home/home.js';
import { ApiError } from '../http/api-error.js';
import type { ErrorCode } from '../http/error-code.js';
import { ProblemError } from '../http/problem-error.js';
import { pythonText } from '../http/python-text.js';

/** Longest name of a stored file, bytes: file systems take 255, and names beside it need some for themselves. */
const MAX_NAME_BYTES = 200;
/** Characters of a name that is too long which its refusal repeats. */
const SHOWN_CHARACTERS = 40;

/** @throws ProblemError 400 for a name that no file system would take */
export function checkFileName(filename: string): void {
  if (Buffer.byteLength(filename) <= MAX_NAME_BYTES) return;
  throw ProblemError.badRequest(`${pythonText(`${filename.slice(0, SHOWN_CHARACTERS)}...`)} is too long`);
}

/** A directory as the configuration and clients may write it: without double and trailing slashes. */
export function plainDirectory(path: string): string {
  return posix.normalize(path).replace(/\/+$/, '');
}

export type DirectoryRules = {
  /** Directories of the configuration, relative to the home. */
  readonly configured: readonly string[];
  /** The shipped directory: nothing in it may be changed. */
  readonly shipped: string;
  readonly errors: { readonly notConfigured: ErrorCode; readonly shipped: ErrorCode; readonly missing: ErrorCode };
};

/**
 * Checks that files of a directory may be changed (rules-and-alerts.md 10.3 "Upload").
 * @param directory relative to the home, plain
 * @throws ApiError of the rules; 1006 when a symbolic link leads out of the home
 */
export function checkDirectory(home: Home, directory: string, rules: DirectoryRules): void {
  if (!rules.configured.includes(directory)) throw new ApiError(rules.errors.notConfigured);
  if (isWithin(directory, rules.shipped)) throw new ApiError(rules.errors.shipped);
  const real = realDirectory(home, directory);
  if (real === undefined) throw new ApiError(rules.errors.missing);
  // A link may lead from a directory of the user's into the shipped one.
  if (isWithin(real, 'ruleset')) throw new ApiError(rules.errors.shipped);
  refuseOutside(directory, real);
}

/** Checks that `etc/lists` is what it seems. @throws ApiError 1006 */
export function checkListsDirectory(home: Home, directory: string): void {
  const real = realDirectory(home, directory);
  if (real === undefined) throw new ApiError(1006, { extra: directory });
  refuseOutside(directory, real);
}

/**
 * Whether there is a file that can be replaced or deleted.
 * @throws ApiError 1006 for a link or anything else that is no regular file: nothing is written through a link
 */
export function fileExists(home: Home, path: string): boolean {
  const stats = lstatSync(home.path(path), { throwIfNoEntry: false });
  if (stats === undefined) return false;
  if (!stats.isFile()) throw new ApiError(1006, { extra: `${path} is not a regular file` });
  return true;
}

/** Where a directory really is, relative to the home; undefined when there is none. */
function realDirectory(home: Home, directory: string): string | undefined {
  const path = home.path(directory);
  try {
    if (!statSync(path).isDirectory()) return undefined;
    return relative(realpathSync(home.root), realpathSync(path));
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return undefined;
    throw error;
  }
}

function refuseOutside(directory: string, real: string): void {
  if (real !== '..' && !real.startsWith(`..${sep}`)) return;
  throw new ApiError(1006, { extra: `${directory} leads out of the installation` });
}

function isWithin(directory: string, parent: string): boolean {
  return directory === parent || directory.startsWith(`${parent}/`);
}
