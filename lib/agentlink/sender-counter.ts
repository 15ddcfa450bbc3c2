import { readSync, type Stats, writeSync } from 'node:fs';
import { withRegularFileSync } from '../files/regular-file.js';
import { type CounterPair, formatCounters, laterCounters, NO_COUNTERS, parseCounters } from './message-counters.js';

const MODE = 0o640;
/** More than the text of the largest pair. */
const FILE_BYTES = 64;
/** Messages a write of the file is good for. */
const RESERVED = 256;

/**
 * The counters of what this process sends, kept in `queue/rids/sender_counter` (agents-and-groups.md 3.4).
 *
 * The file is always ahead: before the first message of a block of 256, the last counters of the block are written. A
 * process that is killed therefore never uses counters again, for one small write in 256 messages; receivers accept gaps.
 */
export class SenderCounter {
  readonly #path: string;
  readonly #onProblem: (error: unknown) => void;
  #last: CounterPair = NO_COUNTERS;
  /** Messages that may be sent before the next write. */
  #left = 0;
  #inode: number | undefined;

  /**
   * @param onProblem told when the file cannot be read or written; counting goes on in memory
   */
  constructor(path: string, onProblem: (error: unknown) => void) {
    this.#path = path;
    this.#onProblem = onProblem;
  }

  /** The counters for the next message. */
  next(): CounterPair {
    if (this.#left === 0) this.#reserve();
    this.#left -= 1;
    this.#last = laterCounters(this.#last);
    return this.#last;
  }

  /** Writes the counters used last, so that nothing is left out after an orderly stop. */
  close(): void {
    if (this.#inode === undefined) return;
    this.#left = 0;
    this.#withFile((fd) => this.#write(fd, this.#last));
  }

  #reserve(): void {
    this.#left = RESERVED;
    this.#withFile((fd, { ino }) => {
      // Another file under the name, or the first look at it: it says where to go on.
      if (ino !== this.#inode) this.#last = readCounters(fd) ?? this.#last;
      this.#inode = ino;
      this.#write(fd, laterCounters(this.#last, RESERVED));
    });
  }

  /** What was longer stays behind the new text; readers stop after the second number. */
  #write(fd: number, pair: CounterPair): void {
    writeSync(fd, formatCounters(pair), 0);
  }

  #withFile(work: (fd: number, stats: Stats) => void): void {
    try {
      withRegularFileSync(this.#path, work, { access: 'update', makeMode: MODE });
    } catch (error) {
      this.#onProblem(error);
    }
  }
}

/** Reads the pair at the start of a counter file. @throws the file system's error */
export function readCounters(fd: number): CounterPair | undefined {
  const bytes = Buffer.alloc(FILE_BYTES);
  return parseCounters(bytes.toString('latin1', 0, readSync(fd, bytes, 0, FILE_BYTES, 0)));
}
