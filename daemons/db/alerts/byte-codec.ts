/** Bytes that grow: numbers of seven bits a byte, the low ones first. */
export class ByteWriter {
  #bytes: Buffer;
  #length = 0;

  constructor(firstBytes: number) {
    this.#bytes = Buffer.allocUnsafe(Math.max(64, firstBytes));
  }

  get length(): number {
    return this.#length;
  }

  /** @param value whole, from 0 to 2^53 */
  varint(value: number): void {
    if (this.#length + 8 > this.#bytes.length) {
      this.#bytes = Buffer.concat([this.#bytes], this.#bytes.length * 2);
    }
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length] = (rest % 0x80) | 0x80;
      this.#length += 1;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length] = rest;
    this.#length += 1;
  }

  /** What was written. */
  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }
}

/** Reads back what a ByteWriter wrote. */
export class ByteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** The next number; 0 behind the end. */
  varint(): number {
    let value = 0;
    for (let unit = 1; ; unit *= 0x80) {
      const byte = this.#bytes[this.#at] ?? 0;
      this.#at += 1;
      if (byte < 0x80) return value + byte * unit;
      value += (byte - 0x80) * unit;
    }
  }
}
