import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno } from '../../lib/files/is-errno.js';
import { output } from './tool.js';

const PIECE = Buffer.alloc(64 * 1024, 'x');

/** A folder on a disk of its own, which a test fills. */
export class SmallDisk {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Needs root. @param mebibytes of its disk */
  static async make(folder: string, mebibytes: number): Promise<SmallDisk> {
    mkdirSync(folder, { recursive: true });
    await output(['mount', '-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=0750`, 'tmpfs', folder]);
    return new SmallDisk(folder);
  }

  /** To the last byte. */
  fill(): void {
    const file = openSync(this.#filler, 'a');
    try {
      for (;;) writeSync(file, PIECE);
    } catch (error) {
      if (!isErrno(error, 'ENOSPC')) throw error;
    } finally {
      closeSync(file);
    }
  }

  free(): void {
    rmSync(this.#filler, { force: true });
  }

  async close(): Promise<void> {
    await output(['umount', '--lazy', this.#folder]);
  }

  get #filler(): string {
    return join(this.#folder, 'filler');
  }
}
