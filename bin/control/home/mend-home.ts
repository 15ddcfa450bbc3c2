import { closeSync, fchmodSync, fchownSync, fstatSync, lstatSync, readFileSync } from 'node:fs';
import { isErrno } from '../../../lib/files/is-errno.js';
import { isOnlyName } from '../../../lib/files/open-own-file.js';
import { openRealDirectory } from '../../../lib/files/open-real-directory.js';
import { NotRegularFileError, openRegularFileSync } from '../../../lib/files/regular-file.js';
import { writeFileAtomically } from '../../../lib/files/write-file-atomically.js';
import type { Home } from '../../../lib/home/home.js';
import { HomeError } from '../../../lib/home/home-record.js';
import type { LayoutOwner } from './home-layout.js';

const PERMISSIONS = 0o7777;

/** No file of the layout comes near it: one that does was made to fill root's memory. */
const MAX_FILE_BYTES = 64 * 1024 ** 2;

/** What owns an entry; `gid` undefined keeps its group. */
export type MendOwner = { readonly uid: number; readonly gid: number | undefined };

/** A directory or file of the layout. */
export type MendEntry = { readonly path: string; readonly owner: LayoutOwner; readonly mode: number };

/**
 * Gives an entry of an installed home the owner the layout names. A directory gets its mode, too; of a file a stricter one
 * stays. Homes of earlier versions had files that root obeys in the hands of the service user: such a file is replaced by a
 * copy, for whoever has the old one open could go on writing to it. Works on a descriptor opened without links; a file with a
 * second name could be anybody's and is refused.
 * @returns whether something changed; false for an entry that is not there
 * @throws HomeError for a link or another kind of entry, or the file system's error
 */
export function mendEntry(home: Home, entry: MendEntry, owner: MendOwner, kind: 'directory' | 'file'): boolean {
  const path = home.path(entry.path);
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false;
  const fd = openEntry(path, kind);
  try {
    const stats = fstatSync(fd);
    if (kind === 'file' && (!isOnlyName(path, stats) || stats.size > MAX_FILE_BYTES)) {
      throw new HomeError(`'${path}' is no regular file with one name: remove it and try again`);
    }
    const mode = kind === 'directory' ? entry.mode : stats.mode & PERMISSIONS & entry.mode;
    const { uid, gid = stats.gid } = owner;
    if (stats.uid === uid && stats.gid === gid && (stats.mode & PERMISSIONS) === mode) return false;
    if (kind === 'file') {
      writeFileAtomically(path, readFileSync(fd), { mode, owner: { uid, gid }, durable: true });
    } else {
      fchownSync(fd, uid, gid);
      fchmodSync(fd, mode);
    }
    return true;
  } finally {
    closeSync(fd);
  }
}

function openEntry(path: string, kind: 'directory' | 'file'): number {
  try {
    return kind === 'directory' ? openRealDirectory(path) : openRegularFileSync(path).fd;
  } catch (error) {
    if (!(error instanceof NotRegularFileError || isErrno(error, 'ELOOP', 'ENOTDIR'))) throw error;
    throw new HomeError(`'${path}' is no ${kind === 'file' ? 'regular file' : 'directory'}: remove it and try again`);
  }
}
