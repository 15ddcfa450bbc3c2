import { CorrelationList, type CorrelationListSpec } from './correlation-list.js';
import type { CorrelationSnapshot } from './correlation-snapshot.js';
import type { MemoryAllowance } from './memory-allowance.js';
import { type AgentShare, type ListNode, RememberedEvent } from './remembered-event.js';

/** How often lists that get no events are looked through, in seconds of event time. */
const SWEEP_INTERVAL = 60;
/** Events without use that a list forgets when it gets one, and all lists of an event together: more than one, so that they become fewer. */
const EXPIRED_WITH_ONE = 16;
const EXPIRED_WITH_ALL = 4000;
/** Events without use that are forgotten with one event when all lists are looked through: a millisecond. */
const EXPIRED_AT_ONCE = 1000;

/**
 * Remembered events of the agents of one shard. Each list keeps its events as long as a timeframe can need them; the whole
 * is bounded in bytes, and what the bound drops is counted: the oldest events of those agents that have most, never because
 * another agent talks, as in the reference.
 */
export class CorrelationStore {
  readonly #specs: readonly CorrelationListSpec[];
  /** Made when the first event comes: most rulesets have hundreds, most sessions need none. */
  readonly #lists: (CorrelationList | undefined)[];
  readonly #onRemove: (node: ListNode) => void;
  readonly #fieldKeys: readonly string[];
  readonly #allowance: MemoryAllowance;
  #oldest: RememberedEvent | undefined = undefined;
  #newest: RememberedEvent | undefined = undefined;
  readonly #shares = new Map<string, AgentShare>();
  #bytes = 0;
  #count = 0;
  #evicted = 0;
  #nextSweep = 0;

  /**
   * @param specs the ruleset's lists; positions are used by its rules
   * @param fieldKeys lower-case names of the dynamic fields whose values remembered events keep
   * @param allowance bounds the estimated memory of all remembered events
   */
  constructor(specs: readonly CorrelationListSpec[], fieldKeys: readonly string[], allowance: MemoryAllowance) {
    this.#fieldKeys = fieldKeys;
    this.#allowance = allowance;
    this.#specs = specs;
    this.#lists = specs.map(() => undefined);
    this.#onRemove = (node) => {
      this.#forgetNode(node);
    };
  }

  /** Estimated memory of the remembered events. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many events are remembered. */
  get count(): number {
    return this.#count;
  }

  /** How many events were forgotten because of the memory bound while a timeframe could still have needed them. */
  get evicted(): number {
    return this.#evicted;
  }

  /** Whether the ruleset has a list at this position. */
  has(position: number): boolean {
    return this.#specs[position] !== undefined;
  }

  /** The list at this position; undefined while nothing was remembered in it. */
  list(position: number): CorrelationList | undefined {
    return this.#lists[position];
  }

  /** Appends the event to the lists at these positions, once for each mention. */
  remember(event: RememberedEvent, positions: readonly number[]): void {
    if (positions.length === 0) return;
    const most = Math.max(2, Math.min(EXPIRED_WITH_ONE, Math.floor(EXPIRED_WITH_ALL / positions.length)));
    for (const position of positions) this.#lists[position]?.expire(event.time, most);
    this.#add(event, positions);
    if (event.time >= this.#nextSweep) this.#sweep(event.time);
    this.#keepWithin();
  }

  /** Forgets the events of an agent. */
  forgetAgent(agentId: string): void {
    const share = this.#shares.get(agentId);
    while (share?.oldest !== undefined) this.#drop(share.oldest);
    this.#allowance.giveBack(this.#bytes);
  }

  /** When idle lists are looked through next, in epoch seconds. */
  get nextSweep(): number {
    return this.#nextSweep;
  }

  /** Events that are in no block yet, the oldest first: those behind the last one that is in one. */
  fresh(): RememberedEvent[] {
    const fresh: RememberedEvent[] = [];
    for (let event = this.#newest; event !== undefined && event.block === undefined; event = event.older) {
      fresh.push(event);
    }
    return fresh.reverse();
  }

  /** Adds the places of the events, as they are numbered, to lists by the position of each. */
  putLists(lists: number[][]): void {
    this.#lists.forEach((list, index) => {
      for (const position of list?.positions() ?? []) lists[index]?.push(position);
    });
  }

  /**
   * Puts what is remembered behind that of other stores, for a snapshot of all of them.
   * @param events to which those of this store are added, oldest first
   * @param lists by the position of each list; to which its events are added by their places in `events`
   */
  putInto(events: RememberedEvent[], lists: number[][]): void {
    for (let event = this.#oldest; event !== undefined; event = event.newer) {
      event.position = events.length;
      events.push(event);
    }
    this.putLists(lists);
  }

  /**
   * Takes over the events of a snapshot, made with this or another ruleset: lists that exist here get theirs, the others
   * are forgotten. Fields that this ruleset compares and the other did not are missing in them.
   */
  restore(snapshot: CorrelationSnapshot): void {
    this.#evicted = snapshot.evicted;
    this.#nextSweep = snapshot.nextSweep;
    const byKey = new Map(this.#specs.map((spec, position) => [spec.key, position]));
    const memberships = snapshot.events.map((): number[] => []);
    for (const [key, members] of snapshot.lists) {
      const position = byKey.get(key);
      if (position === undefined) continue;
      for (const member of members) memberships[member]?.push(position);
    }
    snapshot.events.forEach((each, i) => {
      const fields = new Map(each.fields);
      const event = new RememberedEvent(
        each.time,
        each.agentId,
        each.category,
        each.fullLog,
        each.log,
        each.attributes.map((value) => value ?? undefined),
        each.hasFields,
        this.#fieldKeys.map((key) => fields.get(key)),
      );
      event.mark = each.mark;
      const positions = memberships[i] ?? [];
      if (positions.length > 0) this.#add(event, positions);
    });
    // Only now, and nothing is old yet: what is back takes as much as before, and the run that went on has it, too.
    this.#keepWithin();
  }

  #add(event: RememberedEvent, positions: readonly number[]): void {
    this.#append(event);
    for (const position of positions) {
      // Apart from the sum, as adding takes away what it makes superfluous.
      const added = this.#listAt(position)?.add(event) ?? 0;
      this.#bytes += added;
      if (event.share !== undefined) event.share.bytes += added;
    }
    if (event.nodes.length === 0) this.#forget(event);
  }

  /** Forgets events while all of them take more than they may. */
  #keepWithin(): void {
    const allowance = this.#allowance;
    while (this.#bytes > allowance.bytes && allowance.more());
    if (this.#bytes > allowance.bytes) {
      const most = allowance.bytes - allowance.slack;
      while (this.#bytes > most && this.#oldest !== undefined) this.#cutShares(this.#bytes - most);
    }
    allowance.giveBack(this.#bytes);
  }

  /**
   * Forgets the oldest events of the agents that have most, down to what is left to each of them when so many bytes are to go.
   * It depends on nothing but what is remembered, so that it is the same after a restart.
   */
  #cutShares(bytes: number): void {
    // What is left to those that have most is no less than what is left to all on average.
    const least = (this.#bytes - bytes) / this.#shares.size;
    const shares = [...this.#shares.values()].filter((share) => share.bytes >= least).sort((a, b) => b.bytes - a.bytes);
    let level = 0;
    let sum = 0;
    for (const [index, share] of shares.entries()) {
      sum += share.bytes;
      level = Math.max(0, (sum - bytes) / (index + 1));
      if (level >= (shares[index + 1]?.bytes ?? 0)) break;
    }
    for (const share of shares) {
      if (share.bytes <= level) break;
      while (share.bytes > level && share.oldest !== undefined) {
        this.#evicted += 1;
        this.#drop(share.oldest);
      }
    }
  }

  #listAt(position: number): CorrelationList | undefined {
    const spec = this.#specs[position];
    if (spec === undefined) return undefined;
    return (this.#lists[position] ??= new CorrelationList(spec, this.#onRemove));
  }

  #sweep(now: number): void {
    let left = EXPIRED_AT_ONCE;
    for (const list of this.#lists) {
      if (list === undefined) continue;
      left -= list.expire(now, left);
      // The next event goes on.
      if (left === 0) return;
    }
    this.#nextSweep = now + SWEEP_INTERVAL;
  }

  #append(event: RememberedEvent): void {
    event.older = this.#newest;
    if (this.#newest === undefined) this.#oldest = event;
    else this.#newest.newer = event;
    this.#newest = event;
    this.#bytes += event.bytes;
    this.#count += 1;
    let share = this.#shares.get(event.agentId);
    if (share === undefined) {
      share = { bytes: 0, oldest: undefined, newest: undefined };
      this.#shares.set(event.agentId, share);
    }
    share.bytes += event.bytes;
    event.share = share;
    event.olderOfAgent = share.newest;
    if (share.newest === undefined) share.oldest = event;
    else share.newest.newerOfAgent = event;
    share.newest = event;
  }

  #drop(event: RememberedEvent): void {
    for (const node of [...event.nodes]) node.list.remove(node);
  }

  #forgetNode(node: ListNode): void {
    const { event } = node;
    const last = event.nodes.pop();
    if (last !== undefined && last !== node) {
      event.nodes[node.at] = last;
      last.at = node.at;
    }
    this.#bytes -= node.bytes;
    if (event.share !== undefined) event.share.bytes -= node.bytes;
    if (event.nodes.length === 0) this.#forget(event);
  }

  #forget(event: RememberedEvent): void {
    if (event.older === undefined) this.#oldest = event.newer;
    else event.older.newer = event.newer;
    if (event.newer === undefined) this.#newest = event.older;
    else event.newer.older = event.older;
    event.older = event.newer = undefined;
    this.#bytes -= event.bytes;
    this.#count -= 1;
    event.block?.release(event);
    this.#leaveShare(event);
  }

  #leaveShare(event: RememberedEvent): void {
    const { share } = event;
    if (share === undefined) return;
    share.bytes -= event.bytes;
    if (event.olderOfAgent === undefined) share.oldest = event.newerOfAgent;
    else event.olderOfAgent.newerOfAgent = event.newerOfAgent;
    if (event.newerOfAgent === undefined) share.newest = event.olderOfAgent;
    else event.newerOfAgent.olderOfAgent = event.olderOfAgent;
    event.share = event.olderOfAgent = event.newerOfAgent = undefined;
    if (share.oldest === undefined) this.#shares.delete(event.agentId);
  }
}
