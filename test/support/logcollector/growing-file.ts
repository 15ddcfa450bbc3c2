import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const NEWLINE = 0x0a;

/** A text file that is read on while another process appends to it. */
export class GrowingFile {
  readonly path: string;
  #offset: number;

  /** @param offset of the first byte to read */
  constructor(path: string, offset = 0) {
    this.path = path;
    this.#offset = offset;
  }

  /** Behind the last whole line that was read. */
  get offset(): number {
    return this.#offset;
  }

  /** The whole lines that have come since the last call; none while the file is not there, or shorter than it was. */
  read(): Buffer {
    let fd: number;
    try {
      fd = openSync(this.path, 'r');
    } catch {
      return Buffer.alloc(0);
    }
    try {
      const buffer = Buffer.alloc(Math.max(0, fstatSync(fd).size - this.#offset));
      const filled = buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, this.#offset));
      const whole = filled.subarray(0, filled.lastIndexOf(NEWLINE) + 1);
      this.#offset += whole.length;
      return whole;
    } finally {
      closeSync(fd);
    }
  }
}
