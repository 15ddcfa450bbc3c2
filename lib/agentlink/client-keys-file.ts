import type { BigIntStats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { ifPresent } from '../files/if-present.js';
import type { AgentKey } from './agent-key.js';
import { type ClientKeys, parseClientKeys } from './client-keys.js';

/** The key file is there to be read but cannot be. */
export class KeyFileError extends Error {
  override readonly name = 'KeyFileError';
}

/** Largest key file that is read: room for a million agents. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;

/** Bytes before the old end of the file that must be the same for what follows to count as added. */
const COMPARED_BYTES = 4096;

/** Where the file ended when it was last read. */
type End = { readonly inode: bigint; readonly size: number; readonly tail: Buffer };

const NO_KEYS = parseClientKeys(Buffer.alloc(0), '');

/**
 * `etc/client.keys` as its readers see it: its writer replaces it as a whole or adds lines, and it is edited by hand
 * (agents-and-groups.md 1.2).
 */
export class ClientKeysFile {
  readonly #path: string;
  readonly #name: string;
  #seen: string | undefined;
  /** Undefined when nothing can follow: there is no file, or its last line has no end. */
  #end: End | undefined;

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
    const file = await ifPresent(() => open(this.#path, 'r'));
    this.#end = undefined;
    if (file === undefined) {
      this.#seen = 'missing';
      return NO_KEYS;
    }
    try {
      // What is remembered belongs to the very file that is read: one put in place meanwhile is seen as a change.
      const stats = await file.stat({ bigint: true });
      if (!stats.isFile()) throw new KeyFileError(`${this.#name} is no regular file`);
      if (stats.size > MAX_FILE_BYTES) throw new KeyFileError(`${this.#name} is larger than ${MAX_FILE_BYTES} bytes`);
      const content = await file.readFile();
      const keys = parseClientKeys(content, this.#name);
      this.#seen = mark(stats);
      if (keys.terminated && stats.size === BigInt(content.length)) this.#end = endOf(stats, content);
      return keys;
    } finally {
      await file.close();
    }
  }

  /**
   * Reads what was added to the end since the last reading: a large file need not be read again for each new agent. A change
   * by hand that leaves inode and old end as they were is not noticed by it.
   * @returns undefined when the file has to be read as a whole: it was replaced, or changed otherwise than by new agents
   * @throws the file system's error
   */
  async readAdded(): Promise<readonly AgentKey[] | undefined> {
    const end = this.#end;
    if (end === undefined) return undefined;
    const file = await open(this.#path, 'r').catch(() => undefined);
    if (file === undefined) return undefined;
    try {
      const stats = await file.stat({ bigint: true });
      if (mark(stats) === this.#seen) return [];
      const from = end.size - end.tail.length;
      const size = Number(stats.size);
      if (stats.ino !== end.inode || size <= end.size || size > MAX_FILE_BYTES) return undefined;
      const bytes = Buffer.alloc(size - from);
      const { bytesRead } = await file.read(bytes, 0, bytes.length, from);
      if (bytesRead < bytes.length || !bytes.subarray(0, end.tail.length).equals(end.tail)) return undefined;
      const added = parseClientKeys(bytes.subarray(end.tail.length), this.#name);
      if (!added.terminated || added.problems.length > 0 || added.removed.length > 0) return undefined;
      this.#seen = mark(stats);
      this.#end = endOf(stats, bytes);
      return added.agents;
    } finally {
      await file.close();
    }
  }
}

/** @param bytes the last ones of the file */
function endOf({ ino, size }: BigIntStats, bytes: Buffer): End {
  return { inode: ino, size: Number(size), tail: Buffer.from(bytes.subarray(-COMPARED_BYTES)) };
}

async function statOf(look: () => Promise<BigIntStats>): Promise<string> {
  const stats = await ifPresent(look);
  return stats === undefined ? 'missing' : mark(stats);
}

function mark({ ino, mtimeNs, size }: BigIntStats): string {
  return `${ino} ${mtimeNs} ${size}`;
}
