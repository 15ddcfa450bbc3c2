/** What a part of a daemon ends with. */
type Stop = () => unknown;
/** A part that knows how it ends; what `stop` or `close` gives is waited for. */
export type Stoppable = { stop(): unknown } | { close(): unknown };
/** A part that is begun by itself, after everything that it needs is there. */
export type Startable = { start(): unknown; stop(): unknown };

export type TogetherOptions = {
  /** After this time, milliseconds, the parts before the group are stopped; its rest is waited for at the end. */
  readonly withinMs?: number;
};

export type WaitPointOptions = {
  /** After this time, milliseconds, nothing is waited for any more: the process ends with what still goes on. */
  readonly withinMs?: number;
};

/**
 * The parts of a daemon in the order they are made. They stop in reverse order, each when those after it have ended, also
 * when making one of them fails. A part that cannot stop keeps no other from it.
 */
export class DaemonParts {
  readonly #stops: Stop[] = [];
  readonly #atOnce: boolean;
  readonly #failures: unknown[] = [];
  /** Ends that are waited for after all others. */
  readonly #rest: Promise<void>[] = [];

  /** @param order whether parts stop one after the other, the last first, or all at once */
  constructor(order: 'in turn' | 'at once' = 'in turn') {
    this.#atOnce = order === 'at once';
  }

  /** A part that stops with its `stop` or `close`. */
  use<P extends Stoppable>(part: P): P {
    this.defer(() => ('stop' in part ? part.stop() : part.close()));
    return part;
  }

  /** Begins a part; once that has succeeded, it is stopped in its turn. @throws what its `start` throws */
  async start<P extends Startable>(part: P): Promise<P> {
    await part.start();
    return this.use(part);
  }

  /** A part that ends in a way of its own. */
  adopt<P>(part: P, stop: (part: P) => unknown): P {
    this.defer(() => stop(part));
    return part;
  }

  /** What is to be done at this place of the stop. */
  defer(stop: Stop): void {
    this.#stops.push(stop);
  }

  /** Does something again and again until the stop. @param intervalMs milliseconds, above 0 */
  every(intervalMs: number, work: () => void): void {
    this.adopt(setInterval(work, intervalMs), clearInterval);
  }

  /** A group at this place: what is added to it, now or later, stops at once. */
  together({ withinMs }: TogetherOptions = {}): DaemonParts {
    const group = new DaemonParts('at once');
    this.defer(async () => {
      const ended = this.#endGroup(group);
      if (withinMs === undefined) return ended;
      this.#rest.push(ended);
      return within(withinMs, ended);
    });
    return group;
  }

  /**
   * A place at which the stop waits for what parts after it have begun to end: they are handed over, and the stop goes on.
   * @returns takes what is to be waited for
   */
  waitPoint({ withinMs }: WaitPointOptions = {}): (ending: Promise<unknown>) => void {
    const endings: Promise<void>[] = [];
    this.defer(() => {
      const ended = Promise.all(endings);
      return withinMs === undefined ? ended : within(withinMs, ended);
    });
    return (ending) => {
      endings.push(this.#end(() => ending));
    };
  }

  /** Stops all parts. @returns errors of those that could not stop in good order */
  async stop(): Promise<readonly unknown[]> {
    const stops = this.#stops.splice(0).reverse();
    if (this.#atOnce) await Promise.all(stops.map((stop) => this.#end(stop)));
    else for (const stop of stops) await this.#end(stop);
    await Promise.all(this.#rest);
    return this.#failures;
  }

  async #endGroup(group: DaemonParts): Promise<void> {
    this.#failures.push(...(await group.stop()));
  }

  /** Never fails: what went wrong is kept. */
  async #end(stop: Stop): Promise<void> {
    try {
      await stop();
    } catch (error) {
      this.#failures.push(error);
    }
  }
}

/** Waits for `work`, but no longer than `ms` milliseconds; it goes on by itself then. @throws what `work` throws by then */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
