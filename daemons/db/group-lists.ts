import { ownText } from './own-text.js';

/** md5 of merged files by the groups they are for, joined by `,`. */
type Sums = {
  readonly of: Map<string, string>;
  /** Grows with each change. */
  version: number;
};

/** Groups in order of priority, one object for all agents that have them, so that what concerns all is said once. */
export class GroupList {
  /** How many have it. */
  agents = 0;
  /** md5 of the merged file for these groups; undefined when there is none. */
  mergedSum: string | undefined;
  readonly #sums: Sums;
  #awaited = false;
  #awaitedVersion = -1;

  /** @param key the names joined by `,`, which none has */
  constructor(
    readonly key: string,
    readonly names: readonly string[],
    sums: Sums,
  ) {
    this.#sums = sums;
    this.mergedSum = sums.of.get(key);
  }

  /** Whether an agent with this merged file has what there is for its groups; it has when there is nothing. */
  isInStep(mergedSum: string | undefined): boolean {
    return this.mergedSum === undefined ? !this.#isAwaited() : mergedSum === this.mergedSum;
  }

  /** Whether the merged file of several groups is still to be made: that of each is there. */
  #isAwaited(): boolean {
    if (this.names.length < 2) return false;
    const { of, version } = this.#sums;
    if (this.#awaitedVersion !== version) {
      this.#awaited = this.names.every((name) => of.has(name));
      this.#awaitedVersion = version;
    }
    return this.#awaited;
  }
}

/** The lists of groups that agents have, and the merged files known, of lists that no agent has too. */
export class GroupLists {
  readonly #lists = new Map<string, GroupList>();
  readonly #sums: Sums = { of: new Map<string, string>(), version: 0 };

  /** Sums by the groups joined by `,`. */
  get sums(): ReadonlyMap<string, string> {
    return this.#sums.of;
  }

  /** The list of these groups; it is kept from the first {@link take} on. */
  of(groups: readonly string[]): GroupList {
    const key = groups.join(',');
    return this.#lists.get(key) ?? new GroupList(ownText(key), groups.map(ownText), this.#sums);
  }

  take(list: GroupList): void {
    if (list.agents++ === 0) this.#lists.set(list.key, list);
  }

  release(list: GroupList): void {
    if (--list.agents === 0) this.#lists.delete(list.key);
  }

  /** @param md5 undefined when there is no merged file */
  setSum(key: string, md5: string | undefined): void {
    const { of } = this.#sums;
    if (md5 === undefined) of.delete(key);
    else of.set(ownText(key), ownText(md5));
    this.#sums.version += 1;
    const list = this.#lists.get(key);
    if (list !== undefined) list.mergedSum = of.get(key);
  }

  /** Those that agents have. */
  values(): Iterable<GroupList> {
    return this.#lists.values();
  }
}
