/** An agent that has not come for this long begins anew, milliseconds. */
const WINDOW_MS = 3_600_000;
/** Enrolments without a connection after which it is plain that the agent cannot keep its key. */
const TOLD_AT = 3;
/** Agents remembered; an attacker who enrols ever new names pushes out the oldest instead of filling the memory. */
const MAX_AGENTS = 10_000;

/**
 * Agents that enrol again and again and never connect, as one does that cannot store its key: it asks for another every
 * few seconds. The log says so once, and is then quiet about it.
 */
export class ReturningAgents {
  readonly #visits = new Map<string, { count: number; at: number }>();

  /** @param now milliseconds since 1970 */
  constructor(private readonly now: () => number) {}

  /** An agent has come again. @returns whether this is to be said now */
  returned(id: string): boolean {
    const at = this.now();
    const count = (this.#recent(id)?.count ?? 0) + 1;
    // The map keeps the order of insertion: the agent moves to its end.
    this.#visits.delete(id);
    this.#visits.set(id, { count, at });
    const [oldest] = this.#visits.keys();
    if (this.#visits.size > MAX_AGENTS && oldest !== undefined) this.#visits.delete(oldest);
    return count === TOLD_AT;
  }

  /** Whether the agent has got another key under its id. */
  has(id: string): boolean {
    return this.#recent(id) !== undefined;
  }

  /** Whether it was said that the agent keeps coming. */
  isTold(id: string): boolean {
    return (this.#recent(id)?.count ?? 0) >= TOLD_AT;
  }

  forget(id: string): void {
    this.#visits.delete(id);
  }

  #recent(id: string): { readonly count: number } | undefined {
    const visit = this.#visits.get(id);
    return visit !== undefined && this.now() - visit.at < WINDOW_MS ? visit : undefined;
  }
}
