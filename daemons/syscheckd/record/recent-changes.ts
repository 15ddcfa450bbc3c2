/** Paths that are remembered: many times those that are looked at and not recorded at one moment. */
const MOST_PATHS = 16_384;

/**
 * Order of readings and changes. A reading that began before another of its path was recorded is neither known to be
 * older nor newer than that one.
 */
export class RecentChanges {
  readonly #most: number;
  /** Paths by the moment of their last change, the oldest first. */
  readonly #changed = new Map<string, number>();
  /** Nothing is known of changes up to this moment. */
  #forgotten = 0;
  #now = 0;

  /** @param most paths that are remembered */
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
    this.#now += 1;
    this.#changed.delete(path);
    this.#changed.set(path, this.#now);
    if (this.#changed.size <= this.#most) return;
    for (const [oldest, moment] of this.#changed) {
      this.#changed.delete(oldest);
      this.#forgotten = moment;
      return;
    }
  }

  /** Whether a change of the path may have been recorded since a reading began. */
  isOvertaken(path: string, began: number): boolean {
    return (this.#changed.get(path) ?? this.#forgotten) > began;
  }
}
