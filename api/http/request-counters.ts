/** Answers given since the start, by the first digit of their status. */
export class RequestCounters {
  readonly #byClass = new Map<string, number>();
  #total = 0;

  count(status: number): void {
    const key = `${Math.trunc(status / 100)}xx`;
    this.#byClass.set(key, (this.#byClass.get(key) ?? 0) + 1);
    this.#total += 1;
  }

  toObject(): Record<string, number> {
    return { total: this.#total, ...Object.fromEntries([...this.#byClass].sort()) };
  }
}
