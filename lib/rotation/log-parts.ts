import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { LocalDay } from '../time/local-day.js';
import { twoDigits } from './calendar-day.js';

/** The rotated parts of one log on one day: `manager-DD.log`, `manager-DD-001.log`, ..., each plain or compressed. */
export class LogParts {
  readonly #directory: string;
  readonly #stem: string;
  readonly #extension: string;

  /** @param directory of the month, @param name of the log, @param extension `log` or `json` */
  constructor(directory: string, name: string, day: LocalDay, extension: string) {
    this.#directory = directory;
    this.#stem = `${name}-${twoDigits(day)}`;
    this.#extension = extension;
  }

  /** Path of a part without `.gz`. */
  path(part: number): string {
    const number = part === 0 ? '' : `-${String(part).padStart(3, '0')}`;
    return join(this.#directory, `${this.#stem}${number}.${this.#extension}`);
  }

  /** Numbers of the parts there are, plain or compressed, in order. */
  numbers(): number[] {
    if (!existsSync(this.#directory)) {
      return [];
    }
    const pattern = new RegExp(`^${this.#stem}(?:-(\\d{3}))?\\.${this.#extension}(?:\\.gz)?$`);
    const found = new Set<number>();
    for (const name of readdirSync(this.#directory)) {
      const match = pattern.exec(name);
      if (match !== null) {
        found.add(Number(match[1] ?? 0));
      }
    }
    return [...found].sort((a, b) => a - b);
  }

  /**
   * Makes room for one more part and says its number. When `most` parts are there, the oldest goes and the others move
   * down by one (daemons-and-config.md 4.2).
   */
  claim(most: number): number {
    const numbers = this.numbers();
    const kept = numbers.slice(Math.max(0, numbers.length - (most - 1)));
    if (kept.length === numbers.length) {
      return (numbers.at(-1) ?? -1) + 1;
    }
    for (const number of numbers.slice(0, numbers.length - kept.length)) {
      this.#remove(number);
    }
    for (const [index, number] of kept.entries()) {
      this.#move(number, index);
    }
    return kept.length;
  }

  #remove(part: number): void {
    rmSync(this.path(part), { force: true });
    rmSync(`${this.path(part)}.gz`, { force: true });
  }

  #move(from: number, to: number): void {
    if (from === to) {
      return;
    }
    for (const suffix of ['', '.gz']) {
      if (existsSync(this.path(from) + suffix)) {
        renameSync(this.path(from) + suffix, this.path(to) + suffix);
      }
    }
  }
}
