/** Lets work on the same paths happen one after the other. */
export class PathTurns {
  readonly #last = new Map<string, Promise<void>>();

  /**
   * Waits until nobody else works on these paths.
   * @returns to be called when the work on them is done
   */
  async take(paths: readonly string[]): Promise<() => void> {
    let done: () => void = () => {};
    const mine = new Promise<void>((resolve) => (done = resolve));
    // All places are taken at once: two that want the same paths never wait for each other.
    const before = paths.flatMap((path) => this.#last.get(path) ?? []);
    for (const path of paths) this.#last.set(path, mine);
    await Promise.all(before);
    return () => {
      for (const path of paths) if (this.#last.get(path) === mine) this.#last.delete(path);
      done();
    };
  }
}
