import type { AgentKey } from './agent-key.js';

/** What was made of the keys that were used last, for what is dear to make. */
export class KeyCache<T> {
  /** In the order of their last use. */
  readonly #made = new Map<AgentKey, T>();
  readonly #make: (key: AgentKey) => T;
  readonly #most: number;

  /** @param most how many are kept */
  constructor(make: (key: AgentKey) => T, most: number) {
    this.#make = make;
    this.#most = most;
  }

  get size(): number {
    return this.#made.size;
  }

  /** What belongs to a key; one object of a key has one. */
  of(key: AgentKey): T {
    let made = this.#made.get(key);
    if (made === undefined) {
      made = this.#make(key);
      const oldest = this.#made.size >= this.#most ? this.#made.keys().next() : undefined;
      if (oldest?.done === false) this.#made.delete(oldest.value);
    } else {
      this.#made.delete(key);
    }
    this.#made.set(key, made);
    return made;
  }
}
