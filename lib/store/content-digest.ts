import { createHash } from 'node:crypto';

/** Bytes of a digest. */
const BYTES = 32;

/**
 * A digest of all entries of a store, whatever their order: each has its SHA-256, and the digest is the exclusive or of them,
 * so that a change costs what it changes. LMDB has no checksums: a page that was lost or overwritten may cost entries, or
 * change them, without an error. It holds off damage, not somebody who writes a store on purpose.
 */
export class ContentDigest {
  readonly #sum: Buffer;

  private constructor(sum: Buffer) {
    this.#sum = sum;
  }

  static ofNothing(): ContentDigest {
    return new ContentDigest(Buffer.alloc(BYTES));
  }

  copy(): ContentDigest {
    return new ContentDigest(Buffer.from(this.#sum));
  }

  /** @param before undefined for an entry that was not there @param after undefined for one that is removed */
  change(table: string, key: number | string | Buffer, before: Buffer | undefined, after: Buffer | undefined): void {
    for (const value of [before, after]) if (value !== undefined) this.#toggle(table, key, value);
  }

  /** As it is stored. */
  get text(): string {
    return this.#sum.toString('hex');
  }

  #toggle(table: string, key: number | string | Buffer, value: Buffer): void {
    const name = Buffer.isBuffer(key) ? key.toString('hex') : JSON.stringify(key);
    const hash = createHash('sha256').update(`${table}\0${name}\0`).update(value).digest();
    for (let index = 0; index < BYTES; index += 1) this.#sum[index] = (this.#sum[index] ?? 0) ^ (hash[index] ?? 0);
  }
}
