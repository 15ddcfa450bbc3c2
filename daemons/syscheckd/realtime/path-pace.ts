/** Looks at a path that follow each other at once. */
const FREE_LOOKS = 20;
/** Looks at a path within a second after those. */
const LOOKS_A_SECOND = 10;
const SECOND_MS = 1000;
/** After that nothing is left of what was counted. */
const FORGOTTEN_MS = ((FREE_LOOKS + 2) / LOOKS_A_SECOND) * SECOND_MS;

type Pace = { readonly looks: number; readonly at: number };

/**
 * Paces looks at paths that change all the time: a log that is written to a thousand times a second would otherwise fill
 * the way of the events with its own, and every other change would wait behind them. Its last change is never left out.
 */
export class PathPace {
  /** The one looked at longest ago first. */
  readonly #paces = new Map<string, Pace>();

  /** Paths that are counted. */
  get size(): number {
    return this.#paces.size;
  }

  /** A path is looked at. @param now milliseconds, never less than before */
  looked(path: string, now: number): void {
    const looks = this.#looks(path, now) + 1;
    this.#paces.delete(path);
    this.#paces.set(path, { looks, at: now });
    for (const [oldest, { at }] of this.#paces) {
      if (now - at < FORGOTTEN_MS) break;
      this.#paces.delete(oldest);
    }
  }

  /** Milliseconds until a path may be looked at; 0 for all but a few. */
  wait(path: string, now: number): number {
    const over = this.#looks(path, now) - FREE_LOOKS + 1;
    return over <= 0 ? 0 : (over / LOOKS_A_SECOND) * SECOND_MS;
  }

  #looks(path: string, now: number): number {
    const pace = this.#paces.get(path);
    return pace === undefined ? 0 : Math.max(0, pace.looks - ((now - pace.at) / SECOND_MS) * LOOKS_A_SECOND);
  }
}
