import { Worker } from 'node:worker_threads';
import type { CallInput, CallOutput, ThreadContract, ThreadOrder, ThreadWord } from './thread-contract.js';

/** The thread ended though it was still wanted: by itself, or it was closed. */
export class ThreadEndedError extends Error {
  override readonly name = 'ThreadEndedError';
  readonly code = 'thread_ended';
  readonly exitCode: number | undefined;

  /** @param title the thread in words, the beginning of the message */
  constructor(title: string, exitCode?: number) {
    super(`${title} ended`);
    this.exitCode = exitCode;
  }
}

/** Megabytes that a thread may hold before it ends with an error; what is left out is Node's own limit. */
export type ThreadMemory = { readonly old?: number; readonly young?: number };

export type ThreadOptions<C extends ThreadContract> = {
  /** The thread in words for errors, such as `the thread that reads files`. */
  readonly title: string;
  readonly data: C['data'];
  readonly memory?: ThreadMemory;
  /** Hears what the thread says; the thread knows it as taken when this resolves, and is closed when it rejects. */
  readonly onNews?: (news: C['news']) => void | Promise<void>;
  /** Told once when the thread broke or ended without being closed. Calls have failed with the same error. */
  readonly onFailure?: (error: Error) => void;
};

type WaitingCall = { readonly resolve: (output: unknown) => void; readonly reject: (error: Error) => void };

/**
 * A thread that answers calls (`serveThread` is its other side). An error that it ends with keeps its message and code, not
 * its class. It is not begun anew: that is for who has it to decide.
 */
export class Thread<C extends ThreadContract> {
  readonly #worker: Worker;
  readonly #options: ThreadOptions<C>;
  readonly #waiting = new Map<number, WaitingCall>();
  #lastId = 0;
  #failure: Error | undefined;

  /** @param module of the thread: `new URL('./x-thread.js', import.meta.url)` */
  constructor(module: URL, options: ThreadOptions<C>) {
    this.#options = options;
    const { data, memory = {}, title } = options;
    this.#worker = new Worker(module, {
      workerData: data,
      resourceLimits: {
        ...(memory.old === undefined ? {} : { maxOldGenerationSizeMb: memory.old }),
        ...(memory.young === undefined ? {} : { maxYoungGenerationSizeMb: memory.young }),
      },
    });
    this.#worker.on('message', (word: ThreadWord) => {
      if ('news' in word) this.#hear(word.news, word.number);
      else this.#answer(word.id, word.output);
    });
    this.#worker.on('error', (error) => {
      this.#break(error instanceof Error ? error : new Error(String(error)));
    });
    this.#worker.on('exit', (code) => {
      this.#break(new ThreadEndedError(title, code));
    });
  }

  /** Why it answers nothing any more; undefined as long as it does. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Asks the thread. Answers come in the order of the calls. @throws Error what the thread ended with */
  call<K extends keyof C['calls'] & string>(call: K, input: CallInput<C, K>): Promise<CallOutput<C, K>> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (output: unknown) => void, reject });
      this.#post({ id, call, input });
    });
  }

  /** Ends the thread; resolves when it is gone, never while it is in a system call that does not return. */
  async close(reason: Error = new ThreadEndedError(this.#options.title)): Promise<void> {
    this.#fail(reason);
    await this.#worker.terminate();
  }

  #post(order: ThreadOrder): void {
    this.#worker.postMessage(order);
  }

  #answer(id: number, output: unknown): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.resolve(output);
  }

  #hear(news: C['news'], number: number): void {
    if (this.#failure !== undefined) return;
    const taken = (): void => this.#post({ taken: number });
    const heard = this.#options.onNews?.(news);
    if (heard === undefined) taken();
    else heard.then(taken, (error: unknown) => void this.close(error as Error));
  }

  #break(error: Error): void {
    if (this.#fail(error)) this.#options.onFailure?.(error);
  }

  /** @returns whether it is the first failure */
  #fail(error: Error): boolean {
    if (this.#failure !== undefined) return false;
    this.#failure = error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    return true;
  }
}
