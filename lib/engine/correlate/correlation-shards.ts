import { columnsOf, eventsOf } from './correlation-columns.js';
import type { CorrelationListSpec } from './correlation-list.js';
import { type CorrelationLayout, type CorrelationSnapshot, shardOf, splitSnapshot } from './correlation-snapshot.js';
import { CorrelationStore } from './correlation-store.js';
import { EventBlocks } from './event-blocks.js';
import {
  type AllowanceLayout,
  allowanceLayout,
  FixedAllowance,
  type PieceSource,
  ShardAllowance,
  SharedPieces,
} from './memory-allowance.js';
import type { RememberedEvent } from './remembered-event.js';
import { RememberedEvents } from './remembered-events.js';

/** Memory of remembered events and into how many parts it is divided. */
export type CorrelationMemory = {
  /** Bound on the estimated memory of all remembered events. */
  readonly maxBytes: number;
  /** A power of 2. */
  readonly shards: number;
  /** For who analyses some of the shards only: what all of them share is elsewhere. */
  readonly pieces?: PieceSource;
};

/**
 * Remembered events, divided by agent into shards that know nothing of each other: searches compare events of one agent, so
 * that whoever has a shard can analyse its agents without the rest (rules-and-alerts.md 12). The division does not depend on
 * how many do that. A rule with `global_frequency` compares all agents: with such a ruleset there is one shard.
 */
export class CorrelationShards {
  /** How many there are. */
  readonly count: number;
  readonly #specs: readonly CorrelationListSpec[];
  readonly #fieldKeys: readonly string[];
  readonly #layout: AllowanceLayout | undefined;
  readonly #maxBytes: number;
  readonly #source: PieceSource | undefined;
  #pieces: SharedPieces | undefined;
  #stores: readonly CorrelationStore[];
  #blocks = new EventBlocks();

  /**
   * @param specs the ruleset's lists; positions are used by its rules
   * @param fieldKeys lower-case names of the dynamic fields whose values remembered events keep
   */
  constructor(specs: readonly CorrelationListSpec[], fieldKeys: readonly string[], memory: CorrelationMemory) {
    this.#specs = specs;
    this.#fieldKeys = fieldKeys;
    this.count = shardCount(specs, memory.shards);
    this.#maxBytes = memory.maxBytes;
    this.#layout = this.count === 1 ? undefined : allowanceLayout(memory.maxBytes, this.count);
    this.#source = memory.pieces;
    this.#stores = this.#makeStores([]);
  }

  /** What is remembered of an agent, with that of the others of its shard. */
  of(agentId: string): CorrelationStore {
    const store = this.#stores[this.count === 1 ? 0 : shardOf(agentId, this.count)];
    if (store === undefined) throw new RangeError('there is no such shard');
    return store;
  }

  /** What all shards share of the memory; undefined when there is one, or when it is kept elsewhere. */
  get pieces(): SharedPieces | undefined {
    return this.#pieces;
  }

  /** Estimated memory of the remembered events. */
  get bytes(): number {
    return this.#sum((store) => store.bytes);
  }

  /** How many events are remembered. */
  get size(): number {
    return this.#sum((store) => store.count);
  }

  /** How many events were forgotten because of the memory bound while a timeframe could still have needed them. */
  get evicted(): number {
    return this.#sum((store) => store.evicted);
  }

  snapshot(): CorrelationSnapshot {
    const events: RememberedEvent[] = [];
    const lists = this.#specs.map((): number[] => []);
    for (const store of this.#stores) store.putInto(events, lists);
    return { ...this.#layoutOf(lists), events: eventsOf(columnsOf(events, this.#fieldKeys)) };
  }

  /**
   * The same for a checkpoint, quickly: what takes time is left to whoever encodes the events, a part at a time, later. What was
   * encoded once is not encoded again.
   */
  capture(): CorrelationLayout & { readonly events: RememberedEvents } {
    const blocks = this.#blocks.update(this.#stores.flatMap((store) => store.fresh()));
    const events = new RememberedEvents(blocks, this.#fieldKeys);
    const lists = this.#specs.map((): number[] => []);
    for (const store of this.#stores) store.putLists(lists);
    return { ...this.#layoutOf(lists), events };
  }

  /** What there is beside the events. @param places of the events, by the position of each list */
  #layoutOf(places: readonly (readonly number[])[]): CorrelationLayout {
    const nextSweeps = this.#stores.map(({ nextSweep }) => nextSweep);
    return {
      lists: this.#specs.flatMap(({ key }, index) => {
        const positions = places[index] ?? [];
        return positions.length === 0 ? [] : [[key, positions] as const];
      }),
      evicted: this.evicted,
      nextSweep: Math.max(...nextSweeps),
      ...(this.count === 1 ? {} : { shards: { nextSweeps, pieces: [...(this.#pieces?.taken ?? [])] } }),
    };
  }

  /**
   * Takes over the events of a snapshot, made with this or another ruleset: lists that exist here get theirs, the others
   * are forgotten. Fields that this ruleset compares and the other did not are missing in them.
   */
  restore(snapshot: CorrelationSnapshot): void {
    const { shards } = snapshot;
    this.#stores = this.#makeStores(shards?.pieces.length === this.count ? shards.pieces : []);
    splitSnapshot(snapshot, this.count).forEach((part, shard) => {
      this.#stores[shard]?.restore(part);
    });
  }

  /** Gives all events to whoever analyses the agents, and forgets them. Who has which pieces is still known here. */
  handOver(): CorrelationSnapshot {
    const snapshot = this.snapshot();
    const pieces = this.#pieces;
    this.#stores = this.#makeStores([]);
    this.#pieces = pieces;
    return snapshot;
  }

  #makeStores(taken: readonly number[]): CorrelationStore[] {
    this.#blocks = new EventBlocks();
    const layout = this.#layout;
    if (layout === undefined) return [this.#store(new FixedAllowance(this.#maxBytes))];
    const own = new SharedPieces(layout, this.count, taken);
    const source = this.#source ?? own;
    this.#pieces = this.#source === undefined ? own : undefined;
    return Array.from({ length: this.count }, (_, shard) =>
      this.#store(new ShardAllowance(shard, layout, source, taken[shard] ?? 0)),
    );
  }

  #store(allowance: ConstructorParameters<typeof CorrelationStore>[2]): CorrelationStore {
    return new CorrelationStore(this.#specs, this.#fieldKeys, allowance);
  }

  #sum(of: (store: CorrelationStore) => number): number {
    return this.#stores.reduce((sum, store) => sum + of(store), 0);
  }
}

/** Into how many shards events are divided with a ruleset of these lists. @param wanted a power of 2 */
function shardCount(specs: readonly CorrelationListSpec[], wanted: number): number {
  return specs.some(({ indexes }) => indexes.some(({ byAgent }) => !byAgent)) ? 1 : wanted;
}
