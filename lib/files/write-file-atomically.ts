import { randomBytes } from 'node:crypto';
import { closeSync, fchmodSync, fchownSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';

/** How a file is put in place. */
export type AtomicWriteOptions = {
  /** Permission bits, whatever the umask says. */
  readonly mode: number;
  /** Owner, where the writer is allowed to set one. */
  readonly owner?: { readonly uid: number; readonly gid: number };
  /** Whether the content must survive a power cut (default false: enough for files of var/run). */
  readonly durable?: boolean;
};

/**
 * Replaces a file as a whole: readers see the old content or the new, never a part. The temporary file lies beside the
 * target and is opened exclusively, so a link planted under its name is not followed.
 * @throws the file system's error; the target is then unchanged
 */
export function writeFileAtomically(path: string, content: string | Buffer, options: AtomicWriteOptions): void {
  const temporary = `${path}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`;
  const fd = openSync(temporary, 'wx', options.mode);
  try {
    try {
      fchmodSync(fd, options.mode);
      if (options.owner !== undefined) fchownSync(fd, options.owner.uid, options.owner.gid);
      const bytes = typeof content === 'string' ? Buffer.from(content) : content;
      for (let offset = 0; offset < bytes.length;) offset += writeSync(fd, bytes, offset);
      if (options.durable === true) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    // The system's error of a descriptor does not name its file, and whoever reads it must know which disk is full.
    throw error instanceof Error && !('path' in error) ? Object.assign(error, { path }) : error;
  }
}
