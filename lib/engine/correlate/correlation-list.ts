import { createHash } from 'node:crypto';
import type { Chain, ChainLink, ListNode, RememberedEvent } from './remembered-event.js';

/**
 * One way a list is searched: events are grouped by the values that a composite rule requires to be the same, so that
 * a search sees only events that satisfy all its `same_*` conditions.
 */
export type CorrelationIndex = {
  /** False for `global_frequency`. */
  readonly byAgent: boolean;
  /** The search over all remembered events compares the category as well (rules-and-alerts.md 5.3). */
  readonly byCategory: boolean;
  /** Positions in `RememberedEvent.attributes`. */
  readonly attributes: readonly number[];
  /** Positions in `RememberedEvent.fields`. */
  readonly fields: readonly number[];
  /**
   * How many of the newest events of a group any search can look at; Infinity when a search may skip events. Deeper
   * ones are forgotten at once, so that a flood of equal events takes no memory.
   */
  readonly depth: number;
};

/** A list as the ruleset lays it out. */
export type CorrelationListSpec = {
  /** `sid:<rule>`, `group:<composite>` or `recent`: the same in every ruleset that has the list. */
  readonly key: string;
  /** Largest timeframe of its searches in seconds; older events can no longer count. */
  readonly retention: number;
  readonly indexes: readonly CorrelationIndex[];
};

/** What a node and one of its links with a group of its own cost, in bytes; measured on V8. */
const NODE_BYTES = 160;
const LINK_BYTES = 300;

/** Separates the parts of a group key; no engine text contains it. */
const SEPARATOR = '\0';

/** Events remembered for the composite rules that search one list, in order of arrival (rules-and-alerts.md 5.1). */
export class CorrelationList {
  readonly spec: CorrelationListSpec;
  #oldest: ListNode | undefined = undefined;
  #newest: ListNode | undefined = undefined;
  readonly #chains: readonly Map<string, Chain>[];
  /** Told of every node that leaves the list. */
  readonly #onRemove: (node: ListNode) => void;

  constructor(spec: CorrelationListSpec, onRemove: (node: ListNode) => void) {
    this.spec = spec;
    this.#onRemove = onRemove;
    this.#chains = spec.indexes.map(() => new Map<string, Chain>());
  }

  /** Whether it remembers no event. */
  get isEmpty(): boolean {
    return this.#newest === undefined;
  }

  /** Newest event of the group that `event` itself would belong to; undefined when it has none. */
  newestLike(event: RememberedEvent, index: number): ChainLink | undefined {
    const spec = this.spec.indexes[index];
    const key = spec === undefined ? undefined : groupKey(spec, event);
    return key === undefined ? undefined : this.#chains[index]?.get(key)?.newest;
  }

  /**
   * Appends an event.
   * @returns memory that its place takes, in bytes; 0 when no search of the list could ever count it
   */
  add(event: RememberedEvent): number {
    const node: ListNode = { list: this, event, links: [], at: 0, bytes: 0, older: this.#newest, newer: undefined };
    this.spec.indexes.forEach((index, i) => {
      const key = groupKey(index, event);
      if (key !== undefined) this.#link(node, i, key);
    });
    if (node.links.length === 0) return 0;
    node.bytes = NODE_BYTES + LINK_BYTES * node.links.length;
    node.at = event.nodes.push(node) - 1;
    if (this.#newest === undefined) this.#oldest = node;
    else this.#newest.newer = node;
    this.#newest = node;
    // only now, since trimming may empty older nodes and unlink them
    for (const link of [...node.links]) this.#trim(link.chain);
    return node.bytes;
  }

  /**
   * Forgets events that no search can count at `now` (epoch seconds) or later.
   * @param most events that are forgotten at once: after a silence it could be hundreds of thousands
   * @returns how many were forgotten
   */
  expire(now: number, most: number): number {
    let count = 0;
    while (count < most && this.#oldest !== undefined && now - this.#oldest.event.time > this.spec.retention) {
      this.remove(this.#oldest);
      count += 1;
    }
    return count;
  }

  remove(node: ListNode): void {
    for (const link of node.links) this.#unlink(link);
    node.links.length = 0;
    if (node.older === undefined) this.#oldest = node.newer;
    else node.older.newer = node.newer;
    if (node.newer === undefined) this.#newest = node.older;
    else node.newer.older = node.older;
    node.older = node.newer = undefined;
    this.#onRemove(node);
  }

  /** `position` of the events, from the oldest to the newest. */
  positions(): number[] {
    const positions: number[] = [];
    for (let node = this.#oldest; node !== undefined; node = node.newer) positions.push(node.event.position);
    return positions;
  }

  #link(node: ListNode, index: number, key: string): void {
    const chains = this.#chains[index];
    if (chains === undefined) return;
    let chain = chains.get(key);
    if (chain === undefined) {
      chain = { index, key, newest: undefined, oldest: undefined, size: 0 };
      chains.set(key, chain);
    }
    const link: ChainLink = { event: node.event, node, chain, older: chain.newest, newer: undefined };
    if (chain.newest === undefined) chain.oldest = link;
    else chain.newest.newer = link;
    chain.newest = link;
    chain.size += 1;
    node.links.push(link);
  }

  #trim(chain: Chain): void {
    const depth = this.spec.indexes[chain.index]?.depth ?? Infinity;
    while (chain.size > depth && chain.oldest !== undefined) {
      const { oldest } = chain;
      const { node } = oldest;
      this.#unlink(oldest);
      node.links.splice(node.links.indexOf(oldest), 1);
      if (node.links.length === 0) this.remove(node);
    }
  }

  #unlink(link: ChainLink): void {
    const { chain } = link;
    if (link.older === undefined) chain.oldest = link.newer;
    else link.older.newer = link.newer;
    if (link.newer === undefined) chain.newest = link.older;
    else link.newer.older = link.older;
    link.older = link.newer = undefined;
    if (--chain.size === 0) this.#chains[chain.index]?.delete(chain.key);
  }
}

/** Group of an event in an index; undefined when a value that must be the same is missing. */
function groupKey(index: CorrelationIndex, event: RememberedEvent): string | undefined {
  let key = index.byAgent ? event.agentId : '';
  if (index.byCategory) key += SEPARATOR + event.category;
  for (const position of index.attributes) {
    const value = event.attributes[position];
    if (value === undefined) return undefined;
    key += SEPARATOR + keyPart(value, event);
  }
  for (const position of index.fields) {
    const value = event.fields[position];
    if (value === undefined) return undefined;
    key += SEPARATOR + keyPart(value, event);
  }
  return key;
}

/** Longest value that stands in a group's key as it is; longer ones would make keys of 64 KB, for each list and index. */
const MAX_KEY_PART = 256;

/** The event that comes into lists, or is searched for, and parts of keys for its long values: many lists ask for the same. */
let keyedEvent: RememberedEvent | undefined;
const longParts = new Map<string, string>();

/** A hash has a separator before it, which no value has: one that is the text of a hash is another value. */
function keyPart(value: string, event: RememberedEvent): string {
  if (value.length <= MAX_KEY_PART) return value;
  if (event !== keyedEvent) {
    keyedEvent = event;
    longParts.clear();
  }
  let part = longParts.get(value);
  if (part === undefined) {
    part = SEPARATOR + createHash('sha256').update(value, 'latin1').digest('hex');
    longParts.set(value, part);
  }
  return part;
}
