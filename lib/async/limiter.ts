/** Thrown by a {@link Limiter} when as many wait as may. */
export class LimiterFullError extends Error {
  override readonly name = 'LimiterFullError';
}

export type LimiterOptions = {
  /** Pieces of work that run at a time; 1 has them run one after another. */
  readonly atOnce: number;
  /** Those that wait beside them at most: each may hold megabytes. Without it any number waits. */
  readonly mostWaiting?: number;
  /** Of the work of one key so many at a time: one that hangs holds up its own only. */
  readonly atOncePerKey?: number;
};

/** What a piece of work says of itself. */
export type LimitedWork = {
  /** Whose share of places it takes, see {@link LimiterOptions.atOncePerKey}. */
  readonly key?: string;
  /** Ends its waiting; work that has begun sees to itself. */
  readonly signal?: AbortSignal;
};

type WaitingWork = { readonly key: string; readonly begin: () => void };

/**
 * Lets so many pieces of work run at a time. The others wait: whoever waits longest goes first, except that of one whose
 * key has its share the next ones go before.
 */
export class Limiter {
  readonly #options: LimiterOptions;
  readonly #running = new Map<string, number>();
  readonly #waiting = new Set<WaitingWork>();
  #active = 0;

  constructor(options: LimiterOptions) {
    this.#options = options;
  }

  /** Pieces of work that run. */
  get active(): number {
    return this.#active;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Runs a piece of work as soon as there is room; at once when there is.
   * @throws LimiterFullError; the signal's reason when it comes before the work began; what the work throws
   */
  async run<T>(work: () => T | Promise<T>, { key = '', signal }: LimitedWork = {}): Promise<T> {
    signal?.throwIfAborted();
    if (this.#hasRoom(key)) this.#enter(key);
    else await this.#wait(key, signal);
    try {
      return await work();
    } finally {
      this.#leave(key);
    }
  }

  #wait(key: string, signal: AbortSignal | undefined): Promise<void> {
    if (this.#waiting.size >= (this.#options.mostWaiting ?? Infinity)) {
      throw new LimiterFullError('too many wait already');
    }
    return new Promise((resolve, reject) => {
      const cancel = (): void => {
        this.#waiting.delete(waiting);
        reject(signal?.reason as Error);
      };
      const waiting: WaitingWork = {
        key,
        begin: () => {
          signal?.removeEventListener('abort', cancel);
          this.#waiting.delete(waiting);
          // The place is taken here, not when the work goes on: nobody who comes in between may have it.
          this.#enter(key);
          resolve();
        },
      };
      signal?.addEventListener('abort', cancel, { once: true });
      this.#waiting.add(waiting);
    });
  }

  #enter(key: string): void {
    this.#active += 1;
    this.#running.set(key, (this.#running.get(key) ?? 0) + 1);
  }

  #leave(key: string): void {
    this.#active -= 1;
    const left = (this.#running.get(key) ?? 1) - 1;
    if (left === 0) this.#running.delete(key);
    else this.#running.set(key, left);
    for (const waiting of this.#waiting) {
      if (this.#active >= this.#options.atOnce) return;
      if (this.#hasRoom(waiting.key)) waiting.begin();
    }
  }

  #hasRoom(key: string): boolean {
    const { atOnce, atOncePerKey = Infinity } = this.#options;
    return this.#active < atOnce && (this.#running.get(key) ?? 0) < atOncePerKey;
  }
}
