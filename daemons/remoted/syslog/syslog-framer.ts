import { MAX_SYSLOG_BYTES } from './syslog-limits.js';

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const BLANK = 0x20;
const LESS = 0x3c;
const ZERO = 0x30;
/** Digits of a length; a longer one is no length of a message. */
const MAX_DIGITS = 7;
const NOTHING = Buffer.alloc(0);

/** A length that cannot be true: where the next message begins is not known any more. */
export class SyslogFramingError extends Error {
  override readonly name = 'SyslogFramingError';
}

/**
 * Cuts a TCP stream into messages (RFC 6587): lines, or a length and a blank before each message. The first bytes decide
 * for the whole connection, so that a text that looks like a length cannot hide the lines after it. Bytes go in with `push`,
 * messages come out with `next` one by one, so that the caller can stop in the middle of a chunk and go on later.
 *
 * Messages share memory with the chunk they came in. What is held of a message in parts is what its sender has sent, and no
 * more than a message may have and one chunk.
 */
export class SyslogFramer {
  readonly #tooLong: () => void;
  #bytes: Buffer = NOTHING;
  #at = 0;
  /** Before it no newline is left. */
  #scanned = 0;
  #counted: boolean | undefined;
  /** The rest of a message that was too long: a number of bytes, or all up to the next newline. */
  #skip: number | 'line' = 0;

  /** @param tooLong told of each message of which only the head is given */
  constructor(tooLong: () => void) {
    this.#tooLong = tooLong;
  }

  /** Whether a message has begun and is not complete. */
  get unfinished(): boolean {
    return this.#at < this.#bytes.length || this.#skip !== 0;
  }

  push(chunk: Buffer): void {
    const left = this.#bytes.length - this.#at;
    this.#scanned = Math.max(0, this.#scanned - this.#at);
    this.#bytes = left > 0 ? Buffer.concat([this.#bytes.subarray(this.#at), chunk]) : chunk;
    this.#at = 0;
  }

  /** The next complete message that is not empty; undefined when more bytes are needed. @throws SyslogFramingError */
  next(): Buffer | undefined {
    this.#counted ??= this.#isCounted();
    if (this.#counted === undefined) return undefined;
    return this.#counted ? this.#nextCounted() : this.#nextLine();
  }

  /** What is left of a message whose end does not come any more. */
  rest(): Buffer | undefined {
    const rest = this.#skip === 0 ? this.#bytes.subarray(this.#at) : NOTHING;
    this.#bytes = NOTHING;
    this.#at = 0;
    if (rest.length === 0) return undefined;
    const blank = this.#counted === true ? rest.indexOf(BLANK) + 1 : 0;
    return this.#cut(rest.subarray(blank));
  }

  #nextLine(): Buffer | undefined {
    for (;;) {
      const end = this.#bytes.indexOf(NEWLINE, Math.max(this.#at, this.#scanned));
      if (end < 0) return this.#lineInParts();
      const start = this.#at;
      this.#at = end + 1;
      if (this.#skip !== 0) {
        this.#skip = 0;
        continue;
      }
      const last = end > start && this.#bytes[end - 1] === RETURN ? end - 1 : end;
      if (last > start) return this.#cut(this.#bytes.subarray(start, last));
    }
  }

  /** The head of a line that is too long already; its rest is left out. */
  #lineInParts(): Buffer | undefined {
    this.#scanned = this.#bytes.length;
    if (this.#skip !== 0) {
      this.#at = this.#bytes.length;
      return undefined;
    }
    const part = this.#bytes.subarray(this.#at);
    if (part.length <= MAX_SYSLOG_BYTES) return undefined;
    this.#at = this.#bytes.length;
    this.#skip = 'line';
    return this.#cut(part);
  }

  #nextCounted(): Buffer | undefined {
    for (;;) {
      this.#skipCounted();
      // Some end each message with a newline all the same.
      while (this.#bytes[this.#at] === NEWLINE || this.#bytes[this.#at] === RETURN) this.#at += 1;
      const length = this.#length();
      if (length === undefined) return undefined;
      const start = length.end;
      if (this.#bytes.length - start < Math.min(length.bytes, MAX_SYSLOG_BYTES + 1)) return undefined;
      this.#at = Math.min(this.#bytes.length, start + length.bytes);
      this.#skip = start + length.bytes - this.#at;
      if (length.bytes > 0) return this.#cut(this.#bytes.subarray(start, this.#at));
    }
  }

  #skipCounted(): void {
    if (typeof this.#skip !== 'number' || this.#skip === 0) return;
    const skipped = Math.min(this.#skip, this.#bytes.length - this.#at);
    this.#at += skipped;
    this.#skip -= skipped;
  }

  /** The length that stands here; undefined while it is not there in full. */
  #length(): { readonly bytes: number; readonly end: number } | undefined {
    let at = this.#at;
    let bytes = 0;
    while (isDigit(this.#bytes[at])) {
      bytes = bytes * 10 + (this.#bytes[at] ?? 0) - ZERO;
      at += 1;
      if (at - this.#at > MAX_DIGITS) throw new SyslogFramingError('a length with too many digits');
    }
    if (at === this.#bytes.length) return undefined;
    if (at === this.#at || this.#bytes[at] !== BLANK) throw new SyslogFramingError('no length where one should be');
    return { bytes, end: at + 1 };
  }

  /** Whether the stream begins with a length, a blank and a priority; undefined while that is open. */
  #isCounted(): boolean | undefined {
    const { length } = this.#bytes;
    let at = this.#at;
    while (at < length && isDigit(this.#bytes[at])) at += 1;
    const digits = at - this.#at;
    if (digits > MAX_DIGITS) return false;
    if (at === length) return undefined;
    if (digits === 0 || this.#bytes[this.#at] === ZERO || this.#bytes[at] !== BLANK) return false;
    return at + 1 === length ? undefined : this.#bytes[at + 1] === LESS;
  }

  #cut(message: Buffer): Buffer {
    if (message.length <= MAX_SYSLOG_BYTES) return message;
    this.#tooLong();
    return message.subarray(0, MAX_SYSLOG_BYTES);
  }
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= ZERO + 9;
}
