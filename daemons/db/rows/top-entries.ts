import { setImmediate as nextTurn } from 'node:timers/promises';

/** Entries sorted in one go: some milliseconds. */
const RUN = 8192;

/**
 * The first entries of a long list in their order. Those that cannot be among them are let go of as early as possible, and
 * what has to be sorted is sorted in pieces.
 */
export class TopEntries<T> {
  readonly #most: number;
  readonly #compare: (one: T, other: T) => number;
  #runs: T[][] = [];
  #run: T[] = [];
  #last: T | undefined;

  /** @param most how many are wanted @param compare never 0 for different entries */
  constructor(most: number, compare: (one: T, other: T) => number) {
    this.#most = most;
    this.#compare = compare;
  }

  add(entry: T): void {
    if (this.#last !== undefined && this.#compare(entry, this.#last) > 0) return;
    this.#run.push(entry);
    if (this.#run.length >= RUN) this.#endRun();
  }

  /** The entries in order, at most as many as are wanted. */
  async finish(): Promise<T[]> {
    this.#endRun();
    while (this.#runs.length > 1) {
      const merged: T[][] = [];
      for (let index = 0; index < this.#runs.length; index += 2) {
        merged.push(await this.#merge(this.#runs[index] ?? [], this.#runs[index + 1] ?? []));
      }
      this.#runs = merged;
    }
    return this.#runs[0] ?? [];
  }

  #endRun(): void {
    let run = this.#run.sort(this.#compare);
    this.#run = [];
    const [only] = this.#runs;
    if (this.#most <= RUN && only !== undefined) run = this.#mergeNow(only, run);
    run.length = Math.min(run.length, this.#most);
    if (this.#most <= RUN) this.#runs = [run];
    else this.#runs.push(run);
    // Beyond the last of a full run nothing is wanted.
    const last = run.length === this.#most ? run.at(-1) : undefined;
    if (last !== undefined && (this.#last === undefined || this.#compare(last, this.#last) < 0)) this.#last = last;
  }

  #mergeNow(one: readonly T[], other: readonly T[]): T[] {
    const result: T[] = [];
    const merging = this.#merging(one, other, result);
    while (merging.next().done !== true);
    return result;
  }

  async #merge(one: readonly T[], other: readonly T[]): Promise<T[]> {
    const result: T[] = [];
    const merging = this.#merging(one, other, result);
    while (merging.next().done !== true) await nextTurn();
    return result;
  }

  /** Stands still after each {@link RUN} entries. */
  *#merging(one: readonly T[], other: readonly T[], result: T[]): Generator<void> {
    let left = 0;
    let right = 0;
    while (result.length < this.#most && (left < one.length || right < other.length)) {
      const first = one[left];
      const second = other[right];
      if (second === undefined || (first !== undefined && this.#compare(first, second) < 0)) {
        if (first !== undefined) result.push(first);
        left += 1;
      } else {
        result.push(second);
        right += 1;
      }
      if (result.length % RUN === 0) yield;
    }
  }
}
