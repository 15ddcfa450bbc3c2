/** Time before a run counts as a long one, and between two changes of the line. */
const DELAY_MS = 300;
const CHANGE_MS = 100;

/** A line on a terminal that says how far a long run is; on anything else it says nothing. */
export class ProgressLine {
  readonly #write: (text: string) => unknown;
  readonly #terminal: boolean;
  readonly #begin = performance.now();
  #changed = 0;
  #shown = false;

  constructor(write: (text: string) => unknown, terminal: boolean) {
    this.#write = write;
    this.#terminal = terminal;
  }

  /** @param text how far it is: `3 of 40 tests, 1 failed` */
  update(text: string): void {
    const now = performance.now();
    if (!this.#terminal || now - this.#begin < DELAY_MS || now - this.#changed < CHANGE_MS) {
      return;
    }
    this.#changed = now;
    this.#shown = true;
    this.#write(`\r\u001b[K${text}`);
  }

  /** Takes the line away, so that something else can be written. */
  clear(): void {
    if (this.#shown) {
      this.#shown = false;
      this.#write('\r\u001b[K');
    }
  }
}
