import { lstatSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncDirectoryNow } from '../../lib/files/sync-directory.js';
import { writeFileAtomically } from '../../lib/files/write-file-atomically.js';

/** Permissions of a file that was not there before; an existing one keeps its own. */
const NEW_FILE_MODE = 0o660;

/** Permission bits and owner of a file. */
export type ModeAndOwner = { readonly mode: number; readonly uid: number; readonly gid: number };

/** Attributes of a file, undefined when there is none. @throws Error when it is something else, a link for example */
export function attributesOf(path: string): ModeAndOwner | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (!stats.isFile()) throw new Error(`${path} is not a regular file`);
  return { mode: stats.mode & 0o777, uid: stats.uid, gid: stats.gid };
}

/**
 * Writes a file as a whole, so that it survives a power cut. One that was there keeps its permissions and, when this
 * process is root, its owner; a new one belongs to the owner of its directory then.
 * @param previous attributes of the file that is replaced
 * @throws the file system's error; the file is then unchanged
 */
export function putFile(path: string, content: Buffer, previous: ModeAndOwner | undefined): void {
  const { uid, gid } = previous ?? lstatSync(dirname(path));
  writeFileAtomically(path, content, {
    mode: previous?.mode ?? NEW_FILE_MODE,
    // Only root may give files away; whoever else writes here is the service user.
    ...(process.geteuid?.() === 0 ? { owner: { uid, gid } } : {}),
    durable: true,
  });
  syncDirectoryNow(dirname(path));
}

/** Removes a file, or a link, for good; none there is fine. @throws the file system's error */
export function removeFile(path: string): void {
  rmSync(path, { force: true });
  syncDirectoryNow(dirname(path));
}
