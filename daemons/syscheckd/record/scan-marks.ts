/** Numbers in one page of marks: a kilobyte of them, so that numbers far apart cost little. */
const PAGE_NUMBERS = 1024;
const WORD_BITS = 32;

/** Which rows a scan has come across, by their numbers. */
export class ScanMarks {
  /** Rows from this number on were made after the scan began: they never count as unseen. */
  readonly firstNew: number;
  /** Files that were not recorded because of `file_limit`. */
  overLimit = 0;
  readonly #pages = new Map<number, Uint32Array>();
  readonly #onEnd: (marks: ScanMarks) => void;

  /** Made by `Recorder.beginScan`. */
  constructor(firstNew: number, onEnd: (marks: ScanMarks) => void) {
    this.firstNew = firstNew;
    this.#onEnd = onEnd;
  }

  mark(number: number): void {
    const at = Math.floor(number / PAGE_NUMBERS);
    let page = this.#pages.get(at);
    if (page === undefined) {
      page = new Uint32Array(PAGE_NUMBERS / WORD_BITS);
      this.#pages.set(at, page);
    }
    const bit = number % PAGE_NUMBERS;
    const word = bit >>> 5;
    page[word] = (page[word] ?? 0) | (1 << (bit & 31));
  }

  /** Whether the row was come across, or is younger than the scan. */
  has(number: number): boolean {
    if (number >= this.firstNew) return true;
    const bit = number % PAGE_NUMBERS;
    const word = this.#pages.get(Math.floor(number / PAGE_NUMBERS))?.[bit >>> 5] ?? 0;
    return (word & (1 << (bit & 31))) !== 0;
  }

  /** The scan is over, or was called off: nothing marks here any more. */
  end(): void {
    this.#onEnd(this);
  }
}
