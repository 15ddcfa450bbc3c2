import type { AgentKey } from './agent-key.js';
import { Blowfish } from './blowfish.js';
import { MAX_BLOWFISH_SCHEDULES } from './link-limits.js';

/** The Blowfish key schedules last used: making one costs as much as opening a dozen messages. */
export class BlowfishCache {
  /** In the order of their last use. */
  readonly #schedules = new Map<AgentKey, Blowfish>();
  readonly #most: number;

  constructor(most: number = MAX_BLOWFISH_SCHEDULES) {
    this.#most = most;
  }

  get size(): number {
    return this.#schedules.size;
  }

  /** The schedule of a key; one object of a key gives one schedule. */
  of(key: AgentKey): Blowfish {
    let schedule = this.#schedules.get(key);
    if (schedule === undefined) {
      schedule = new Blowfish(key.blowfishKey);
      const oldest = this.#schedules.size >= this.#most ? this.#schedules.keys().next() : undefined;
      if (oldest?.done === false) this.#schedules.delete(oldest.value);
    } else {
      this.#schedules.delete(key);
    }
    this.#schedules.set(key, schedule);
    return schedule;
  }
}
