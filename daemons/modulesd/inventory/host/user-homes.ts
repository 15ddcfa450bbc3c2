import { statSync } from 'node:fs';
import type { Accounts } from '../system/accounts.js';
import type { HostFiles } from './host-files.js';
import { type PlaceLimits, UserFiles } from './user-files.js';

/** Ids of people, beside root: those between have no browsers. */
const FIRST_USER = 1000;
const NOBODY = 65_534;
/** Of one home: who owns it may fill it with anything. */
const HOME_LIMITS: PlaceLimits = { files: 5000, bytes: 64 * 1024 * 1024, names: 100_000 };
/** File systems whose server, or program, may not answer: a thread of this process would hang in them. */
const REMOTE = /^(?:nfs|cifs|smb|afs|ceph|gluster|lustre|9p|fuse|autofs|davfs|ocfs|gfs|coda|ncp|virtiofs)/;

/** A home that is looked into. */
export type UserHome = {
  readonly user: string;
  readonly uid: number;
  readonly path: string;
  readonly files: UserFiles;
};

/** Homes of root and of people, each once, without those on the network: they are noted. */
export function userHomes(files: HostFiles, { users }: Pick<Accounts, 'users'>): UserHome[] {
  const remote = remoteMounts(files.text('/proc/self/mounts'));
  const seen = new Set<string>();
  return users.flatMap(({ name, uid, home }) => {
    const isPerson = uid === 0 || (uid >= FIRST_USER && uid !== NOBODY);
    const path = home.replace(/\/+$/, '');
    if (!isPerson || !path.startsWith('/') || path.split('/').includes('..') || seen.has(path)) return [];
    seen.add(path);
    if (remote.some((mount) => isBelow(path, mount) || isBelow(mount, path))) {
      files.notes.add('unreadable', `${path} (a file system of the network or of a program)`);
      return [];
    }
    if (!isDirectory(files.at(path))) return [];
    return [{ user: name, uid, path, files: new UserFiles(files.at(path), files.notes, HOME_LIMITS) }];
  });
}

/** Where file systems of the network, and those of programs, are mounted. @param mounts text of `/proc/self/mounts` */
function remoteMounts(mounts: string): string[] {
  return mounts.split('\n').flatMap((line) => {
    const [, place = '', type = ''] = line.split(' ');
    // fusectl is the kernel's own.
    if (!REMOTE.test(type) || type === 'fusectl' || type === 'fuseblk') return [];
    return [place.replace(/\\([0-7]{3})/g, (_all, code: string) => String.fromCharCode(Number.parseInt(code, 8)))];
  });
}

function isBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`);
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
