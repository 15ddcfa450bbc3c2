/** Ways by which events come in. `stream` is the bus with sequences that outlive the producer. */
export const SOURCES = ['api', 'bus', 'stream', 'file'] as const;
export type Source = (typeof SOURCES)[number];

/** What is known of each numbered event: who sent it, and whether the product said that it has it. */
export class Ledger {
  readonly #sources: Source[] = [];
  readonly #acknowledged: boolean[] = [];
  #acknowledgedCount = 0;

  /** The next number, from 1, for an event that is about to be sent. */
  take(source: Source): number {
    this.#sources.push(source);
    this.#acknowledged.push(false);
    return this.#sources.length;
  }

  /** The product answers for this event from now on. */
  acknowledge(number: number): void {
    if (this.#acknowledged[number - 1] === false) this.#acknowledgedCount += 1;
    this.#acknowledged[number - 1] = true;
  }

  isAcknowledged(number: number): boolean {
    return this.#acknowledged[number - 1] === true;
  }

  sourceOf(number: number): Source | undefined {
    return this.#sources[number - 1];
  }

  /** Numbers given out. */
  get sent(): number {
    return this.#sources.length;
  }

  get acknowledged(): number {
    return this.#acknowledgedCount;
  }

  acknowledgedBy(source: Source): number {
    return this.#sources.reduce((sum, each, i) => sum + (each === source && this.#acknowledged[i] === true ? 1 : 0), 0);
  }

  /** All numbers in order. */
  *numbers(): Generator<number> {
    for (let number = 1; number <= this.sent; number += 1) yield number;
  }
}
