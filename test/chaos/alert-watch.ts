import { createHash, type Hash } from 'node:crypto';
import type { Home } from '../../lib/home/home.js';
import { GrowingFile } from '../support/logcollector/growing-file.js';
import { readOutput } from '../support/read-output.js';
import { numberOfAlert } from './numbered-events.js';
import { outputParts } from './output-parts.js';

const POLL_MS = 200;

type Seen = { readonly file: GrowingFile; readonly hash: Hash };

/**
 * Reads alerts.json while it is written, as a consumer does: what it has read once, in whole alerts, must be there
 * unchanged in the end.
 */
export class AlertWatch {
  readonly #home: Home;
  readonly #files = new Map<string, Seen>();
  readonly #numbers = new Set<number>();
  readonly #timer: NodeJS.Timeout;

  constructor(home: Home) {
    this.#home = home;
    this.#timer = setInterval(() => {
      this.look();
    }, POLL_MS);
  }

  /** Whether the alert of a number was seen. */
  has(number: number): boolean {
    return this.#numbers.has(number);
  }

  /** Numbers whose alert was seen. */
  get count(): number {
    return this.#numbers.size;
  }

  look(): void {
    for (const path of outputParts(this.#home, 'alerts.json')) {
      const seen = this.#files.get(path) ?? { file: new GrowingFile(path), hash: createHash('sha256') };
      this.#files.set(path, seen);
      const lines = seen.file.read();
      seen.hash.update(lines);
      for (const line of lines.toString('latin1').split('\n')) {
        const number = numberOfAlert(line);
        if (number !== undefined) this.#numbers.add(number);
      }
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Files that are not any more what they were when they were read. */
  changedFiles(): string[] {
    const changed: string[] = [];
    for (const [path, { file, hash }] of this.#files) {
      const bytes = file.offset;
      if (bytes === 0) continue;
      const now = readOutput(path).subarray(0, bytes);
      const same = now.length === bytes && createHash('sha256').update(now).digest().equals(hash.copy().digest());
      if (!same) changed.push(`${path}: its first ${String(bytes)} bytes are not those that were read before`);
    }
    return changed;
  }
}
