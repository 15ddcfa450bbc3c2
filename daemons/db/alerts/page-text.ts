const NEWLINE = 0x0a;
/** What is looked at in one go: texts of more than 100 KB have memory of their own, which takes twenty times as long. */
const PIECE_BYTES = 32 * 1024;
/**
 * The letters beyond ASCII that are ASCII in lower case, a dotted I and the sign of Kelvin: their bytes, in lower case. They are in
 * hardly any page.
 */
const MAYBE_ASCII = ['\u00e4\u00b0', '\u00e2\u0084\u00aa'];

/** The lines of a page: each is made a text when it is asked for. */
export class PageText {
  readonly bytes: Buffer;
  /** Where each line begins; the last one is behind the end. */
  readonly #starts: readonly number[];

  /** @param bytes of the lines, a line end between two */
  constructor(bytes: Buffer) {
    this.bytes = bytes;
    const starts = [0];
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) starts.push(at + 1);
    starts.push(bytes.length + 1);
    this.#starts = starts;
  }

  /** How many lines there are. */
  get rows(): number {
    return this.#starts.length - 1;
  }

  /** Where a line begins, and, for the number of lines, where the next page would. */
  start(index: number): number {
    return this.#starts[index] ?? this.bytes.length + 1;
  }

  line(index: number): string {
    return this.bytes.toString('utf8', this.start(index), this.start(index + 1) - 1);
  }

  /**
   * Lines that may have all of some texts of ASCII characters that JSON writes as they are, whatever the case.
   * @returns a byte for each line
   */
  linesWith(texts: readonly string[]): Uint8Array {
    const found = new Uint8Array(this.rows);
    for (let first = 0; first < this.rows;) {
      let behind = first + 1;
      while (behind < this.rows && this.start(behind + 1) - this.start(first) <= PIECE_BYTES) behind += 1;
      this.#look(texts, first, behind, found);
      first = behind;
    }
    return found;
  }

  /** Looks at the lines from the first on, before the second. */
  #look(texts: readonly string[], first: number, behind: number, found: Uint8Array): void {
    const from = this.start(first);
    // A character a byte, so that places in it are places in the bytes.
    const piece = this.bytes.toString('latin1', from, this.start(behind) - 1).toLowerCase();
    if (MAYBE_ASCII.some((letter) => piece.includes(letter))) {
      found.fill(1, first, behind);
      return;
    }
    let rows: number[] = [];
    for (const [index, text] of texts.entries()) {
      const before = rows;
      rows = [];
      let row = first;
      for (let at = piece.indexOf(text); at >= 0; at = piece.indexOf(text, this.start(row + 1) - from)) {
        while (this.start(row + 1) - from <= at) row += 1;
        if (index === 0 || before.includes(row)) rows.push(row);
        if (row + 1 >= behind) break;
      }
      if (rows.length === 0) return;
    }
    for (const row of rows) found[row] = 1;
  }
}
