import { open, stat } from 'node:fs/promises';
import type { BigIntStats } from 'node:fs';
import { parseClientKeys, type ClientKeys } from './client-keys.js';

/** The key file is there to be read but cannot be. */
export class KeyFileError extends Error {
  override readonly name = 'KeyFileError';
}

/** Largest key file that is read: room for a million agents. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;

const NO_KEYS = parseClientKeys(Buffer.alloc(0), '');

/**
 * `etc/client.keys` as its readers see it: its writer replaces it as a whole or adds lines, and it is edited by hand
 * (agents-and-groups.md 1.2).
 */
export class ClientKeysFile {
  readonly #path: string;
  readonly #name: string;
  #seen: string | undefined;

  /** @param name what problems call the file */
  constructor(path: string, name = 'etc/client.keys') {
    this.#path = path;
    this.#name = name;
  }

  /** Whether the file is another than the one last read: cheap, for a look every second. @throws the file system's error */
  async changed(): Promise<boolean> {
    return (await statOf(() => stat(this.#path, { bigint: true }))) !== this.#seen;
  }

  /**
   * Reads the file; one that is missing has no keys.
   * @throws KeyFileError when it is too large or no regular file; the file system's error
   */
  async read(): Promise<ClientKeys> {
    const file = await open(this.#path, 'r').catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
    if (file === undefined) {
      this.#seen = 'missing';
      return NO_KEYS;
    }
    try {
      // What is remembered belongs to the very file that is read: one put in place meanwhile is seen as a change.
      const stats = await file.stat({ bigint: true });
      if (!stats.isFile()) throw new KeyFileError(`${this.#name} is no regular file`);
      if (stats.size > MAX_FILE_BYTES) throw new KeyFileError(`${this.#name} is larger than ${MAX_FILE_BYTES} bytes`);
      const keys = parseClientKeys(await file.readFile(), this.#name);
      this.#seen = mark(stats);
      return keys;
    } finally {
      await file.close();
    }
  }
}

async function statOf(look: () => Promise<BigIntStats>): Promise<string> {
  try {
    return mark(await look());
  } catch (error) {
    if (isMissing(error)) return 'missing';
    throw error;
  }
}

function mark({ ino, mtimeNs, size }: BigIntStats): string {
  return `${ino} ${mtimeNs} ${size}`;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
