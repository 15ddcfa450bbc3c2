import { createHash } from 'node:crypto';
import { type FileHandle, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '../files/is-errno.js';
import { NotRegularFileError, openRegularFile } from '../files/regular-file.js';
import { GroupError } from './group-error.js';

/** Largest shared file that is read as a whole, bytes: no agent takes a larger one. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** Bytes hashed at a time. */
const CHUNK_BYTES = 256 * 1024;

/** Sums that groups and files are shown with (`hash` of rest-api.md 6.3). */
export const HASH_ALGORITHMS: Readonly<Record<string, string>> = {
  md5: 'md5',
  sha1: 'sha1',
  sha224: 'sha224',
  sha256: 'sha256',
  sha384: 'sha384',
  sha512: 'sha512',
  blake2b: 'blake2b512',
  blake2s: 'blake2s256',
  sha3_224: 'sha3-224',
  sha3_256: 'sha3-256',
  sha3_384: 'sha3-384',
  sha3_512: 'sha3-512',
};

/**
 * Content of a file below a directory.
 * @param directory absolute, without symbolic links
 * @param name relative to it
 * @throws GroupError `unknown_file`, `unreadable_file`, `too_large`
 */
export function readSharedFile(directory: string, name: string): Promise<Buffer> {
  return withFile(directory, name, async (file) => {
    const { size } = await file.stat();
    if (size > MAX_FILE_BYTES) throw new GroupError('too_large', `${name} is larger than ${MAX_FILE_BYTES} bytes`);
    const content = Buffer.alloc(size);
    let length = 0;
    while (length < size) {
      const { bytesRead } = await file.read(content, length, size - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return content.subarray(0, length);
  });
}

/**
 * Sum of a file below a directory, whatever its size.
 * @param algorithm a name of {@link HASH_ALGORITHMS}
 * @throws GroupError as of {@link readSharedFile}; RangeError for another algorithm
 */
export function hashSharedFile(directory: string, name: string, algorithm: string): Promise<string> {
  const method = Object.hasOwn(HASH_ALGORITHMS, algorithm) ? HASH_ALGORITHMS[algorithm] : undefined;
  if (method === undefined) throw new RangeError(`there is no hash algorithm '${algorithm}'`);
  return withFile(directory, name, async (file) => {
    const sum = createHash(method);
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, null);
      if (bytesRead === 0) return sum.digest('hex');
      sum.update(chunk.subarray(0, bytesRead));
    }
  });
}

/** A link on the way is followed nowhere: the service user may plant one, and a tool may run as root. */
async function withFile<T>(directory: string, name: string, work: (file: FileHandle) => Promise<T>): Promise<T> {
  const unknown = () => new GroupError('unknown_file', `${name} does not exist or is not a regular file`);
  if (!staysBelow(name)) throw unknown();
  const path = join(directory, name);
  let file: FileHandle;
  try {
    if ((await realpath(path)) !== path) throw unknown();
    file = await openRegularFile(path);
  } catch (error) {
    throw asGroupError(error, name, unknown);
  }
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

function staysBelow(name: string): boolean {
  return !name.includes('\0') && name.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

function asGroupError(error: unknown, name: string, unknown: () => GroupError): unknown {
  if (isErrno(error, 'EACCES', 'EPERM')) return new GroupError('unreadable_file', `${name} cannot be read`);
  const isAbsent = isErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG');
  return isAbsent || error instanceof NotRegularFileError ? unknown() : error;
}
