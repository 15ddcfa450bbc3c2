/** Slots of the table of a page at first, and at most: with so many different words it counts as having all. */
const FIRST_SLOTS = 16_384;
const MOST_SLOTS = 1_048_576;
const PAGES = 65_536;

/**
 * Which words the pages of a segment have, as it grows: a number for each word of each page, the word's times 65,536 and the
 * page's. Within a page a word counts once.
 */
export class WordPages {
  #pairs = new Float64Array(65_536);
  #count = 0;
  #slots = new Uint32Array(FIRST_SLOTS);
  /** Words of the page; one whose number is 0 is not kept in the table. */
  #used = 0;
  #page = 0;
  readonly #full = new Set<number>();

  /** Entries. */
  get size(): number {
    return this.#count;
  }

  /** Pages that have too many words to be told from others. */
  get full(): ReadonlySet<number> {
    return this.#full;
  }

  /** All entries, in no order. */
  get pairs(): Float64Array {
    return this.#pairs.subarray(0, this.#count);
  }

  /** A word of the page that is written. */
  readonly add = (hash: number): void => {
    const mask = this.#slots.length - 1;
    // Zero is an empty slot: the word of that number has another one's place, which is not worse than two words with one number.
    const key = hash === 0 ? 1 : hash;
    let at = hash & mask;
    for (let found = this.#slots[at]; found !== 0; found = this.#slots[at]) {
      if (found === key) return;
      at = (at + 1) & mask;
    }
    if (this.#full.has(this.#page)) return;
    this.#slots[at] = key;
    this.#used += 1;
    this.#push(key * PAGES + this.#page);
    if (this.#used * 2 > this.#slots.length) this.#grow();
  };

  /** The page is full: words that follow are the next one's. */
  nextPage(): void {
    this.#page += 1;
    this.#used = 0;
    if (this.#slots.length > FIRST_SLOTS) this.#slots = new Uint32Array(FIRST_SLOTS);
    else this.#slots.fill(0);
  }

  /** Pages with a word. @param mark called with each */
  visit(hash: number, mark: (page: number) => void): void {
    const low = (hash === 0 ? 1 : hash) * PAGES;
    for (let at = 0; at < this.#count; at += 1) {
      const pair = this.#pairs[at] ?? 0;
      if (pair >= low && pair < low + PAGES) mark(pair - low);
    }
    for (const page of this.#full) mark(page);
  }

  #push(pair: number): void {
    if (this.#count === this.#pairs.length) {
      const grown = new Float64Array(this.#pairs.length * 2);
      grown.set(this.#pairs);
      this.#pairs = grown;
    }
    this.#pairs[this.#count] = pair;
    this.#count += 1;
  }

  #grow(): void {
    if (this.#slots.length >= MOST_SLOTS) {
      this.#full.add(this.#page);
      return;
    }
    const old = this.#slots;
    this.#slots = new Uint32Array(old.length * 4);
    const mask = this.#slots.length - 1;
    for (const key of old) {
      if (key === 0) continue;
      let at = key & mask;
      while (this.#slots[at] !== 0) at = (at + 1) & mask;
      this.#slots[at] = key;
    }
  }
}
