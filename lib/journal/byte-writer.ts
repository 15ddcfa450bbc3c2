/** A text of one byte a character. */
const BYTE_STRING = /^[\0-\xff]*$/;
const MAX_VARINT_BYTES = 8;
/** Texts up to so long are written by a loop; their length takes one byte. */
const LOOP_CHARACTERS = 63;
/** Up to so many bytes a loop is quicker than a call that copies. */
const LOOP_BYTES = 256;

/** Writes numbers, texts and bytes into a buffer that grows. Only `text` and `bytes` look for room themselves. */
export class ByteWriter {
  #buffer: Buffer;
  #at = 0;

  /** @param size bytes expected */
  constructor(size: number) {
    this.#buffer = Buffer.allocUnsafe(size);
  }

  /** Makes room for so many bytes. */
  reserve(bytes: number): void {
    if (this.#buffer.length - this.#at >= bytes) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#at + bytes));
    this.#buffer.copy(grown, 0, 0, this.#at);
    this.#buffer = grown;
  }

  byte(value: number): void {
    this.#buffer[this.#at++] = value;
  }

  /** Leaves out a byte. @returns where, for `patch` */
  skip(): number {
    return this.#at++;
  }

  patch(at: number, value: number): void {
    this.#buffer[at] = value;
  }

  /** @throws RangeError for what is no safe integer of 0 or more */
  varint(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} is no number of 0 or more`);
    const buffer = this.#buffer;
    let at = this.#at;
    let rest = value;
    while (rest > 0x7fff_ffff) {
      buffer[at++] = (rest % 128) | 0x80;
      rest = Math.floor(rest / 128);
    }
    while (rest > 0x7f) {
      buffer[at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    buffer[at++] = rest;
    this.#at = at;
  }

  float(value: number): void {
    this.#at = this.#buffer.writeDoubleLE(value, this.#at);
  }

  /** A text with its length, any characters. */
  text(value: string): void {
    this.reserve(MAX_VARINT_BYTES + value.length * 2 + MAX_VARINT_BYTES);
    if (value.length > LOOP_CHARACTERS || !this.#shortText(value)) {
      const isByteString = BYTE_STRING.test(value);
      this.varint(value.length * 2 + (isByteString ? 0 : 1));
      this.#at += this.#buffer.write(value, this.#at, isByteString ? 'latin1' : 'utf16le');
    }
    // The numbers that follow a text need no look for room.
    this.reserve(4 * MAX_VARINT_BYTES);
  }

  /** Writes a short text of one byte a character. @returns false when it is none */
  #shortText(value: string): boolean {
    const buffer = this.#buffer;
    let at = this.#at + 1;
    for (let index = 0; index < value.length; index += 1) {
      const code = value.charCodeAt(index);
      if (code > 0xff) return false;
      buffer[at++] = code;
    }
    buffer[this.#at] = value.length * 2;
    this.#at = at;
    return true;
  }

  /** Bytes `from` up to `to`, exclusive, of a value. */
  bytes(value: Buffer, from: number, to: number): void {
    this.reserve(to - from);
    if (to - from > LOOP_BYTES) {
      this.#at += value.copy(this.#buffer, this.#at, from, to);
      return;
    }
    const buffer = this.#buffer;
    let at = this.#at;
    for (let index = from; index < to; index += 1) buffer[at++] = value[index] ?? 0;
    this.#at = at;
  }

  /** What was written, in memory of at most twice its size: it may be kept for long. */
  finish(): Buffer {
    const written = this.#buffer.subarray(0, this.#at);
    return this.#at * 2 < this.#buffer.length ? Buffer.from(written) : written;
  }
}
