import { readFileSync, statSync } from 'node:fs';
import { OnceATurn } from '../once-a-turn.js';

/** Reads a file again only when it changed, and looks at it once a turn of the event loop: cheap enough for every request. */
export class WatchedFile {
  readonly path: string;
  readonly #look = new OnceATurn();
  #mark: string | undefined;
  #text: string | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /**
   * @returns the content, undefined when there is no file, and whether it differs from what the last call saw
   * @throws the file system's error when the file cannot be read; the next call tries again
   */
  read(): { readonly text: string | undefined; readonly changed: boolean } {
    if (this.#mark !== undefined && !this.#look.due()) return { text: this.#text, changed: false };
    const stats = statSync(this.path, { throwIfNoEntry: false, bigint: true });
    const mark = stats === undefined ? 'absent' : [stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(':');
    if (mark === this.#mark) return { text: this.#text, changed: false };
    this.#mark = undefined;
    this.#text = stats === undefined ? undefined : readFileSync(this.path, 'utf8');
    this.#mark = mark;
    return { text: this.#text, changed: true };
  }

  /** The file was written by this process: the next call looks at it. */
  written(): void {
    this.#look.forget();
  }
}
