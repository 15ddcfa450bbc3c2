/*
 * Columns of a row, one behind the other. Each begins with a byte: how it is written, and behind that how long it is
 * where that is not fixed. Texts are byte strings.
 */
const FORM = {
  absent: 0,
  text: 1,
  /** Pairs of lowercase hex digits, a byte each. */
  hex: 2,
  /** Two a byte; `:`, `-` and a filler at the end are hex digits that decimal numbers do not have. */
  digits: 3,
  /** A double. */
  number: 4,
  /** What the reader knows from elsewhere. */
  said: 5,
  /** Permissions, `rwxr-x---`: two bytes. */
  permissions: 6,
} as const;

const LENGTH_BITS = 5;
/** Longer ones have their length in three bytes of their own. */
const LONG = 31;
const MOST_BYTES = 0xff_ffff;
const HEADER_BYTES = 4;
const DOUBLE_BYTES = 8;
const PERMISSION_BYTES = 2;

const HEX = /^(?:[0-9a-f]{2})+$/;
const DIGITS = /^[0-9:-]+$/;
const PERMISSIONS = /^(?:[r-][w-][xs-]){2}[r-][w-][xt-]$/;
const EXECUTE = '-xst';

/** Grows for rows that are longer than usual. */
let scratch = Buffer.allocUnsafe(4096);

/** Puts columns together; one at a time is used. */
export class ColumnWriter {
  #at: number;

  /** @param start bytes in front of the first column */
  constructor(start: number) {
    this.#at = start;
  }

  /** @throws RangeError for one that is longer than any should be */
  text(text: string | undefined): void {
    if (text === undefined) {
      this.#head(FORM.absent, 0);
    } else if (PERMISSIONS.test(text)) {
      this.#head(FORM.permissions, 0);
      this.#room(PERMISSION_BYTES);
      this.#at = scratch.writeUInt16BE(permissionBits(text), this.#at);
    } else if (DIGITS.test(text)) {
      const coded = text.replaceAll(':', 'a').replaceAll('-', 'b');
      this.#bytes(FORM.digits, coded.length % 2 === 0 ? coded : `${coded}f`, coded.length + 1, 'hex');
    } else if (HEX.test(text)) {
      this.#bytes(FORM.hex, text, text.length, 'hex');
    } else {
      this.#bytes(FORM.text, text, 2 * text.length, 'latin1');
    }
  }

  number(value: number | undefined): void {
    if (value === undefined) {
      this.#head(FORM.absent, 0);
      return;
    }
    this.#head(FORM.number, 0);
    this.#room(DOUBLE_BYTES);
    this.#at = scratch.writeDoubleBE(value, this.#at);
  }

  /** @param said what the reader will know anyway */
  textUnless(text: string | undefined, said: string | undefined): void {
    if (text !== undefined && text === said) this.#head(FORM.said, 0);
    else this.text(text);
  }

  /** @param said what the reader will know anyway */
  numberUnless(value: number | undefined, said: number | undefined): void {
    if (value !== undefined && value === said) this.#head(FORM.said, 0);
    else this.number(value);
  }

  /** A copy of them, with the bytes in front still to be written. */
  take(): Buffer {
    return Buffer.from(scratch.subarray(0, this.#at));
  }

  /** @param halves twice the bytes it takes, or one more */
  #bytes(form: number, text: string, halves: number, encoding: 'hex' | 'latin1'): void {
    const length = halves >> 1;
    if (length > MOST_BYTES) throw new RangeError(`a text of ${length} bytes cannot be kept`);
    this.#head(form, length);
    this.#room(length);
    scratch.write(text, this.#at, encoding);
    this.#at += length;
  }

  #head(form: number, length: number): void {
    this.#room(HEADER_BYTES);
    const isLong = length >= LONG;
    scratch[this.#at++] = (form << LENGTH_BITS) | (isLong ? LONG : length);
    if (isLong) this.#at = scratch.writeUIntBE(length, this.#at, HEADER_BYTES - 1);
  }

  #room(bytes: number): void {
    if (this.#at + bytes > scratch.length) scratch = Buffer.concat([scratch], 2 * (this.#at + bytes));
  }
}

/** Takes them apart again, in the same order. */
export class ColumnReader {
  readonly #bytes: Buffer;
  readonly #damaged: () => Error;
  #at: number;
  #form = 0;
  #from = 0;

  /** @param damaged the error for bytes that are no columns */
  constructor(bytes: Buffer, start: number, damaged: () => Error) {
    this.#bytes = bytes;
    this.#at = start;
    this.#damaged = damaged;
  }

  /** @param said what is known already, for a column that says no more */
  text(said?: string): string | undefined {
    this.#next();
    const [bytes, from, to] = [this.#bytes, this.#from, this.#at];
    switch (this.#form) {
      case FORM.absent:
        return undefined;
      case FORM.said:
        return said;
      case FORM.text:
        return bytes.toString('latin1', from, to);
      case FORM.hex:
        return bytes.toString('hex', from, to);
      case FORM.digits: {
        const coded = bytes.toString('hex', from, to);
        const digits = coded.endsWith('f') ? coded.slice(0, -1) : coded;
        return digits.replaceAll('a', ':').replaceAll('b', '-');
      }
      case FORM.permissions:
        return permissionText(bytes.readUInt16BE(from));
      default:
        throw this.#damaged();
    }
  }

  /** @param said what is known already, for a column that says no more */
  number(said?: number): number | undefined {
    this.#next();
    if (this.#form === FORM.absent) return undefined;
    if (this.#form === FORM.said) return said;
    if (this.#form !== FORM.number) throw this.#damaged();
    return this.#bytes.readDoubleBE(this.#from);
  }

  skip(): void {
    this.#next();
  }

  /** Finds form and place of the next column. */
  #next(): void {
    const bytes = this.#bytes;
    const head = bytes[this.#at];
    if (head === undefined) throw this.#damaged();
    this.#form = head >> LENGTH_BITS;
    this.#from = this.#at + 1;
    let length = head & LONG;
    if (length === LONG) {
      this.#from += HEADER_BYTES - 1;
      if (this.#from > bytes.length) throw this.#damaged();
      length = bytes.readUIntBE(this.#at + 1, HEADER_BYTES - 1);
    }
    if (this.#form === FORM.number) length = DOUBLE_BYTES;
    if (this.#form === FORM.permissions) length = PERMISSION_BYTES;
    this.#at = this.#from + length;
    if (this.#at > bytes.length) throw this.#damaged();
  }
}

/** Four bits for each of the three. */
function permissionBits(text: string): number {
  let bits = 0;
  for (let at = 0; at < text.length; at += 3) {
    const execute = EXECUTE.indexOf(text.charAt(at + 2));
    bits = (bits << 4) | (text[at] === 'r' ? 8 : 0) | (text[at + 1] === 'w' ? 4 : 0) | execute;
  }
  return bits;
}

function permissionText(bits: number): string {
  let text = '';
  for (let shift = 8; shift >= 0; shift -= 4) {
    const part = bits >> shift;
    text += (part & 8 ? 'r' : '-') + (part & 4 ? 'w' : '-') + EXECUTE.charAt(part & 3);
  }
  return text;
}
