import { closeSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { openRegularFileSync } from '../files/regular-file.js';
import { JOURNAL_FILE_MODE } from './segment-file.js';

const FILE_NAME = 'durable';
const MAGIC = 0x4d524b31;
/** Magic, checksum, float64 position; two of them, written in turn, so that one is whole at any moment. */
const SLOT_BYTES = 16;
const SLOTS = 2;

/**
 * The position up to which records are known to be safe, noted beside the segments after each sync and never synced
 * itself: what it says was true before it was written, so that an old value is right, too. At recovery it tells damage
 * of acknowledged records, behind which reading goes on, from an interrupted write, whose remains must go: a producer
 * sends them again, and what is kept from behind a hole would make its resent events look like duplicates.
 */
export class DurableMark {
  readonly #path: string;
  readonly #onTrouble: (error: unknown) => void;
  readonly #slot = Buffer.alloc(SLOT_BYTES);
  #fd = -1;
  #turn = 0;

  constructor(directory: string, onTrouble: (error: unknown) => void) {
    this.#path = join(directory, FILE_NAME);
    this.#onTrouble = onTrouble;
  }

  /** The last position noted; 0 when there is none that is whole. */
  read(): number {
    let bytes: Buffer;
    try {
      bytes = readFileSync(this.#path);
    } catch {
      return 0;
    }
    let position = 0;
    for (let at = 0; at + SLOT_BYTES <= Math.min(bytes.length, SLOTS * SLOT_BYTES); at += SLOT_BYTES) {
      const value = bytes.readDoubleLE(at + 8);
      const whole =
        bytes.readUInt32LE(at) === MAGIC &&
        bytes.readUInt32LE(at + 4) === crc32(bytes.subarray(at + 8, at + SLOT_BYTES));
      if (whole && Number.isSafeInteger(value) && value > position) {
        position = value;
        this.#turn = at / SLOT_BYTES + 1;
      }
    }
    return position;
  }

  /** Notes a position. What goes wrong is reported and tried again with the next one. */
  write(position: number): void {
    const slot = this.#slot;
    slot.writeUInt32LE(MAGIC, 0);
    slot.writeDoubleLE(position, 8);
    slot.writeUInt32LE(crc32(slot.subarray(8)), 4);
    try {
      if (this.#fd < 0) {
        this.#fd = openRegularFileSync(this.#path, { access: 'write', makeMode: JOURNAL_FILE_MODE }).fd;
      }
      writeSync(this.#fd, slot, 0, SLOT_BYTES, (this.#turn % SLOTS) * SLOT_BYTES);
      this.#turn += 1;
    } catch (error) {
      this.close();
      this.#onTrouble(error);
    }
  }

  /** Lets go of the file; the next `write` opens it again. */
  close(): void {
    const fd = this.#fd;
    this.#fd = -1;
    try {
      if (fd >= 0) closeSync(fd);
    } catch (error) {
      this.#onTrouble(error);
    }
  }
}
