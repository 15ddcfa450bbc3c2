import { setTimeout as delay } from 'node:timers/promises';
import type { Home } from '../../lib/home/home.js';
import { outputParts } from '../chaos/output-parts.js';
import { GrowingFile } from '../support/logcollector/growing-file.js';

/** Milliseconds between two looks: the figures are that much too long at most. */
const POLL_MS = 2;

/** Measures how long it takes from a change of a file to its alert in alerts.json. */
export class AlertTimes {
  readonly #home: Home;
  readonly #changed = new Map<string, number>();
  readonly #files = new Map<string, GrowingFile>();
  /** Milliseconds, as they came. */
  readonly times: number[] = [];

  constructor(home: Home) {
    this.#home = home;
    // What is there already is of no interest.
    for (const path of outputParts(home, 'alerts.json')) this.#file(path).read();
  }

  /** To be called right before the change, for a path that waits for no alert. */
  changes(path: string): void {
    this.#changed.set(path, performance.now());
  }

  /** Resolves when every change has its alert. @throws Error when one has none in time */
  async settled(deadlineMs: number): Promise<void> {
    const end = performance.now() + deadlineMs;
    while (this.#changed.size > 0) {
      this.look();
      if (performance.now() > end) throw new Error(`${String(this.#changed.size)} changes without an alert`);
      await delay(POLL_MS);
    }
  }

  look(): void {
    for (const path of outputParts(this.#home, 'alerts.json')) {
      const lines = this.#file(path).read();
      if (lines.length === 0) continue;
      const now = performance.now();
      for (const line of lines.toString('utf8').split('\n')) {
        const changed = /"syscheck":\{"path":"([^"]+)"/.exec(line)?.[1] ?? '';
        const at = this.#changed.get(changed);
        if (at === undefined) continue;
        this.#changed.delete(changed);
        this.times.push(now - at);
      }
    }
  }

  #file(path: string): GrowingFile {
    const file = this.#files.get(path) ?? new GrowingFile(path);
    this.#files.set(path, file);
    return file;
  }
}
