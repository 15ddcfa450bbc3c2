/** Order among the messages of each agent, while those of different agents go side by side. */
export class Lanes {
  /** What must have ended before the agent's next message that runs alone. */
  readonly #lanes = new Map<string, { alone: Promise<unknown>; together: Set<Promise<unknown>> }>();

  /** Begins when everything before it that runs alone has ended; does not wait for others that run together. */
  async together<T>(agent: string, work: () => Promise<T>): Promise<T> {
    const lane = this.#lane(agent);
    const running = lane.alone.then(work);
    const settled = running.catch(() => undefined);
    lane.together.add(settled);
    try {
      return await running;
    } finally {
      lane.together.delete(settled);
      this.#leave(agent);
    }
  }

  /** Begins when everything before it has ended; what comes after it waits. */
  async alone<T>(agent: string, work: () => Promise<T>): Promise<T> {
    const lane = this.#lane(agent);
    const running = Promise.all([lane.alone, ...lane.together]).then(work);
    const settled = running.catch(() => undefined);
    lane.alone = settled;
    lane.together.add(settled);
    try {
      return await running;
    } finally {
      lane.together.delete(settled);
      this.#leave(agent);
    }
  }

  #lane(agent: string): { alone: Promise<unknown>; together: Set<Promise<unknown>> } {
    let lane = this.#lanes.get(agent);
    if (lane === undefined) {
      lane = { alone: Promise.resolve(), together: new Set() };
      this.#lanes.set(agent, lane);
    }
    return lane;
  }

  #leave(agent: string): void {
    if (this.#lanes.get(agent)?.together.size === 0) this.#lanes.delete(agent);
  }
}
