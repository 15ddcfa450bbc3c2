import { appendFileSync } from 'node:fs';
import type { RunClock } from './run-clock.js';

/** Writes down what the driver does, with times that can be compared with those of the manager log. */
export class RunLog {
  readonly path: string;
  readonly #clock: RunClock;

  constructor(path: string, clock: RunClock) {
    this.path = path;
    this.#clock = clock;
  }

  say(text: string): void {
    appendFileSync(this.path, `${new Date(this.#clock.now()).toISOString()} ${text}\n`);
  }
}
