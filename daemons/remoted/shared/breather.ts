import { setImmediate } from 'node:timers/promises';
import { MAX_TURN_MS } from './shared-limits.js';

/**
 * Shares the event loop: long work calls `breathe` between its steps, and others come to their turn every few
 * milliseconds. File systems are asked without the thread pool, which costs a fraction for thousands of small files.
 */
export class Breather {
  #since = performance.now();

  /** Lets others run when this turn has lasted long enough. */
  async breathe(): Promise<void> {
    if (performance.now() - this.#since < MAX_TURN_MS) return;
    await setImmediate();
    this.#since = performance.now();
  }

  /** A new turn has begun. */
  begin(): void {
    this.#since = performance.now();
  }
}
