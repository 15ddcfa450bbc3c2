import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { MERGED_FILE, mergedSum } from '../../../lib/agentlink/merged-file.js';
import { writeFileAtomically } from '../../../lib/files/write-file-atomically.js';
import { writeFileDurably } from '../../../lib/files/write-file-durably.js';
import type { Breather } from './breather.js';
import { readSharedFile } from './read-shared-file.js';
import { stampOf } from './scan-folder.js';
import { CHUNK_BYTES, LEFT_BEHIND_MS, MAX_MERGED_BYTES } from './shared-limits.js';

const ABSENT = 'absent';
const MODE = 0o660;
/** What writing one leaves when the process dies in the middle. */
const LEFT_BEHIND = /^merged\.mg\.\d+\.[0-9a-f]{8}\.tmp$/;

/** A merged file that is there and cannot be used. */
export class UnusableMergedFileError extends Error {
  override readonly name = 'UnusableMergedFileError';
}

/** One merged.mg: knows its sum as long as nobody else changes the file. */
export class MergedOnDisk {
  readonly path: string;
  #stamp = '';
  #sum: string | undefined;
  /** Whether what was written last would survive a power cut for sure. */
  #isDurable = false;

  /** @param folder that it lies in */
  constructor(readonly folder: string) {
    this.path = join(folder, MERGED_FILE);
  }

  /** MD5 of the file when it was last read or written; undefined when there was none. */
  get sum(): string | undefined {
    return this.#sum;
  }

  /** Whether the file is as it was last read or written. @throws the file system's error */
  isSame(): boolean {
    return this.#stamp !== '' && this.#stampNow() === this.#stamp;
  }

  /**
   * Content of the file; undefined when there is none.
   * @throws UnusableMergedFileError, or the file system's error; the sum is then as it was
   */
  async read(breather: Breather): Promise<{ md5: string; content: Buffer } | undefined> {
    const file = await readSharedFile(this.path, MAX_MERGED_BYTES, breather);
    switch (file.kind) {
      case 'absent':
        this.#stamp = ABSENT;
        this.#sum = undefined;
        return undefined;
      case 'read': {
        const md5 = mergedSum(file.content);
        this.#stamp = file.stamp;
        this.#sum = md5;
        return { md5, content: file.content };
      }
      case 'changed':
        throw new UnusableMergedFileError('it changed while it was read');
      case 'too_large':
        throw new UnusableMergedFileError(
          `it has ${String(file.size)} bytes, ${String(MAX_MERGED_BYTES)} are the most that is sent to agents`,
        );
    }
  }

  /** Content with the sum that is known; undefined when somebody else changed the file. @throws the file system's error */
  async content(breather: Breather): Promise<Buffer | undefined> {
    const sum = this.#sum;
    const file = await readSharedFile(this.path, MAX_MERGED_BYTES, breather);
    return file.kind === 'read' && mergedSum(file.content) === sum ? file.content : undefined;
  }

  /**
   * Puts content in place, as a whole, unless the file has it already.
   * @param durable whether it must survive a power cut; otherwise it can be made again
   * @returns whether it was written
   * @throws the file system's error; the file is then unchanged
   */
  async write(content: Buffer, breather: Breather, durable: boolean): Promise<boolean> {
    const md5 = mergedSum(content);
    if (!this.isSame()) await this.read(breather).catch(() => (this.#sum = undefined));
    if (md5 === this.#sum && (this.#isDurable || !durable)) return false;
    if (durable || content.length > CHUNK_BYTES) await writeFileDurably(this.path, content, { mode: MODE });
    else writeFileAtomically(this.path, content, { mode: MODE });
    const isNew = md5 !== this.#sum;
    this.#stamp = this.#stampNow();
    this.#sum = md5;
    this.#isDurable = durable;
    return isNew;
  }

  /** Removes temporary files of processes that died. @param now epoch milliseconds */
  sweep(now: number): void {
    for (const name of readdirSync(this.folder)) {
      if (!LEFT_BEHIND.test(name)) continue;
      const path = join(this.folder, name);
      const stats = lstatSync(path, { throwIfNoEntry: false });
      if (stats !== undefined && now - stats.ctimeMs > LEFT_BEHIND_MS) rmSync(path, { force: true });
    }
  }

  #stampNow(): string {
    const stats = lstatSync(this.path, { throwIfNoEntry: false });
    return stats === undefined ? ABSENT : stampOf(stats);
  }
}
