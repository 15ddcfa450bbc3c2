import { createHash } from 'node:crypto';

/** Row checksums that go into the hash at a time: a call each would cost more than the hashing. */
const ROWS_A_TIME = 256;

/**
 * Checksum of a range of rows (integrity-and-inventory.md 5.1): SHA1 of the hex texts of the rows' checksums in the order
 * of their keys, without separators. Of one row too: it is never the row's own checksum.
 */
export class RangeHash {
  readonly #hash = createHash('sha1');
  #waiting = '';
  #count = 0;

  /** Rows so far. */
  get rows(): number {
    return this.#count;
  }

  /** @param checksum of the next row, as it is stored */
  add(checksum: string): void {
    this.#waiting += checksum;
    this.#count += 1;
    if (this.#count % ROWS_A_TIME === 0) this.#flush();
  }

  /** 40 lowercase hex digits; ends the hash. */
  digest(): string {
    this.#flush();
    return this.#hash.digest('hex');
  }

  #flush(): void {
    this.#hash.update(this.#waiting, 'utf8');
    this.#waiting = '';
  }
}
