import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 4096;

/** Random bytes in small portions: asking the system for each one costs more than sealing a message. */
export class RandomPool {
  readonly #pool = Buffer.alloc(POOL_BYTES);
  #at = POOL_BYTES;

  /** @param count at most 4096 @returns bytes that are good until the next call */
  bytes(count: number): Buffer {
    if (this.#at + count > POOL_BYTES) {
      randomFillSync(this.#pool);
      this.#at = 0;
    }
    this.#at += count;
    return this.#pool.subarray(this.#at - count, this.#at);
  }

  /** 0 to 65535 */
  uint16(): number {
    return this.bytes(2).readUInt16LE(0);
  }
}
