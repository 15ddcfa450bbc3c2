/** What holds a key or waits for it. */
type KeyQueue = {
  /** Ends when the last one that holds it alone has let go. */
  alone: Promise<void> | undefined;
  /** All that have not let go. */
  readonly holders: Set<Promise<void>>;
};

/**
 * Order among the work on each key, such as a path or an agent, while that of different keys goes side by side: work
 * holds its keys alone, or shares one with others that share it. Who comes first begins first.
 */
export class KeyedLock {
  readonly #lines = new Map<string, KeyQueue>();

  /**
   * Waits until nobody else holds these keys, alone or shared.
   * @returns to be called once, when the work on them is done
   */
  async take(keys: readonly string[]): Promise<() => void> {
    const { mine, done } = holder();
    // All places are taken at once: two that want the same keys never wait for each other.
    const before = keys.flatMap((key) => [...(this.#lines.get(key)?.holders ?? [])]);
    for (const key of keys) {
      const line = this.#line(key);
      line.alone = mine;
      line.holders.add(mine);
    }
    await Promise.all(before);
    return () => {
      for (const key of keys) this.#leave(key, mine);
      done();
    };
  }

  /** Begins when everything before it has ended; what comes after it waits. */
  async exclusive<T>(key: string, work: () => Promise<T>): Promise<T> {
    const release = await this.take([key]);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Begins when everything before it that holds the key alone has ended; does not wait for others that share it. */
  async shared<T>(key: string, work: () => Promise<T>): Promise<T> {
    const { mine, done } = holder();
    const line = this.#line(key);
    line.holders.add(mine);
    await line.alone;
    try {
      return await work();
    } finally {
      this.#leave(key, mine);
      done();
    }
  }

  #line(key: string): KeyQueue {
    let line = this.#lines.get(key);
    if (line === undefined) {
      line = { alone: undefined, holders: new Set() };
      this.#lines.set(key, line);
    }
    return line;
  }

  #leave(key: string, mine: Promise<void>): void {
    const line = this.#lines.get(key);
    line?.holders.delete(mine);
    if (line?.holders.size === 0) this.#lines.delete(key);
  }
}

function holder(): { readonly mine: Promise<void>; readonly done: () => void } {
  let done: () => void = () => {};
  const mine = new Promise<void>((resolve) => (done = resolve));
  return { mine, done };
}
