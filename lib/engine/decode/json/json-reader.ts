/** Deepest nesting (decoding.md 4.8): keeps a hostile log from using up the stack. */
const MAX_DEPTH = 1000;
/** A number is read from at most this many bytes, as in the reference; what follows is then no JSON any more. */
const MAX_NUMBER = 63;

/** Digits of a number that is printed as it stands (C's DBL_DIG). */
const MAX_PLAIN_DIGITS = 15;
/** Zeros behind the dot of a number below 1 that is printed without an exponent. */
const MAX_PLAIN_ZEROS = 3;

/** Integers of up to so many digits are read digit by digit. */
const MAX_SMALL_DIGITS = 9;

/** Bytes of a piece of text that are copied one by one; more are worth a call. */
const MOST_BY_ONE = 40;
/** Behind the end of each text, and a small integer to V8, as infinity is not. */
const NOWHERE = 0x3fffffff;

const QUOTE = 0x22;
const PLUS = 0x2b;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const BACKSLASH = 0x5c;

/** Kinds of values, by their first byte. */
export const JSON_STRING = 1;
export const JSON_NUMBER = 2;
export const JSON_TRUE = 3;
export const JSON_FALSE = 4;
export const JSON_NULL = 5;
export const JSON_OBJECT = 6;
export const JSON_ARRAY = 7;
/** Nothing that begins a value. */
export const JSON_NONE = 0;

/** Thrown inside the readers of this directory where a text is no JSON of the lenient kind; never leaves them. */
export class JsonSyntaxError extends Error {}

/**
 * Made once: a stack trace for each log line that is no JSON would cost more than reading it.
 */
const NOT_JSON = new JsonSyntaxError('not JSON');

/** Where a string with escapes is put together. Holds nothing between calls. */
let unescaped = Buffer.allocUnsafeSlow(16 * 1024);

/**
 * Reads the tokens of lenient JSON in a byte string (decoding.md 4.8): bytes up to 0x20 are white space, control
 * characters may stand in strings, numbers are what C's strtod() takes, and strings end at a NUL. The caller walks the
 * structure: one object serves all texts, so that reading allocates only values.
 */
export class JsonReader {
  #text = '';
  #pos = 0;
  #depth = 0;
  /** Elements and members that were gone over since the start. */
  values = 0;
  /** Next backslash at or behind the position, or `NOWHERE`: strings before it need no look at each byte. */
  #backslash = 0;

  /** Begins with a text: a byte order mark and white space are skipped. */
  start(text: string, from = 0): void {
    this.#text = text;
    this.#pos = text.startsWith('\xef\xbb\xbf', from) ? from + 3 : from;
    this.#depth = 0;
    this.values = 0;
    this.#backslash = -1;
    this.#skipSpace();
  }

  /** Whether nothing but white space is left. */
  atEnd(): boolean {
    this.#skipSpace();
    return this.#pos >= this.#text.length;
  }

  /** What kind of value stands at the position. */
  kind(): number {
    const code = this.#text.charCodeAt(this.#pos);
    switch (code) {
      case QUOTE:
        return JSON_STRING;
      case 0x7b:
        return JSON_OBJECT;
      case 0x5b:
        return JSON_ARRAY;
      case 0x74:
        return this.#text.startsWith('true', this.#pos) ? JSON_TRUE : JSON_NONE;
      case 0x66:
        return this.#text.startsWith('false', this.#pos) ? JSON_FALSE : JSON_NONE;
      case 0x6e:
        return this.#text.startsWith('null', this.#pos) ? JSON_NULL : JSON_NONE;
      default:
        return code === 0x2d || (code >= 0x30 && code <= 0x39) ? JSON_NUMBER : JSON_NONE;
    }
  }

  /** Goes behind `true`, `false` or `null`. */
  skipLiteral(kind: number): void {
    this.#pos += kind === JSON_FALSE ? 5 : 4;
  }

  /** Goes behind `{` or `[`; says whether the container has an element. */
  open(close: number): boolean {
    if (this.#depth >= MAX_DEPTH) {
      throw NOT_JSON;
    }
    this.#depth += 1;
    this.values += 1;
    this.#pos += 1;
    this.#skipSpace();
    if (this.#text.charCodeAt(this.#pos) !== close) {
      return true;
    }
    this.#pos += 1;
    this.#depth -= 1;
    return false;
  }

  /** After an element: goes behind `,` and says true, or behind the closing byte and says false. */
  next(close: number): boolean {
    this.#skipSpace();
    const code = this.#text.charCodeAt(this.#pos);
    this.#pos += 1;
    if (code === 0x2c) {
      this.values += 1;
      this.#skipSpace();
      return true;
    }
    if (code !== close) {
      throw NOT_JSON;
    }
    this.#depth -= 1;
    return false;
  }

  /** A member's name; the position is then on its value. */
  readKey(): string {
    const key = this.readString();
    this.#skipSpace();
    if (this.#text.charCodeAt(this.#pos) !== 0x3a) {
      throw NOT_JSON;
    }
    this.#pos += 1;
    this.#skipSpace();
    return key;
  }

  /** Goes behind a name that is written like this, with its quotes and colon, and says true; else the position stays. */
  skipKey(written: string): boolean {
    if (!this.#text.startsWith(written, this.#pos)) {
      return false;
    }
    this.#pos += written.length;
    this.#skipSpace();
    return true;
  }

  /** A string without its quotes and escapes, cut at a NUL. */
  readString(): string {
    if (this.#text.charCodeAt(this.#pos) !== QUOTE) {
      throw NOT_JSON;
    }
    const start = this.#pos + 1;
    const end = this.#text.indexOf('"', start);
    if (end < 0) {
      throw NOT_JSON;
    }
    if (this.#backslash < start) {
      const at = this.#text.indexOf('\\', start);
      this.#backslash = at < 0 ? NOWHERE : at;
    }
    if (end < this.#backslash) {
      this.#pos = end + 1;
      return this.#text.slice(start, end);
    }
    return this.#readEscaped(start);
  }

  #readEscaped(start: number): string {
    const text = this.#text;
    if (unescaped.length < text.length) {
      unescaped = Buffer.allocUnsafeSlow(2 * text.length);
    }
    const bytes = unescaped;
    let length = 0;
    let at = start;
    let quote = -1;
    // Both searches are kept until they are passed: looking for either from each escape on would be quadratic.
    for (;;) {
      if (quote < at) {
        quote = text.indexOf('"', at);
        if (quote < 0) {
          throw NOT_JSON;
        }
      }
      if (this.#backslash < at) {
        const found = text.indexOf('\\', at);
        this.#backslash = found < 0 ? NOWHERE : found;
      }
      const escape = this.#backslash;
      length = copyText(text, at, quote < escape ? quote : escape, bytes, length);
      if (quote < escape) {
        this.#pos = quote + 1;
        const value = bytes.toString('latin1', 0, length);
        const nul = value.indexOf('\0');
        return nul < 0 ? value : value.slice(0, nul);
      }
      const escaped = text.charCodeAt(escape + 1);
      if (escaped === 0x75) {
        const size = this.#unicodeLength(escape);
        const character = this.#readUnicode(escape, size);
        length = copyText(character, 0, character.length, bytes, length);
        at = escape + size;
      } else {
        bytes[length] = unescape(escaped);
        length += 1;
        at = escape + 2;
      }
    }
  }

  /** Length of the escape at `at`: 6, or 12 for a pair of surrogates. */
  #unicodeLength(at: number): number {
    const code = this.#hex(at + 2);
    return code >= 0xd800 && code <= 0xdbff ? 12 : 6;
  }

  #readUnicode(at: number, size: number): string {
    const first = this.#hex(at + 2);
    // The reference takes any four bytes before the end of the string; what is not hexadecimal counts as 0.
    if ((first >= 0xdc00 && first <= 0xdfff) || this.#text.slice(at + 2, at + 6).includes('"')) {
      throw NOT_JSON;
    }
    if (size === 6) {
      return utf8(first);
    }
    const second = this.#hex(at + 8);
    if (!this.#text.startsWith('\\u', at + 6) || second < 0xdc00 || second > 0xdfff) {
      throw NOT_JSON;
    }
    return utf8(0x10000 + (first - 0xd800) * 0x400 + (second - 0xdc00));
  }

  /** Four hexadecimal digits; 0 when they are not, as in the reference. */
  #hex(at: number): number {
    const digits = this.#text.slice(at, at + 4);
    return /^[0-9A-Fa-f]{4}$/.test(digits) ? parseInt(digits, 16) : 0;
  }

  /** A number as strtod() reads it. */
  readNumber(): number {
    const small = this.#readSmallInteger();
    if (small >= 0) {
      return small;
    }
    const end = this.#numberEnd();
    if (end < 0) {
      throw NOT_JSON;
    }
    const found = this.#text.slice(this.#pos, end);
    if (found.length <= MAX_NUMBER) {
      this.#pos += found.length;
      return Number(found);
    }
    const short = CUT_NUMBER.exec(found.slice(0, MAX_NUMBER))?.[0] ?? '';
    this.#pos += short.length;
    return Number(short);
  }

  /** Most numbers are a few digits, which need no regular expression; -1 for all others, the position then stays. */
  #readSmallInteger(): number {
    let value = 0;
    let at = this.#pos;
    for (const end = at + MAX_SMALL_DIGITS; at < end; at += 1) {
      const digit = this.#text.charCodeAt(at) - 0x30;
      if (!(digit >= 0 && digit <= 9)) {
        break;
      }
      value = value * 10 + digit;
    }
    const next = this.#text.charCodeAt(at);
    if (at === this.#pos || next === 0x2e || (next | 0x20) === 0x65 || (next >= 0x30 && next <= 0x39)) {
      return -1;
    }
    this.#pos = at;
    return value;
  }

  /** Where the longest text ends that strtod() takes, -1 where it takes none. */
  #numberEnd(): number {
    const text = this.#text;
    const start = text.charCodeAt(this.#pos) === MINUS ? this.#pos + 1 : this.#pos;
    let at = this.#digitsEnd(start);
    let digits = at - start;
    if (text.charCodeAt(at) === DOT) {
      const fraction = this.#digitsEnd(at + 1);
      digits += fraction - at - 1;
      at = fraction;
    }
    if (digits === 0) {
      return -1;
    }
    if ((text.charCodeAt(at) | 0x20) !== 0x65) {
      return at;
    }
    const sign = text.charCodeAt(at + 1);
    const exponent = sign === MINUS || sign === PLUS ? at + 2 : at + 1;
    const end = this.#digitsEnd(exponent);
    return end > exponent ? end : at;
  }

  #digitsEnd(from: number): number {
    const text = this.#text;
    let at = from;
    for (let code = text.charCodeAt(at); code >= 0x30 && code <= 0x39; code = text.charCodeAt(at)) {
      at += 1;
    }
    return at;
  }

  /**
   * A number that is printed as it stands here, and goes behind it: few digits, no needless ones, and no exponent. Undefined
   * for all others; the position then stays.
   */
  readPlainNumber(): string | undefined {
    const text = this.#text;
    const start = text.charCodeAt(this.#pos) === MINUS ? this.#pos + 1 : this.#pos;
    const whole = this.#digitsEnd(start);
    const isZero = text.charCodeAt(start) === ZERO;
    if (whole === start || whole - start > MAX_PLAIN_DIGITS || (isZero && whole > start + 1)) {
      return undefined;
    }
    let end = whole;
    if (text.charCodeAt(whole) === DOT) {
      end = this.#digitsEnd(whole + 1);
      const zeros = isZero ? this.#zerosFrom(whole + 1) : 0;
      const tooMany = end - 1 - start > MAX_PLAIN_DIGITS || zeros > MAX_PLAIN_ZEROS;
      if (end === whole + 1 || tooMany || text.charCodeAt(end - 1) === ZERO) {
        return undefined;
      }
    } else if (isZero && start > this.#pos) {
      return undefined;
    }
    if ((text.charCodeAt(end) | 0x20) === 0x65) {
      end = whole === start + 1 && !isZero ? this.#plainExponentEnd(end) : -1;
      if (end < 0) {
        return undefined;
      }
    }
    const number = text.slice(this.#pos, end);
    this.#pos = end;
    return number;
  }

  /** Where an exponent ends that is printed as it stands: two digits, or three that are no extreme; -1 for others. */
  #plainExponentEnd(at: number): number {
    const text = this.#text;
    const sign = text.charCodeAt(at + 1);
    const end = this.#digitsEnd(at + 2);
    const length = end - at - 2;
    const isLong = length === 3 && (text.charCodeAt(at + 2) === 0x31 || text.charCodeAt(at + 2) === 0x32);
    if (text.charCodeAt(at) !== 0x65 || (length !== 2 && !isLong)) {
      return -1;
    }
    const exponent = Number(text.slice(at + 2, end));
    return (sign === PLUS && exponent >= MAX_PLAIN_DIGITS) || (sign === MINUS && exponent > MAX_PLAIN_ZEROS + 1)
      ? end
      : -1;
  }

  #zerosFrom(from: number): number {
    let at = from;
    while (this.#text.charCodeAt(at) === ZERO) {
      at += 1;
    }
    return at - from;
  }

  #skipSpace(): void {
    while (this.#text.charCodeAt(this.#pos) <= 0x20) {
      this.#pos += 1;
    }
  }
}

const CUT_NUMBER = /^-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?/;

/** The byte that an escape of one letter means. */
function unescape(code: number): number {
  switch (code) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f:
      return code;
    case 0x62:
      return 0x08;
    case 0x66:
      return 0x0c;
    case 0x6e:
      return 0x0a;
    case 0x72:
      return 0x0d;
    case 0x74:
      return 0x09;
    default:
      throw NOT_JSON;
  }
}

/** Copies the bytes `from` up to `to` behind the `length` that are there; gives how many these are then. */
function copyText(text: string, from: number, to: number, bytes: Buffer, length: number): number {
  if (to - from > MOST_BY_ONE) {
    return length + bytes.write(text.slice(from, to), length, 'latin1');
  }
  let end = length;
  for (let at = from; at < to; at += 1) {
    bytes[end] = text.charCodeAt(at);
    end += 1;
  }
  return end;
}

/** UTF-8 bytes of a code point. */
function utf8(code: number): string {
  if (code < 0x80) {
    return String.fromCharCode(code);
  }
  if (code < 0x800) {
    return String.fromCharCode(0xc0 | (code >> 6), 0x80 | (code & 0x3f));
  }
  if (code < 0x10000) {
    return String.fromCharCode(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f));
  }
  return String.fromCharCode(
    0xf0 | (code >> 18),
    0x80 | ((code >> 12) & 0x3f),
    0x80 | ((code >> 6) & 0x3f),
    0x80 | (code & 0x3f),
  );
}
