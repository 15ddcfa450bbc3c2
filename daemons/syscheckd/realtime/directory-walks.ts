/** Directories that are walked at the same time: a large one that was moved in does not hold up the others. */
const MOST_WALKS = 2;

/** Directories to walk, each once however often it is wished, and again when it is wished while it is walked. */
export class DirectoryWalks {
  readonly #walk: (path: string) => Promise<void>;
  readonly #failed: (error: unknown) => void;
  readonly #waiting = new Set<string>();
  readonly #underWay = new Map<string, Promise<void>>();
  #closed = false;

  /** @param failed told of what a walk throws */
  constructor(walk: (path: string) => Promise<void>, failed: (error: unknown) => void) {
    this.#walk = walk;
    this.#failed = failed;
  }

  /** Those that wait or are walked. */
  get size(): number {
    return this.#waiting.size + this.#underWay.size;
  }

  add(path: string): void {
    if (this.#closed) return;
    this.#waiting.add(path);
    this.#next();
  }

  /** Resolves when nothing waits and nothing is walked. */
  async idle(): Promise<void> {
    while (this.size > 0) await Promise.all(this.#underWay.values());
  }

  /** Forgets what waits, and resolves when what is walked is done with. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#waiting.clear();
    await this.idle();
  }

  #next(): void {
    for (const path of this.#waiting) {
      if (this.#underWay.size >= MOST_WALKS) return;
      if (this.#underWay.has(path)) continue;
      this.#waiting.delete(path);
      this.#underWay.set(path, this.#run(path));
    }
  }

  async #run(path: string): Promise<void> {
    try {
      await this.#walk(path);
    } catch (error) {
      this.#failed(error);
    }
    this.#underWay.delete(path);
    this.#next();
  }
}
