/** First size of the buffer that entries are put together in. */
const FIRST_BYTES = 64 * 1024;
/** Longest header of a value. */
const HEADER_BYTES = 9;
/** Bytes of a hash that is stored as such: MD5 to SHA-512. */
const LEAST_HASH_BYTES = 16;
const MOST_HASH_BYTES = 64;
/** Texts up to here are written without a call into the runtime. */
const SHORT_TEXT = 128;

/** Whether a text is hexadecimal digits in lower case, an even number of them. */
export function isHex(text: string): boolean {
  if (text.length % 2 !== 0) return false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    // 0 to 9, a to f.
    if (!((code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x66))) return false;
  }
  return true;
}

/**
 * Writes the values of an entry as MessagePack, one behind the other into the same buffer: twenty thousand entries a second
 * are not to leave a dozen objects each to be collected.
 */
export class RowPacker {
  #bytes = Buffer.alloc(FIRST_BYTES);
  #at = 0;

  /** @param first the byte in front */
  begin(first: number): void {
    this.#at = 0;
    this.#bytes[this.#at++] = first;
  }

  /** What was written since `begin`. */
  end(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#at));
  }

  /** Bytes without a header. @param text what `isHex` */
  hex(text: string): void {
    this.#reserve(text.length / 2);
    this.#at += this.#bytes.write(text, this.#at, 'hex');
  }

  /** Header of a list. */
  array(length: number): void {
    this.#reserve(HEADER_BYTES);
    this.#bytes[this.#at++] = 0xdc;
    this.#at = this.#bytes.writeUInt16BE(length, this.#at);
  }

  boolean(value: boolean): void {
    this.#reserve(1);
    this.#bytes[this.#at++] = value ? 0xc3 : 0xc2;
  }

  number(value: number): void {
    this.#reserve(HEADER_BYTES);
    const bytes = this.#bytes;
    if (Number.isInteger(value) && value >= 0 && value <= 0xffffffff && !Object.is(value, -0)) {
      if (value < 0x80) {
        bytes[this.#at++] = value;
      } else if (value < 0x10000) {
        bytes[this.#at++] = 0xcd;
        this.#at = bytes.writeUInt16BE(value, this.#at);
      } else {
        bytes[this.#at++] = 0xce;
        this.#at = bytes.writeUInt32BE(value, this.#at);
      }
    } else {
      bytes[this.#at++] = 0xcb;
      this.#at = bytes.writeDoubleBE(value, this.#at);
    }
  }

  /** A number, or the digits of one that is too large; nothing when undefined. */
  whole(value: number | string | undefined): void {
    if (typeof value === 'number') this.number(value);
    else this.text(value);
  }

  /** Nothing when undefined. */
  text(value: string | undefined): void {
    if (value === undefined) {
      this.#nothing();
      return;
    }
    // A character is three bytes at most, a pair of them four.
    this.#reserve(HEADER_BYTES + value.length * 3);
    if (value.length <= SHORT_TEXT && this.#ascii(value)) return;
    const length = Buffer.byteLength(value, 'utf8');
    this.#textHeader(length);
    this.#at += this.#bytes.write(value, this.#at, 'utf8');
  }

  /** A hash as its bytes, anything else as a text; nothing when undefined. */
  hash(value: string | undefined): void {
    const length = value === undefined ? 0 : value.length / 2;
    if (value === undefined || length < LEAST_HASH_BYTES || length > MOST_HASH_BYTES || !isHex(value)) {
      this.text(value);
      return;
    }
    this.#reserve(HEADER_BYTES + length);
    this.#bytes[this.#at++] = 0xc4;
    this.#bytes[this.#at++] = length;
    this.#at += this.#bytes.write(value, this.#at, 'hex');
  }

  /** @returns false when the text is not ASCII: nothing is written then */
  #ascii(value: string): boolean {
    const bytes = this.#bytes;
    const header = value.length < 32 ? 1 : 2;
    let at = this.#at + header;
    for (let index = 0; index < value.length; index += 1) {
      const code = value.charCodeAt(index);
      if (code >= 0x80) return false;
      bytes[at++] = code;
    }
    this.#textHeader(value.length);
    this.#at = at;
    return true;
  }

  #textHeader(length: number): void {
    const bytes = this.#bytes;
    if (length < 32) {
      bytes[this.#at++] = 0xa0 | length;
    } else if (length < 0x100) {
      bytes[this.#at++] = 0xd9;
      bytes[this.#at++] = length;
    } else if (length < 0x10000) {
      bytes[this.#at++] = 0xda;
      this.#at = bytes.writeUInt16BE(length, this.#at);
    } else {
      bytes[this.#at++] = 0xdb;
      this.#at = bytes.writeUInt32BE(length, this.#at);
    }
  }

  #nothing(): void {
    this.#reserve(1);
    this.#bytes[this.#at++] = 0xc0;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    const larger = Buffer.alloc(2 * (this.#at + bytes));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}
