import { PathPace } from './path-pace.js';

/** Paths that are looked at together. */
const MOST_TOGETHER = 2048;
/** Groups that are looked at at the same time: a huge file holds up its own alone. */
const LANES = 4;
/** Milliseconds between two times that paths which change too often are considered. */
const PACED_EVERY_MS = 50;

/** How changes are waited for and handed on. */
export type ChangeQueueParts = {
  /** Milliseconds each path waits: what happens to it within them is one change (`syscheck.rt_delay`). */
  readonly delay: number;
  /** Paths that wait at most. */
  readonly most: number;
  /** Looks at paths, sorted by their bytes. */
  readonly look: (paths: readonly string[]) => Promise<void>;
  /** More waited than could be kept; they are dropped. */
  readonly overflowed: () => void;
  /** A look that failed. */
  readonly failed: (error: unknown) => void;
  /** Milliseconds of a steady clock. */
  readonly now: () => number;
};

/**
 * Paths that may have changed, each once however often it is told of. One that is being looked at is looked at again
 * after that, and never twice at the same time.
 */
export class ChangeQueue {
  readonly #parts: ChangeQueueParts;
  /** When each is due, in that order. */
  readonly #waiting = new Map<string, number>();
  /** Those that change too often for now. */
  readonly #paced = new Set<string>();
  readonly #pace = new PathPace();
  readonly #underWay = new Set<string>();
  readonly #again = new Set<string>();
  readonly #idle: (() => void)[] = [];
  #lanes = 0;
  #timer: NodeJS.Timeout | undefined;
  #paceTimer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(parts: ChangeQueueParts) {
    this.#parts = parts;
  }

  /** Paths that wait or are looked at. */
  get size(): number {
    return this.#waiting.size + this.#paced.size + this.#underWay.size;
  }

  add(paths: Iterable<string>): void {
    if (this.#closed) return;
    const now = this.#parts.now();
    const due = now + this.#parts.delay;
    for (const path of paths) {
      if (this.#underWay.has(path)) this.#again.add(path);
      else if (this.#waiting.has(path)) continue;
      else if (this.#pace.wait(path, now) > 0) this.#hold(path);
      else this.#waiting.set(path, due);
    }
    if (this.#waiting.size + this.#paced.size > this.#parts.most) {
      this.#forget();
      this.#parts.overflowed();
    }
    this.#arm();
  }

  /** Resolves when nothing waits and nothing is looked at. */
  idle(): Promise<void> {
    return this.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Forgets what waits, and resolves when what is looked at is done with. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearInterval(this.#paceTimer);
    this.#forget();
    await this.idle();
  }

  #forget(): void {
    this.#waiting.clear();
    this.#paced.clear();
    this.#again.clear();
  }

  #hold(path: string): void {
    this.#paced.add(path);
    this.#paceTimer ??= setInterval(() => {
      const now = this.#parts.now();
      for (const held of this.#paced) {
        if (this.#pace.wait(held, now) > 0) continue;
        this.#paced.delete(held);
        this.#waiting.set(held, now);
      }
      if (this.#paced.size === 0) {
        clearInterval(this.#paceTimer);
        this.#paceTimer = undefined;
      }
      this.#arm();
    }, PACED_EVERY_MS);
  }

  #arm(): void {
    if (this.#timer !== undefined || this.#lanes >= LANES || this.#closed) return;
    for (const due of this.#waiting.values()) {
      this.#timer = setTimeout(
        () => {
          this.#timer = undefined;
          this.#take();
          this.#arm();
        },
        Math.max(0, due - this.#parts.now()),
      );
      return;
    }
  }

  #take(): void {
    const now = this.#parts.now();
    const paths: string[] = [];
    for (const [path, due] of this.#waiting) {
      if (due > now || paths.length >= MOST_TOGETHER) break;
      paths.push(path);
      this.#pace.looked(path, now);
      this.#underWay.add(path);
      this.#waiting.delete(path);
    }
    if (paths.length > 0) void this.#look(paths.sort());
  }

  async #look(paths: readonly string[]): Promise<void> {
    this.#lanes += 1;
    try {
      await this.#parts.look(paths);
    } catch (error) {
      this.#parts.failed(error);
    }
    this.#lanes -= 1;
    const again: string[] = [];
    for (const path of paths) {
      this.#underWay.delete(path);
      if (this.#again.delete(path)) again.push(path);
    }
    this.add(again);
    this.#arm();
    if (this.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
}
