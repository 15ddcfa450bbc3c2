/** So many things under way at once. */
export class InFlight {
  readonly #most: number;
  readonly #failed: (error: unknown) => void;
  #running = 0;
  #wake: () => void = () => {};

  /** @param failed told of each that fails */
  constructor(most: number, failed: (error: unknown) => void) {
    this.#most = most;
    this.#failed = failed;
  }

  /** Resolves when there is room for another; for one caller at a time. */
  async room(): Promise<void> {
    while (this.#running >= this.#most) await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  add(work: Promise<unknown>): void {
    this.#running += 1;
    void work.catch(this.#failed).finally(() => {
      this.#running -= 1;
      this.#wake();
    });
  }
}
