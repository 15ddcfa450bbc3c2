import { existsSync } from 'node:fs';
import { RbacStoreError } from '../rbac/rbac-store-error.js';
import { countObjects } from '../rbac/security-backup.js';
import { readCopy } from './security-copy.js';
import type { SecurityFiles } from './security-files.js';

/** Whether a store cannot be used as it is, whoever tries again. */
export function isUnusable(error: unknown): error is RbacStoreError {
  return error instanceof RbacStoreError && ['damaged', 'too_new', 'new'].includes(error.reason);
}

/**
 * Keeps a start from making first users where there were others: their store is gone or empty, and nobody must get in with
 * a first password instead.
 * @throws RbacStoreError `new`
 */
export function refuseToBeginAnew(files: SecurityFiles): void {
  if (!hadUsers(files)) return;
  const text = 'Error while attempting to check RBAC database integrity';
  throw new RbacStoreError('new', `2012 - ${text}: ${files.store}: it has no users, and had some`);
}

function hadUsers({ copy, unfinishedStore }: SecurityFiles): boolean {
  return existsSync(copy) || existsSync(unfinishedStore);
}

/**
 * The error of a store that cannot be used, with what to do. Nobody is let in meanwhile.
 * @param error another keeps its own words
 */
export function withAdvice(error: unknown, files: SecurityFiles): unknown {
  // One that never had users lacks nothing.
  if (!isUnusable(error) || (error.reason === 'new' && !hadUsers(files))) return error;
  const places = [files.store, files.copy, files.unfinishedStore].filter((path) => existsSync(path));
  const anew = `To begin anew with the first users instead, move away: ${places.join(', ')}.`;
  return new RbacStoreError(error.reason, `${error.message}. ${advice(error, files.copy)} ${anew}`, { cause: error });
}

function advice({ reason }: RbacStoreError, path: string): string {
  if (reason === 'too_new') return 'Nobody can log in until the newer program runs again, or a backup is restored.';
  const copy = readCopy(path);
  const without = 'Nobody can log in until a backup is restored: svc-control restore-security FILE.';
  if (copy === undefined) return `${without} There is no automatic copy.`;
  if (typeof copy === 'string') return `${without} The automatic copy ${path} cannot be used: ${copy}.`;
  const { users, roles } = countObjects(copy.objects);
  return (
    `Nobody can log in until it is restored. The automatic copy of ${copy.made} (${users} users, ${roles} roles) comes back ` +
    `with: svc-control restore-security ${path}.`
  );
}
