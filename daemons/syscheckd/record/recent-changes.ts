/** Paths that are remembered at least: many times those that are looked at and not recorded at one moment. */
const MOST_PATHS = 16_384;

/**
 * Order of readings and changes. A reading that began before another of its path was recorded is neither known to be
 * older nor newer than that one.
 */
export class RecentChanges {
  readonly #most: number;
  /** Paths by the moment of their last change; when it is full it becomes the older one. */
  #newer = new Map<string, number>();
  #older: ReadonlyMap<string, number> = new Map();
  /** Nothing is known of changes up to this moment. */
  #forgotten = 0;
  /** The last change in `#older`. */
  #olderEnds = 0;
  #now = 0;

  /** @param most paths that are remembered at least; at most twice as many */
  constructor(most: number = MOST_PATHS) {
    this.#most = most;
  }

  /** The moment a reading begins. */
  begin(): number {
    this.#now += 1;
    return this.#now;
  }

  /** A change of a path is recorded now. */
  changed(path: string): void {
    if (this.#newer.size >= this.#most) {
      this.#forgotten = this.#olderEnds;
      this.#olderEnds = this.#now;
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#now += 1;
    this.#newer.set(path, this.#now);
  }

  /** Whether a change of the path may have been recorded since a reading began. */
  isOvertaken(path: string, began: number): boolean {
    return (this.#newer.get(path) ?? this.#older.get(path) ?? this.#forgotten) > began;
  }
}
