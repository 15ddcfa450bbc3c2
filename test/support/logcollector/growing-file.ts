import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { ifPresentSync } from '../../../lib/files/if-present.js';
import { compressedPath } from '../../../lib/output/dated-files.js';
import { readOutput } from '../read-output.js';

const NEWLINE = 0x0a;

/** A text file that is read on while another process appends to it, and to its end when it was compressed meanwhile. */
export class GrowingFile {
  readonly path: string;
  #offset: number;
  #isCompressed = false;

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
    if (this.#isCompressed) return Buffer.alloc(0);
    const filled = this.#readPlain() ?? this.#readCompressed();
    const whole = filled.subarray(0, filled.lastIndexOf(NEWLINE) + 1);
    this.#offset += whole.length;
    return whole;
  }

  #readPlain(): Buffer | undefined {
    const fd = ifPresentSync(() => openSync(this.path, 'r'));
    if (fd === undefined) return undefined;
    try {
      const buffer = Buffer.alloc(Math.max(0, fstatSync(fd).size - this.#offset));
      return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, this.#offset));
    } finally {
      closeSync(fd);
    }
  }

  /** Nothing comes after it. */
  #readCompressed(): Buffer {
    this.#isCompressed = existsSync(compressedPath(this.path));
    return this.#isCompressed ? readOutput(this.path).subarray(this.#offset) : Buffer.alloc(0);
  }
}
