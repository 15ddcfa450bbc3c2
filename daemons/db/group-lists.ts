import { ownText } from './own-text.js';

/** Groups in order of priority, one object for all agents that have them, so that what concerns all is said once. */
export type GroupList = {
  /** Joined by `,`, which no name has. */
  readonly key: string;
  readonly names: readonly string[];
  /** How many have it. */
  agents: number;
  /** md5 of the merged file for these groups; undefined when there is none. */
  mergedSum: string | undefined;
};

/** The lists of groups that agents have, and the merged files known, of lists that no agent has too. */
export class GroupLists {
  readonly #lists = new Map<string, GroupList>();
  readonly #sums = new Map<string, string>();

  /** Sums by the groups joined by `,`. */
  get sums(): ReadonlyMap<string, string> {
    return this.#sums;
  }

  /** The list of these groups; it is kept from the first {@link take} on. */
  of(groups: readonly string[]): GroupList {
    const key = groups.join(',');
    const known = this.#lists.get(key);
    if (known !== undefined) return known;
    return { key: ownText(key), names: groups.map(ownText), agents: 0, mergedSum: this.#sums.get(key) };
  }

  take(list: GroupList): void {
    if (list.agents++ === 0) this.#lists.set(list.key, list);
  }

  release(list: GroupList): void {
    if (--list.agents === 0) this.#lists.delete(list.key);
  }

  /** @param md5 undefined when there is no merged file */
  setSum(key: string, md5: string | undefined): void {
    if (md5 === undefined) this.#sums.delete(key);
    else this.#sums.set(ownText(key), ownText(md5));
    const list = this.#lists.get(key);
    if (list !== undefined) list.mergedSum = this.#sums.get(key);
  }

  /** Those that agents have. */
  values(): Iterable<GroupList> {
    return this.#lists.values();
  }
}
