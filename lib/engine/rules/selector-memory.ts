/** Entries of all lists that the selectors of one ruleset remember; with more they all begin anew. */
const MAX_ENTRIES = 200_000;

/** What the selectors of one ruleset share: the bound on what they remember, against floods of made-up values. */
export class SelectorMemory {
  /** Selectors forget what they remembered under another number. */
  generation = 0;
  #entries = 0;

  /** Counts a list of so many entries that a selector is about to remember. */
  add(entries: number): void {
    this.#entries += entries + 4;
    if (this.#entries <= MAX_ENTRIES) return;
    this.#entries = 0;
    this.generation += 1;
  }
}
