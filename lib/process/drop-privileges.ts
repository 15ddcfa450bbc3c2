import { userInfo } from 'node:os';
import { HomeError, type HomeRecord } from '../home/home-record.js';
import type { DaemonName } from '../product/daemon-names.js';

/** Daemons that need root: they read every file of the host or act on it (architecture.md 4 "Privileges"). */
export const ROOT_DAEMONS: ReadonlySet<DaemonName> = new Set([
  'svc-execd',
  'svc-logcollector',
  'svc-syscheckd',
  'svc-modulesd',
]);

/** Whether a daemon runs as root in an installed home. */
export function needsRoot(daemon: DaemonName): boolean {
  return ROOT_DAEMONS.has(daemon);
}

/** User and group asked for on the command line (`-u`, `-g`). */
export type RunAs = { readonly user: string | undefined; readonly group: string | undefined };

/**
 * Gives up root where the home names a service user: most daemons become that user, those that need root keep it and
 * take the service group. A home without a user runs everything as whoever starts it. Supplementary groups of root are
 * given up in every case.
 * @throws HomeError when the process is neither root nor the home's user
 */
export function dropPrivileges(daemon: DaemonName, record: HomeRecord, runAs: RunAs): void {
  if (process.geteuid?.() !== 0) {
    if (record.user !== undefined && currentUser() !== record.user) {
      throw new HomeError(`this home belongs to user '${record.user}': start ${daemon} as root or as that user`);
    }
    if (runAs.user !== undefined && currentUser() !== runAs.user) {
      throw new HomeError(`only root can run ${daemon} as another user ('${runAs.user}')`);
    }
    return;
  }
  const user = runAs.user ?? (ROOT_DAEMONS.has(daemon) ? undefined : record.user);
  const group = runAs.group ?? record.group ?? user;
  try {
    if (group !== undefined) {
      process.setgroups?.([group]);
      process.setgid?.(group);
    }
    if (user !== undefined) {
      // Missing in the type definitions, there in every Node on POSIX: the user's own supplementary groups.
      const { initgroups } = process as { initgroups?: (user: string, group: string) => void };
      if (group !== undefined) initgroups?.(user, group);
      process.setuid?.(user);
    }
  } catch (error) {
    throw new HomeError(`cannot run as ${user ?? 'root'}:${group ?? ''}: ${(error as Error).message}`);
  }
}

/**
 * Has a tool that works on files of the service user work as that user when root starts it: in directories of another user
 * root could be led anywhere. Other users than root, and homes without a service user, stay as they are.
 * @throws HomeError
 */
export function becomeServiceUser(record: HomeRecord): void {
  if (process.geteuid?.() !== 0 || record.user === undefined) return;
  dropPrivileges('svc-db', record, { user: undefined, group: undefined });
}

function currentUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A user without an entry (a container started with a bare uid).
    return String(process.getuid?.() ?? '');
  }
}
