import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

const FILE_MODE = 0o640;

/**
 * A small append-only file of byte-string lines, such as `queue/fts/fts-queue`: read whole at start, one line added at a
 * time. Lines are collected and written by `flush`, with the outputs they belong to.
 */
export class LineFile {
  readonly #path: string;
  #pending = '';

  constructor(path: string) {
    this.#path = path;
  }

  /** All lines, without empty ones. A last line that was torn by a crash counts as it is. */
  read(): string[] {
    if (!existsSync(this.#path)) return [];
    return readFileSync(this.#path, 'latin1')
      .split('\n')
      .filter((line) => line !== '');
  }

  /** Adds text; whoever adds says where lines end. */
  append(text: string): void {
    this.#pending += text;
  }

  /** @throws the file system's error; what was appended stays for the next flush */
  flush(): void {
    if (this.#pending === '') return;
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o750 });
    appendFileSync(this.#path, Buffer.from(this.#pending, 'latin1'), { mode: FILE_MODE });
    this.#pending = '';
  }
}
