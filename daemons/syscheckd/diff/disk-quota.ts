/** Part of a content that packing is taken to save at first, and at least (integrity-and-inventory.md 3.10). */
const FIRST_SAVING = 0.9;
const LEAST_SAVING = 0.4;
/** Bytes of contents that the first assumption weighs as much as. */
const ASSUMED_BYTES = 1024 * 1024;

/** How much room copies take, and whether one more fits. Sizes are bytes. */
export class DiskQuota {
  #used = 0;
  #reserved = 0;
  #plain = ASSUMED_BYTES;
  #packed = ASSUMED_BYTES * (1 - FIRST_SAVING);

  /** Of all copies, those that wait to be put in place included. */
  get used(): number {
    return this.#used + this.#reserved;
  }

  /** The copies were measured. */
  measured(bytes: number): void {
    this.#used = bytes;
  }

  /** A copy came (above 0) or went (below 0). */
  changed(bytes: number): void {
    this.#used = Math.max(this.#used + bytes, 0);
  }

  /** A copy that is made will take more room, or no longer does (below 0). */
  reserve(bytes: number): void {
    this.#reserved += bytes;
  }

  /** Bytes that a copy takes presumably. @param plain of the content */
  estimate(plain: number): number {
    return plain * (1 - Math.max(1 - this.#packed / this.#plain, LEAST_SAVING));
  }

  /** What packing came to makes later estimates better. */
  learn(plain: number, packed: number): void {
    this.#plain += plain;
    this.#packed += packed;
  }
}
