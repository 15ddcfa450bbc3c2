import { setImmediate } from 'node:timers/promises';
import { MAX_TURN_MS } from './shared-limits.js';

/**
 * Shares the event loop: long work calls `breathe` between its steps, and others come to their turn every few
 * milliseconds. File systems are asked without the thread pool, which costs a fraction for thousands of small files.
 */
export class Breather {
  #since = performance.now();

  /** Whether this turn has lasted long enough: for loops of many small steps, which then `breathe`. */
  get isTired(): boolean {
    return performance.now() - this.#since >= MAX_TURN_MS;
  }

  /** Lets others run when this turn has lasted long enough. */
  async breathe(): Promise<void> {
    if (!this.isTired) return;
    await setImmediate();
    this.#since = performance.now();
  }
}
