/** Longest line that is sent whole (daemons-and-config.md 6.2). */
export const MAX_LINE_BYTES = 65_279;

const NEWLINE = 10;
const RETURN = 13;

/** A complete line of a file. */
export type LogLine = {
  /** Without line end; may share memory with the chunk it came in. Never longer than `MAX_LINE_BYTES`. */
  readonly bytes: Buffer;
  /** Offset in the file behind the line end. */
  readonly end: number;
  /** Bytes of the line, more than `bytes` holds when its rest was thrown away. */
  readonly length: number;
};

/**
 * Cuts what is read from a file into lines. A line without its end is kept until the rest comes; of one that is too long
 * only the head, so memory is bounded whatever the file holds.
 */
export class LineSplitter {
  /** Head of the line that is not complete. */
  #held: Buffer = Buffer.alloc(0);
  /** Bytes of that line so far, `#held` and what was thrown away. */
  #heldLength = 0;
  #offset: number;

  /** @param offset where the first chunk begins in the file */
  constructor(offset: number) {
    this.#offset = offset;
  }

  /** Offset behind everything that was pushed. */
  get offset(): number {
    return this.#offset;
  }

  /** Offset at which the incomplete line begins; the same as `offset` when there is none. */
  get lineStart(): number {
    return this.#offset - this.#heldLength;
  }

  /** Takes the next bytes of the file and gives the lines that they complete. */
  push(chunk: Buffer): LogLine[] {
    const lines: LogLine[] = [];
    let start = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, start)) {
      lines.push(this.#complete(chunk.subarray(start, at), this.#offset + at + 1));
      start = at + 1;
    }
    this.#hold(chunk.subarray(start));
    this.#offset += chunk.length;
    return lines;
  }

  /** Gives up waiting for the end of the last line: of a file that nobody writes any more. */
  finish(): LogLine | undefined {
    if (this.#heldLength === 0) {
      return undefined;
    }
    const line = this.#line(this.#held, this.#heldLength, this.#offset);
    this.#drop();
    return line;
  }

  #complete(rest: Buffer, end: number): LogLine {
    if (this.#heldLength === 0) {
      return this.#line(rest, rest.length, end);
    }
    const length = this.#heldLength + rest.length;
    const line = this.#line(Buffer.concat([this.#held, rest.subarray(0, this.#room)]), length, end);
    this.#drop();
    return line;
  }

  #line(bytes: Buffer, length: number, end: number): LogLine {
    // Of a longer line the end may not be in memory any more.
    const hasReturn = length <= MAX_LINE_BYTES + 1 && bytes[bytes.length - 1] === RETURN;
    const text = hasReturn ? bytes.subarray(0, -1) : bytes;
    return { bytes: text.subarray(0, MAX_LINE_BYTES), end, length: hasReturn ? length - 1 : length };
  }

  /** Keeps the beginning of a line; a copy, so that what else was read with it need not stay in memory. */
  #hold(bytes: Buffer): void {
    if (bytes.length === 0) {
      return;
    }
    const kept = bytes.subarray(0, this.#room);
    if (kept.length > 0) {
      this.#held = Buffer.concat([this.#held, kept]);
    }
    this.#heldLength += bytes.length;
  }

  /** One byte more than a line may have, so that a carriage return behind the longest line is seen. */
  get #room(): number {
    return Math.max(0, MAX_LINE_BYTES + 1 - this.#held.length);
  }

  #drop(): void {
    this.#held = Buffer.alloc(0);
    this.#heldLength = 0;
  }
}
