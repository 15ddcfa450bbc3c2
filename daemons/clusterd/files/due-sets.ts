/** Sets that are looked at at a time. */
const AT_ONCE = 4;
/** Pauses after failures, milliseconds: the last is repeated. */
const RETRY_MS = [500, 1000, 2000, 5000, 15_000];

export type DueSetsParts = {
  /** Looks at a set. @returns milliseconds after which it is due again; undefined when nothing waits */
  readonly look: (key: string) => Promise<number | undefined>;
  readonly failed: (key: string, error: unknown) => void;
};

type Turn = { timer: NodeJS.Timeout | undefined; at: number; failures: number };

/** Looks at sets when they are due: each one after the other for itself, a few at a time, and again after failures. */
export class DueSets {
  readonly #parts: DueSetsParts;
  readonly #turns = new Map<string, Turn>();
  readonly #waiting = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();
  #stopped = false;

  constructor(parts: DueSetsParts) {
    this.#parts = parts;
  }

  /** Sets that are looked at, or wait for it. */
  get busy(): number {
    return this.#waiting.size + this.#running.size;
  }

  /** Has a set looked at after so many milliseconds, or earlier when it is due already. */
  due(key: string, ms = 0): void {
    if (this.#stopped) return;
    const turn = this.#turns.get(key) ?? { timer: undefined, at: Infinity, failures: 0 };
    this.#turns.set(key, turn);
    const at = performance.now() + ms;
    if (turn.timer !== undefined && turn.at <= at) return;
    clearTimeout(turn.timer);
    turn.at = at;
    turn.timer = setTimeout(() => {
      turn.timer = undefined;
      this.#waiting.add(key);
      this.#next();
    }, ms);
  }

  forget(key: string): void {
    clearTimeout(this.#turns.get(key)?.timer);
    this.#turns.delete(key);
    this.#waiting.delete(key);
  }

  /** What runs comes to its end; nothing begins any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const { timer } of this.#turns.values()) clearTimeout(timer);
    this.#waiting.clear();
    await Promise.all(this.#running.values());
  }

  #next(): void {
    for (const key of this.#waiting) {
      if (this.#running.size >= AT_ONCE) return;
      if (this.#running.has(key)) continue;
      this.#waiting.delete(key);
      this.#running.set(key, this.#run(key));
    }
  }

  async #run(key: string): Promise<void> {
    const turn = this.#turns.get(key);
    try {
      const again = await this.#parts.look(key);
      if (turn !== undefined) turn.failures = 0;
      if (again !== undefined) this.due(key, again);
    } catch (error) {
      this.#parts.failed(key, error);
      const failures = turn?.failures ?? 0;
      if (turn !== undefined) turn.failures = failures + 1;
      this.due(key, RETRY_MS[Math.min(failures, RETRY_MS.length - 1)]);
    }
    this.#running.delete(key);
    if (!this.#stopped) this.#next();
  }
}
