import { randomBytes } from 'node:crypto';
import { link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncDirectoryWherePossible } from './sync-directory.js';

/** How a file is put in place. */
export type DurableWriteOptions = {
  /** Permission bits, whatever the umask says. */
  readonly mode: number;
  /** Name under which what was there before is kept, where the file system can. */
  readonly previous?: string;
};

/**
 * As `writeFileAtomically`, so that it survives a power cut, and without holding up the event loop: a disk may take
 * seconds to confirm. Not to be called twice at a time for one path.
 * @throws the file system's error; the target is then unchanged
 */
export async function writeFileDurably(
  path: string,
  content: string | Buffer,
  options: DurableWriteOptions,
): Promise<void> {
  const temporary = `${path}.${String(process.pid)}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    const file = await open(temporary, 'wx', options.mode);
    try {
      await file.chmod(options.mode);
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    if (options.previous !== undefined) await keep(path, options.previous);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncDirectoryWherePossible(dirname(path));
}

/** Gives a second name, so that the file is never away from its own. */
async function keep(path: string, previous: string): Promise<void> {
  try {
    await rm(previous, { force: true });
    await link(path, previous);
  } catch {
    // Not there yet, or a file system without links: the new content matters more than the old one.
  }
}
