import { setImmediate as turn } from 'node:timers/promises';
import type { SyncClock } from './sync-clock.js';

const SECOND_MS = 1000;
/** Messages that are sent in one turn of the event loop. */
const SENDS_A_TURN = 64;

/** So many messages, then a pause of a second (integrity-and-inventory.md 5.1). */
export class Pace {
  readonly #clock: Pick<SyncClock, 'sleep'>;
  readonly #most: () => number;
  /** Messages since the last pause. */
  #burst = 0;

  /** @param most messages between two pauses; 0 is any number */
  constructor(clock: Pick<SyncClock, 'sleep'>, most: () => number) {
    this.#clock = clock;
    this.#most = most;
  }

  /** A message was sent: resolves when the next one may be. */
  async sent(signal: AbortSignal): Promise<void> {
    this.#burst += 1;
    const most = this.#most();
    if (most > 0 && this.#burst >= most) {
      this.#burst = 0;
      await this.#clock.sleep(SECOND_MS, signal);
    } else if (this.#burst % SENDS_A_TURN === 0) {
      await turn();
    }
  }
}
