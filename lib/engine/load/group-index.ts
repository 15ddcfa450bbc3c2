/** Rules with one group string; a rule that is overwritten moves to another. */
type Entry<T> = { readonly groups: string; readonly members: Set<T> };

/** A search with what it found among the first `seen` group strings. */
type Search<T> = { readonly test: (groups: string) => boolean; seen: number; readonly found: Entry<T>[] };

/**
 * Finds rules by their group strings. Thousands of rules share a few hundred of those, and hundreds of rules ask for the same
 * groups: each string is tested once for each question.
 */
export class GroupIndex<T> {
  readonly #entries: Entry<T>[] = [];
  readonly #byGroups = new Map<string, Entry<T>>();
  readonly #searches = new Map<string, Search<T>>();

  add(groups: string, member: T): void {
    let entry = this.#byGroups.get(groups);
    if (entry === undefined) {
      entry = { groups, members: new Set() };
      this.#byGroups.set(groups, entry);
      this.#entries.push(entry);
    }
    entry.members.add(member);
  }

  remove(groups: string, member: T): void {
    this.#byGroups.get(groups)?.members.delete(member);
  }

  /**
   * All with a group string that passes, in no order.
   * @param key the same for the same question
   * @param makeTest the test of a group string, which depends on nothing else
   */
  find(key: string, makeTest: () => (groups: string) => boolean): T[] {
    let search = this.#searches.get(key);
    if (search === undefined) this.#searches.set(key, (search = { test: makeTest(), seen: 0, found: [] }));
    for (; search.seen < this.#entries.length; search.seen += 1) {
      const entry = this.#entries[search.seen];
      if (entry !== undefined && search.test(entry.groups)) search.found.push(entry);
    }
    return search.found.flatMap(({ members }) => [...members]);
  }
}
