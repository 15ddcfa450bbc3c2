import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fchmodSync, fchownSync, linkSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { isErrno } from '../../../lib/files/is-errno.js';

/** Who a file of the home belongs to; only root may name somebody else. */
export type HomeFileOwner = { readonly uid: number; readonly gid: number };

/**
 * Makes a file under its final name only when it is complete, and never over one that is there.
 * @param mode permission bits, whatever the umask says
 * @returns whether it was made
 * @throws the file system's error
 */
export function makeFile(path: string, mode: number, content: () => string | Buffer, owner?: HomeFileOwner): boolean {
  if (existsSync(path)) return false;
  const temporary = `${path}.${randomBytes(4).toString('hex')}.tmp`;
  const fd = openSync(temporary, 'wx', mode);
  try {
    writeFileSync(fd, content());
    if (owner !== undefined) fchownSync(fd, owner.uid, owner.gid);
    fchmodSync(fd, mode);
    linkSync(temporary, path);
  } catch (error) {
    // Somebody else made it in the meantime: theirs stays.
    if (isErrno(error, 'EEXIST')) return false;
    throw error;
  } finally {
    closeSync(fd);
    rmSync(temporary, { force: true });
  }
  return true;
}
