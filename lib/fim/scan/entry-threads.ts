import { availableParallelism } from 'node:os';
import { Thread } from '../../thread/thread.js';
import type { EntryOutcome } from './entry-outcome.js';
import type { ReadLimits } from './entry-reader.js';

/** Most threads: beyond that the walk is what a scan waits for. */
const MOST_THREADS = 4;

/** Memory for what lives shortly: answers are gone as soon as they are sent, and the usual 48 MB only fill up with them. */
const YOUNG_MEGABYTES = 6;

/** Files to look at, all with the same hashes. */
export type ReadRequest = {
  /** Byte strings. */
  readonly paths: readonly string[];
  /** Bits of `CHECKS`. */
  readonly hashes: number;
  /** Stamps of known entries, by the place of their paths. */
  readonly known?: readonly (string | undefined)[] | undefined;
};

/** A thread that looks at files (entry-thread.ts). */
export type EntryThread = {
  readonly data: { readonly limits: ReadLimits; readonly stop: SharedArrayBuffer };
  readonly calls: {
    /** What became of them, in their order. */
    readonly read: (request: ReadRequest) => EntryOutcome[];
  };
};

/** @see EntryThreads.read */
type Reader = { thread: Thread<EntryThread> | undefined; waiting: number };

/**
 * Threads that look at files; each begins with the first file that it gets. What each holds of contents is one piece of
 * `CHUNK_BYTES`, and beside that some 5 MB.
 */
export class EntryThreads {
  readonly #limits: ReadLimits;
  readonly #stop = new SharedArrayBuffer(4);
  readonly #readers: readonly Reader[];
  #failure: Error | undefined;

  /** @param count threads, at least 1; as many as there are processors by default */
  constructor(limits: ReadLimits, count: number = Math.min(availableParallelism(), MOST_THREADS)) {
    this.#limits = limits;
    this.#readers = Array.from({ length: count }, () => ({ thread: undefined, waiting: 0 }));
  }

  /** Most threads that there are at once. */
  get count(): number {
    return this.#readers.length;
  }

  /** Why nothing is read any more: a thread broke, or they were closed. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Has the thread read that has the fewest files before it. @throws Error when a thread broke */
  async read(
    paths: readonly string[],
    hashes: number,
    known?: readonly (string | undefined)[],
  ): Promise<EntryOutcome[]> {
    if (this.#failure !== undefined) throw this.#failure;
    const reader = this.#readers.reduce((least, other) => (other.waiting < least.waiting ? other : least));
    reader.waiting += paths.length;
    const thread = (reader.thread ??= this.#begin());
    const outcomes = await thread.call('read', { paths, hashes, known });
    reader.waiting -= paths.length;
    return outcomes;
  }

  /** Calls off what is under way: it ends soon with `stopped`, in the middle of a file too. */
  stop(): void {
    Atomics.store(new Int32Array(this.#stop), 0, 1);
  }

  /** Ends the threads that have nothing to read, until there is something again. */
  rest(): void {
    for (const reader of this.#readers) {
      if (reader.waiting > 0) continue;
      void reader.thread?.close();
      reader.thread = undefined;
    }
  }

  /** Ends the threads; what still waits fails. */
  async close(): Promise<void> {
    this.stop();
    await this.#end(new Error('The threads that read files were closed'));
  }

  #begin(): Thread<EntryThread> {
    return new Thread(new URL('./entry-thread.js', import.meta.url), {
      title: 'A thread that reads files',
      data: { limits: this.#limits, stop: this.#stop },
      memory: { young: YOUNG_MEGABYTES },
      onFailure: (error) => void this.#end(error),
    });
  }

  /** Without one of them none is of use. */
  async #end(error: Error): Promise<void> {
    this.#failure ??= error;
    await Promise.all(this.#readers.map(async ({ thread }) => thread?.close(error)));
  }
}
