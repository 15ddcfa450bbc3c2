import { rmSync } from 'node:fs';
import { writeFileAtomically } from '../files/write-file-atomically.js';
import { describeError } from '../log/describe-error.js';

const MODE = 0o640;

/** The file in which a running daemon shows its counters to scripts; there is none while it does not run. */
export class StateFile {
  readonly #path: string;
  readonly #complain: (problem: string) => void;

  /** @param complain told that a text was not written, and why: the daemon goes on */
  constructor(path: string, complain: (problem: string) => void) {
    this.#path = path;
    this.#complain = complain;
  }

  /** Replaces what it holds. Never fails. */
  write(text: string): void {
    try {
      writeFileAtomically(this.#path, text, { mode: MODE });
    } catch (error) {
      this.#complain(`The state file '${this.#path}' was not written: ${describeError(error)}`);
    }
  }

  /** @throws the file system's error, but for a file that is not there */
  remove(): void {
    rmSync(this.#path, { force: true });
  }
}
