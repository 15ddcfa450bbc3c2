import { createHash } from 'node:crypto';
import { close, fstat, read } from 'node:fs';
import { promisify } from 'node:util';
import { isErrno } from '../../../lib/files/is-errno.js';
import { openBelow } from '../../../lib/files/read-below.js';
import { MAX_PACKAGE_BYTES } from './upgrade-limits.js';

/** Where packages lie, below the home (daemons-and-config.md 3.11). */
export const PACKAGE_FOLDER = 'var/upgrade';

/** Bytes read at once to make the sum. */
const SUM_CHUNK_BYTES = 1024 * 1024;

/** A package that is not there or cannot be sent; the message says which and why. */
export class PackageError extends Error {
  override readonly name = 'PackageError';
  /** Whether it is simply not there. */
  readonly absent: boolean;

  constructor(message: string, { absent = false, cause }: { absent?: boolean; cause?: unknown } = {}) {
    super(message, { cause });
    this.absent = absent;
  }
}

const readAt = promisify(read);
const stat = promisify(fstat);

/** A package that is open: what is sent and what its sum was made of are the same file, whatever is put in its place. */
export class PackageFile {
  private constructor(
    private readonly file: number,
    /** Bytes. */
    readonly size: number,
  ) {}

  /**
   * Opens a package without following a link.
   * @param folder the home's `var/upgrade`
   * @param path below it
   * @throws PackageError
   */
  static async open(folder: string, path: string): Promise<PackageFile> {
    const shown = `${PACKAGE_FOLDER}/${path}`;
    let file: number;
    try {
      file = openBelow(folder, path);
    } catch (error) {
      if (isErrno(error, 'ENOENT')) throw new PackageError(`there is no ${shown}`, { absent: true, cause: error });
      const isLink = isErrno(error, 'ELOOP') || isErrno(error, 'ENOTDIR');
      const reason = isLink ? 'a link or no folder is on the way' : (error as Error).message;
      throw new PackageError(`${shown} cannot be opened: ${reason}`, { cause: error });
    }
    try {
      const stats = await stat(file);
      if (!stats.isFile()) throw new PackageError(`${shown} is no regular file`);
      if (stats.size === 0) throw new PackageError(`${shown} is empty`);
      if (stats.size > MAX_PACKAGE_BYTES) {
        throw new PackageError(`${shown} is larger than ${MAX_PACKAGE_BYTES / 1024 / 1024} MiB`);
      }
      return new PackageFile(file, stats.size);
    } catch (error) {
      close(file);
      throw error;
    }
  }

  /** SHA-1 of the content in hex. @throws PackageError when it is cut short meanwhile; the signal's reason */
  async sha1(signal?: AbortSignal): Promise<string> {
    const sum = createHash('sha1');
    for await (const chunk of this.chunks(SUM_CHUNK_BYTES)) {
      signal?.throwIfAborted();
      sum.update(chunk);
    }
    return sum.digest('hex');
  }

  /** The content in pieces. @throws PackageError when it is cut short meanwhile */
  async *chunks(bytes: number): AsyncGenerator<Buffer> {
    for (let at = 0; at < this.size;) {
      const buffer = Buffer.allocUnsafe(Math.min(bytes, this.size - at));
      const { bytesRead } = await readAt(this.file, buffer, 0, buffer.length, at);
      if (bytesRead === 0) throw new PackageError('the package was cut short while it was sent');
      yield buffer.subarray(0, bytesRead);
      at += bytesRead;
    }
  }

  close(): void {
    close(this.file);
  }
}
