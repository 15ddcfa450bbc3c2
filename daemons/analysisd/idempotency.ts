/** How long a client's key is remembered (architecture.md 4 "Events"). */
const KEY_LIFETIME_MS = 10 * 60 * 1000;
/** Keys remembered at a time; the oldest go first: made-up keys must not fill the memory. */
const MAX_KEYS = 200_000;

/** What is remembered, by column. */
export type IdempotencySnapshot = { readonly names: readonly string[]; readonly times: readonly number[] };

/** Remembers which events of which requests were taken, so that a repeated request gives no second alert. */
export class IdempotencyMemory {
  /** In order of insertion, hence of time. */
  readonly #takenAt = new Map<string, number>();

  /**
   * Notes an event of a request.
   * @param now epoch milliseconds
   * @returns false when the same event of the same request was taken within the last ten minutes
   */
  take(key: string, index: number, now: number): boolean {
    this.#forget(now);
    const name = `${String(index)} ${key}`;
    if (this.#takenAt.has(name)) return false;
    this.#takenAt.set(name, now);
    return true;
  }

  /** What is remembered, oldest first: names, and when each was taken. For a checkpoint. */
  snapshot(): IdempotencySnapshot {
    return { names: [...this.#takenAt.keys()], times: [...this.#takenAt.values()] };
  }

  /** Takes over what another one remembered. */
  restore({ names, times }: IdempotencySnapshot): void {
    this.#takenAt.clear();
    names.forEach((name, index) => this.#takenAt.set(name, times[index] ?? 0));
  }

  #forget(now: number): void {
    for (const [name, takenAt] of this.#takenAt) {
      if (now - takenAt <= KEY_LIFETIME_MS && this.#takenAt.size < MAX_KEYS) return;
      this.#takenAt.delete(name);
    }
  }
}
