import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

/** Times a file is compressed again because somebody still wrote to it. */
const MAX_ATTEMPTS = 5;

/**
 * Replaces a file by `<path>.gz`. The compressed file is complete and on disk before the plain one goes, so that a crash at
 * any moment leaves one of the two.
 *
 * @param options `signal` gives up, and the plain file stays; `mode` of the compressed file, that of the plain one by default
 * @throws Error of the file system, or of the signal; the plain file is then still there
 */
export async function compressFile(
  path: string,
  { signal, mode }: { readonly signal?: AbortSignal; readonly mode?: number } = {},
): Promise<void> {
  const target = `${path}.gz`;
  const temporary = `${target}.tmp`;
  for (let attempt = 1; ; attempt += 1) {
    const before = await stat(path);
    try {
      // The name is this function's own; a left-over of a crash is overwritten.
      await pipeline(
        createReadStream(path),
        createGzip(),
        createWriteStream(temporary, { mode: mode ?? before.mode & 0o777 }),
        signal === undefined ? {} : { signal },
      );
      await sync(temporary);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    const after = await stat(path);
    if (after.size === before.size && after.mtimeMs === before.mtimeMs) {
      break;
    }
    // A writer that had not noticed the rotation added a line meanwhile: it must be in the compressed file too.
    if (attempt >= MAX_ATTEMPTS) {
      await rm(temporary, { force: true });
      throw new Error(`'${path}' is still being written`);
    }
  }
  await rename(temporary, target);
  await rm(path);
}

async function sync(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
