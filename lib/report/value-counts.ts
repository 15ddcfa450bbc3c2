/** Different values that are counted: ten thousand names of files must not fill the memory, and nobody reads them. */
const MOST_VALUES = 5000;
/** Characters of a value. */
const MAX_VALUE = 256;

export type ValueCount = { readonly value: string; readonly count: number };

/** Changed in place: a value that is known costs one look. */
type Counted = { count: number };

/** Counts how often each value comes, of so many values. */
export class ValueCounts {
  readonly #counts = new Map<string, Counted>();
  #others = 0;

  /** Values that came when there were too many already, counted as often as they came. */
  get others(): number {
    return this.#others;
  }

  get size(): number {
    return this.#counts.size;
  }

  /** @returns the value as it is counted; undefined when it is one too many */
  add(value: string): string | undefined {
    const counted = value.length > MAX_VALUE ? `${value.slice(0, MAX_VALUE - 3)}...` : value;
    const known = this.#counts.get(counted);
    if (known !== undefined) {
      known.count += 1;
      return counted;
    }
    if (this.#counts.size >= MOST_VALUES) {
      this.#others += 1;
      return undefined;
    }
    this.#counts.set(ownCopy(counted), { count: 1 });
    return counted;
  }

  /** The most frequent first; those that are as frequent in the order in which they came. */
  sorted(): ValueCount[] {
    return [...this.#counts].map(([value, { count }]) => ({ value, count })).sort((a, b) => b.count - a.count);
  }
}

/** A part of a string may hold the whole of it, which is a line of an alert: what is kept for long is copied. */
export function ownCopy(text: string): string {
  return Buffer.from(text).toString();
}
