/** Reads what `ByteWriter` wrote. Every method throws a RangeError, with the offset, for what cannot be there. */
export class ByteReader {
  readonly #buffer: Buffer;
  #at: number;

  /** @param at where to begin */
  constructor(buffer: Buffer, at = 0) {
    this.#buffer = buffer;
    this.#at = at;
  }

  /** Offset of what is read next. */
  get at(): number {
    return this.#at;
  }

  byte(): number {
    const value = this.#buffer[this.#at];
    if (value === undefined) throw this.#short();
    this.#at += 1;
    return value;
  }

  varint(): number {
    const buffer = this.#buffer;
    const first = buffer[this.#at];
    if (first !== undefined && first < 0x80) {
      this.#at += 1;
      return first;
    }
    let value = 0;
    let factor = 1;
    for (;;) {
      const byte = buffer[this.#at];
      if (byte === undefined) throw this.#short();
      this.#at += 1;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) break;
      factor *= 128;
      if (factor > Number.MAX_SAFE_INTEGER) throw new RangeError(`a number is too large at byte ${this.#at}`);
    }
    if (value > Number.MAX_SAFE_INTEGER) throw new RangeError(`a number is too large at byte ${this.#at}`);
    return value;
  }

  float(): number {
    const at = this.#advance(8);
    return this.#buffer.readDoubleLE(at);
  }

  text(): string {
    const head = this.varint();
    const length = Math.floor(head / 2);
    if (head % 2 === 0) {
      const at = this.#advance(length);
      return this.#buffer.toString('latin1', at, at + length);
    }
    const at = this.#advance(length * 2);
    return this.#buffer.toString('utf16le', at, at + length * 2);
  }

  /** Passes over a text. */
  skipText(): void {
    const head = this.varint();
    const length = Math.floor(head / 2);
    this.#advance(head % 2 === 0 ? length : length * 2);
  }

  /** A part of the buffer, not a copy. */
  bytes(length: number): Buffer {
    const at = this.#advance(length);
    return this.#buffer.subarray(at, at + length);
  }

  /** Passes over bytes. */
  skip(length: number): void {
    this.#advance(length);
  }

  /** Checks that nothing is left. */
  end(): void {
    if (this.#at !== this.#buffer.length) throw new RangeError(`bytes are left over at byte ${this.#at}`);
  }

  #advance(bytes: number): number {
    const at = this.#at;
    if (bytes > this.#buffer.length - at) throw this.#short();
    this.#at = at + bytes;
    return at;
  }

  #short(): RangeError {
    return new RangeError(`it ends at byte ${this.#buffer.length}, inside a value`);
  }
}
