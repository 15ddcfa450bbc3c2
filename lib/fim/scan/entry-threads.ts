import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { EntryOutcome } from './entry-outcome.js';
import type { ReadLimits } from './entry-reader.js';

/** Most threads: beyond that the walk is what a scan waits for. */
const MOST_THREADS = 4;

/** Memory for what lives shortly: answers are gone as soon as they are sent, and the usual 48 MB only fill up with them. */
const YOUNG_MEGABYTES = 6;

/** What a thread is started with. */
export type ThreadData = { readonly limits: ReadLimits; readonly stop: SharedArrayBuffer };

/** Files to look at, all with the same hashes. */
export type ReadRequest = {
  readonly id: number;
  /** Byte strings. */
  readonly paths: readonly string[];
  /** Bits of `CHECKS`. */
  readonly hashes: number;
  /** Stamps of known entries, by the place of their paths. */
  readonly known?: readonly (string | undefined)[] | undefined;
};

/** What became of them, in their order. */
export type ReadAnswer = { readonly id: number; readonly outcomes: EntryOutcome[] };

type Waiting = { readonly resolve: (outcomes: EntryOutcome[]) => void; readonly reject: (error: Error) => void };
type Thread = { readonly worker: Worker; waiting: number };

/** Threads that look at files (entry-thread.ts). What each holds of contents is one piece of `CHUNK_BYTES`. */
export class EntryThreads {
  readonly #stop = new SharedArrayBuffer(4);
  readonly #waiting = new Map<number, Waiting>();
  readonly #threads: readonly Thread[];
  #failure: Error | undefined;
  #lastId = 0;

  /** @param count threads, at least 1; as many as there are processors by default */
  constructor(limits: ReadLimits, count: number = Math.min(availableParallelism(), MOST_THREADS)) {
    const data: ThreadData = { limits, stop: this.#stop };
    this.#threads = Array.from({ length: count }, () => this.#begin(data));
  }

  /** Threads there are. */
  get count(): number {
    return this.#threads.length;
  }

  /** Why nothing is read any more: a thread broke, or they were closed. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** @throws Error when a thread broke */
  read(paths: readonly string[], hashes: number, known?: readonly (string | undefined)[]): Promise<EntryOutcome[]> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const thread = this.#threads.reduce((least, other) => (other.waiting < least.waiting ? other : least));
    const request: ReadRequest = { id: ++this.#lastId, paths, hashes, known };
    return new Promise((resolve, reject) => {
      this.#waiting.set(request.id, {
        resolve: (outcomes) => {
          thread.waiting -= paths.length;
          resolve(outcomes);
        },
        reject,
      });
      thread.waiting += paths.length;
      thread.worker.postMessage(request);
    });
  }

  /** Calls off what is under way: it ends soon with `stopped`, in the middle of a file too. */
  stop(): void {
    Atomics.store(new Int32Array(this.#stop), 0, 1);
  }

  /** Ends the threads; what still waits fails. One in a system call that does not return is left behind. */
  async close(): Promise<void> {
    this.stop();
    this.#fail(new Error('The threads that read files were closed'));
    await Promise.all(this.#threads.map(({ worker }) => worker.terminate()));
  }

  #begin(workerData: ThreadData): Thread {
    const worker = new Worker(new URL('./entry-thread.js', import.meta.url), {
      workerData,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MEGABYTES },
    });
    worker.on('message', ({ id, outcomes }: ReadAnswer) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      waiting?.resolve(outcomes);
    });
    worker.on('error', (error) => {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    });
    worker.on('exit', () => {
      this.#fail(new Error('A thread that reads files ended'));
    });
    return { worker, waiting: 0 };
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
