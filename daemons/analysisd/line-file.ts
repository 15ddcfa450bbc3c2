import { existsSync, readFileSync } from 'node:fs';
import { AppendFile, type CloseOptions, type FileRepair } from '../../lib/output/append-file.js';

const DIRECTORY_MODE = 0o750;

/**
 * A small append-only file of byte-string lines, such as `queue/fts/fts-queue`: read whole at start, one line added at a
 * time. Lines are collected and written by `flush`, with the outputs they belong to, and take part in replay as they do
 * (see `AppendFile`). The file comes to be with its first line.
 */
export class LineFile {
  readonly #file: AppendFile;
  /** Bytes that were there at the start. */
  readonly #start: number;

  /**
   * @param state of an earlier run: replay begins there; without one the file is continued at its end
   * @param onRepair told what was found wrong with the file
   * @throws the file system's error
   */
  constructor(path: string, state?: number, onRepair: (repair: FileRepair) => void = () => {}) {
    this.#file = new AppendFile(
      path,
      { recordEnd: '\n', directoryMode: DIRECTORY_MODE, onRepair },
      state === undefined ? undefined : { length: state },
    );
    if (state !== undefined ? state > 0 : existsSync(path)) this.#file.open();
    this.#start = this.#file.position;
  }

  /** The lines that were there at the start, or at the state it began with, without empty ones. */
  read(): string[] {
    if (this.#start === 0) return [];
    return readFileSync(this.#file.path)
      .toString('latin1', 0, this.#start)
      .split('\n')
      .filter((line) => line !== '');
  }

  /** Adds text; whoever adds says where lines end. */
  append(text: string): void {
    this.#file.append(text);
  }

  /** @throws the file system's error; what was appended stays for the next flush */
  flush(): void {
    this.#file.flush();
  }

  /** Bytes written with everything appended so far. A checkpoint waits for a `sync` begun after it. */
  state(): number {
    return this.#file.position;
  }

  /** Flushes and waits until everything is on the disk itself. @throws the file system's error */
  sync(): Promise<void> {
    return this.#file.sync();
  }

  /** Replay has given everything: whole lines beyond stay. Errors as `flush`; call it again then. */
  endReplay(): void {
    this.#file.endReplay();
  }

  /** Flushes, syncs and closes. */
  close(options?: CloseOptions): void {
    this.#file.close(options);
  }
}
