/** What is larger is not kept: a unit has as much once in a while only. */
const LARGEST_KEPT = 16 * 1024 * 1024;
const SMALLEST = 64 * 1024;

/** Memory of units that are done, for those that come: to get it anew costs as much as to fill it. */
export class UnitMemories {
  readonly #most: number;
  #spare: SharedArrayBuffer[] = [];

  /** @param most how many are kept */
  constructor(most: number) {
    this.#most = most;
  }

  /** Memory of that many bytes or more; what lies in it is of no account. */
  take(bytes: number): SharedArrayBuffer {
    const found = this.#spare.findIndex(({ byteLength }) => byteLength >= bytes);
    const [memory] = found < 0 ? [] : this.#spare.splice(found, 1);
    if (memory !== undefined) return memory;
    let size = SMALLEST;
    while (size < bytes) size *= 2;
    return new SharedArrayBuffer(size);
  }

  /** Nobody reads it any more. */
  giveBack(memory: SharedArrayBuffer): void {
    if (memory.byteLength > LARGEST_KEPT) return;
    this.#spare.push(memory);
    // One that is too small now makes room.
    if (this.#spare.length > this.#most) this.#spare.shift();
  }
}
