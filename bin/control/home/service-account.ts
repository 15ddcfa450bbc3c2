import { execFileSync } from 'node:child_process';
import { HomeError } from '../../../lib/home/home-record.js';

/** The user and group that own an installed home. */
export type ServiceAccount = {
  readonly user: string;
  readonly group: string;
  readonly uid: number;
  readonly gid: number;
};

/** Names that useradd and systemd accept, and nothing that could be taken for an option or a path. */
const NAME = /^[a-z_][a-z0-9_-]{0,30}$/;

/**
 * Looks a user up in the host's user database, whatever it is made of.
 * @param group the user's primary group when not given
 * @throws HomeError when user or group do not exist
 */
export function findServiceAccount(user: string, group?: string): ServiceAccount {
  checkAccountName(user);
  const uid = Number(id(['-u', user], `user '${user}' does not exist`));
  if (group === undefined) {
    const gid = Number(id(['-g', user], `user '${user}' does not exist`));
    return { user, group: id(['-gn', user], `group ${gid} does not exist`), uid, gid };
  }
  checkAccountName(group);
  const entry = run('getent', ['group', group]);
  const gid = Number(entry?.split(':')[2]);
  if (entry === undefined || !Number.isSafeInteger(gid)) throw new HomeError(`group '${group}' does not exist`);
  return { user, group, uid, gid };
}

/** Whether the host knows this user. */
export function userExists(user: string): boolean {
  return run('id', ['-u', user]) !== undefined;
}

/** @throws HomeError when a user or group name is not one that hosts accept */
export function checkAccountName(name: string): void {
  if (!NAME.test(name)) throw new HomeError(`'${name}' is not a name for a user or group`);
}

function id(args: string[], failure: string): string {
  const output = run('id', args);
  if (output === undefined || output === '') throw new HomeError(failure);
  return output;
}

function run(command: string, args: string[]): string | undefined {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}
