import { appendFileSync, existsSync, renameSync, rmSync, statSync, truncateSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Ledger } from './ledger.js';
import { eventText } from './numbered-events.js';
import type { Random } from './random.js';
import type { RunLog } from './run-log.js';

const CROWD = 800;
/** Rotated files beyond this many are removed once everything in them has its alert. */
const MAX_ROTATED = 2;
/** Lines of a file before it is rotated or cut. */
const ENOUGH_LINES = 30;

type Line = { readonly number: number; /** Offset behind its line end. */ readonly end: number };
type Written = { path: string; lines: Line[] };

/**
 * A program that writes a log file, line by line, sometimes in pieces, and rotates it. A complete line counts as
 * acknowledged. What no reader could save is not done: a file is cut, or removed after its rotation, when all its lines
 * have their alerts, and rotated when the first has, so that its reader knows it.
 */
export class FileWriter {
  readonly #path: string;
  readonly #ledger: Ledger;
  readonly #random: Random;
  readonly #rate: number;
  readonly #log: RunLog;
  readonly #hasAlert: (number: number) => boolean;
  #current: Written;
  #rotated: Written[] = [];
  #rotations = 0;
  #size = 0;
  #working: Promise<void> | undefined;
  #stopping = false;

  /**
   * @param rate lines a second, about
   * @param hasAlert whether the alert of a number was seen
   */
  constructor(
    path: string,
    ledger: Ledger,
    random: Random,
    rate: number,
    log: RunLog,
    hasAlert: (number: number) => boolean,
  ) {
    this.#path = path;
    this.#ledger = ledger;
    this.#random = random;
    this.#rate = rate;
    this.#log = log;
    this.#hasAlert = hasAlert;
    this.#current = { path, lines: [] };
    appendFileSync(path, '');
  }

  start(): void {
    this.#working = this.#work();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#working;
  }

  /** Numbers of the lines of a file before an offset: what its reader has behind it. */
  numbersBefore(inode: string, offset: number): number[] {
    const file = [this.#current, ...this.#rotated].find(
      ({ path }) => existsSync(path) && String(statSync(path).ino) === inode,
    );
    return (file?.lines ?? []).filter(({ end }) => end <= offset).map(({ number }) => number);
  }

  async #work(): Promise<void> {
    while (!this.#stopping) {
      const count = this.#random.chance(0.01) ? CROWD : this.#random.integer(1, 20);
      await this.#write(count);
      const fate = this.#random.next();
      if (fate < 0.05) this.#rotate();
      else if (fate < 0.1) this.#cut();
      await delay(((2 * count * 1000) / this.#rate) * this.#random.next());
    }
  }

  async #write(count: number): Promise<void> {
    const numbers = Array.from({ length: count }, () => this.#ledger.take('file'));
    const lines = numbers.map((number) => `${eventText(number, 'file')}\n`);
    const text = lines.join('');
    const split = this.#random.chance(0.2)
      ? text.length - this.#random.integer(1, lines.at(-1)?.length ?? 1)
      : undefined;
    appendFileSync(this.#path, text.slice(0, split));
    for (const [i, number] of numbers.entries()) {
      this.#size += lines[i]?.length ?? 0;
      this.#current.lines.push({ number, end: this.#size });
      if (split === undefined || i < count - 1) this.#ledger.acknowledge(number);
    }
    if (split === undefined) return;
    await delay(this.#random.integer(0, 300));
    appendFileSync(this.#path, text.slice(split));
    for (const number of numbers.slice(-1)) this.#ledger.acknowledge(number);
  }

  #rotate(): void {
    const { lines } = this.#current;
    if (lines.length < ENOUGH_LINES || !lines.some(({ number }) => this.#hasAlert(number))) return;
    this.#rotations += 1;
    this.#current.path = `${this.#path}.${String(this.#rotations)}`;
    renameSync(this.#path, this.#current.path);
    this.#log.say(`rotated to ${this.#current.path}`);
    this.#rotated.push(this.#current);
    this.#removeOld();
    appendFileSync(this.#path, '');
    this.#begin();
  }

  #removeOld(): void {
    const [oldest] = this.#rotated;
    if (oldest === undefined || this.#rotated.length <= MAX_ROTATED || !this.#isDone(oldest)) return;
    rmSync(oldest.path);
    this.#log.say(`removed ${oldest.path}`);
    this.#rotated.shift();
  }

  #cut(): void {
    if (this.#current.lines.length < ENOUGH_LINES || !this.#isDone(this.#current)) return;
    truncateSync(this.#path, 0);
    this.#log.say(`cut ${this.#path} after ${String(this.#size)} bytes`);
    this.#begin();
  }

  #begin(): void {
    this.#current = { path: this.#path, lines: [] };
    this.#size = 0;
  }

  #isDone({ lines }: Written): boolean {
    return lines.every(({ number }) => this.#hasAlert(number));
  }
}
