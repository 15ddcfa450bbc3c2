/** Thrown when too many wait already. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';
}

/** Runs tasks one after another, in the order they come. */
export class ExclusiveQueue {
  readonly #limit: number;
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** @param limit tasks that run or wait at most: each may hold a body of megabytes */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @throws QueueFullError, or what the task throws */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#waiting >= this.#limit) throw new QueueFullError();
    this.#waiting += 1;
    const result = this.#last.then(task);
    this.#last = result.catch(() => {});
    try {
      return await result;
    } finally {
      this.#waiting -= 1;
    }
  }
}
