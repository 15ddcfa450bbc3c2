import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, lstat, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isSafeSharedName, MergedFileError, parseMergedFile } from '../../../lib/agentlink/merged-file.js';
import { isErrno } from '../../../lib/files/is-errno.js';
import { syncDirectory } from '../../../lib/files/sync-directory.js';
import { describeError } from '../../../lib/log/describe-error.js';
import { DownloadError } from './download-error.js';

/**
 * What a file is told from another by, without reading it; undefined for none, a link or a directory. A new name changes
 * nothing of it.
 */
export async function fileState(path: string): Promise<string | undefined> {
  try {
    const stat = await lstat(path, { bigint: true });
    return stat.isFile() ? [stat.dev, stat.ino, stat.size, stat.mtimeNs].join() : undefined;
  } catch {
    return undefined;
  }
}

/** Hex SHA-256 of a regular file; undefined when there is none, or it cannot be read. */
export async function fileHash(path: string): Promise<string | undefined> {
  if ((await fileState(path)) === undefined) return undefined;
  const hash = createHash('sha256');
  try {
    for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
    return hash.digest('hex');
  } catch {
    return undefined;
  }
}

/**
 * Looks whether a downloaded merged file is one (agents-and-groups.md 6.3, strict) and stays in its folder on an agent.
 * @throws DownloadError `corrupt`
 */
export async function checkMergedFile(path: string): Promise<void> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw new DownloadError('file', describeError(error));
  });
  if (bytes.length === 0) throw new DownloadError('corrupt', 'it is empty');
  try {
    const unsafe = parseMergedFile(bytes, true).find(({ name }) => !isSafeSharedName(name));
    if (unsafe !== undefined) {
      throw new MergedFileError(`a file in it has the name ${JSON.stringify(unsafe.name.slice(0, 100))}`);
    }
  } catch (error) {
    if (error instanceof MergedFileError) throw new DownloadError('corrupt', error.message);
    throw error;
  }
}

/**
 * Puts a downloaded file in the place of another as a whole. The same content leaves the file in place untouched, so
 * that nothing is distributed anew. The temporary file is gone in either case.
 * @param folder of the group; a link is refused, it would lead elsewhere
 * @returns what became of it, and the `fileState` of the very content, whatever is written over it from then on
 * @throws DownloadError `file`; the file in place is then as it was
 */
export async function placeDownload(
  temporary: string,
  folder: string,
  name: string,
  sha256: string,
): Promise<{ readonly result: 'stored' | 'unchanged'; readonly state: string | undefined }> {
  const target = join(folder, name);
  try {
    if (!(await lstat(folder)).isDirectory()) throw new DownloadError('file', `'${folder}' is no directory`);
    const before = await fileState(target);
    if ((await fileHash(target)) === sha256) return { result: 'unchanged', state: before };
    const state = await move(temporary, target);
    await syncDirectory(folder);
    return { result: 'stored', state };
  } catch (error) {
    throw error instanceof DownloadError ? error : new DownloadError('file', describeError(error));
  } finally {
    await rm(temporary, { force: true });
  }
}

/**
 * A rename, also from one file system to another: then by way of a hidden file, which is never distributed.
 * @returns `fileState` of what was moved
 */
async function move(from: string, to: string): Promise<string | undefined> {
  const state = await fileState(from);
  try {
    await rename(from, to);
    return state;
  } catch (error) {
    if (!isErrno(error, 'EXDEV')) throw error;
  }
  const beside = join(dirname(to), `.${randomBytes(8).toString('hex')}.tmp`);
  try {
    await copyFile(from, beside);
    const file = await open(beside, 'r+');
    try {
      await file.sync();
    } finally {
      await file.close();
    }
    const copied = await fileState(beside);
    await rename(beside, to);
    return copied;
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}
