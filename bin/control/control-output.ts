import { shownLines } from '../terminal/shown-text.js';

/** What a command says: lines for people, one JSON document with `-j` (daemons-and-config.md 3.1). */
export class ControlOutput {
  readonly json: boolean;
  readonly #write: (text: string) => void;
  readonly #writeError: (text: string) => void;

  constructor(json: boolean, write: (text: string) => void, writeError: (text: string) => void) {
    this.json = json;
    this.#write = write;
    this.#writeError = writeError;
  }

  /** A line for people. */
  line(text: string): void {
    if (!this.json) this.#write(`${text}\n`);
  }

  /** A line about something that went wrong; in it are words of daemons, and the terminal may be root's. */
  problem(text: string): void {
    if (!this.json) this.#writeError(`${shownLines(text)}\n`);
  }

  /** The JSON document: one line. */
  document(value: Readonly<Record<string, unknown>>): void {
    if (this.json) this.#write(`${JSON.stringify(value)}\n`);
  }

  /** Text that is the same with and without `-j`. */
  raw(text: string): void {
    this.#write(text);
  }
}
