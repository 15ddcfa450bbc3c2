import type { Category } from '../event.js';

/** A remembered event as plain data. Attributes and fields are held by name. */
export type SnapshotEvent = {
  readonly time: number;
  readonly agentId: string;
  readonly category: Category;
  readonly fullLog: string;
  readonly log: string;
  readonly attributes: readonly (string | null)[];
  readonly hasFields: boolean;
  readonly fields: readonly (readonly [string, string])[];
  readonly mark: number;
};

/** What a snapshot holds beside the events. */
export type CorrelationLayout = {
  /** List key to positions in `events`, oldest first; an event stands in a list as often as it counts. */
  readonly lists: readonly (readonly [string, readonly number[]])[];
  readonly evicted: number;
  /** When idle lists are looked through next, in epoch seconds; the latest of all shards. */
  readonly nextSweep: number;
  /** Absent when everything was in one shard; else what belongs to each. Only events of one shard are in order then. */
  readonly shards?: { readonly nextSweeps: readonly number[]; readonly pieces: readonly number[] };
};

/** Remembered events as plain data: what a checkpoint holds. */
export type CorrelationSnapshot = CorrelationLayout & { readonly events: readonly SnapshotEvent[] };

/** Shard of an agent. @param count of shards, a power of 2; ids that follow each other are in different ones */
export function shardOf(agentId: string, count: number): number {
  let hash = 0;
  for (let i = 0; i < agentId.length; i += 1) hash = (Math.imul(hash, 10) + agentId.charCodeAt(i)) | 0;
  return hash & (count - 1);
}

/** The same of an id that lies in bytes, one a character. */
export function shardOfBytes(bytes: Uint8Array, from: number, to: number, count: number): number {
  let hash = 0;
  for (let i = from; i < to; i += 1) hash = (Math.imul(hash, 10) + (bytes[i] ?? 0)) | 0;
  return hash & (count - 1);
}

/** The part of a snapshot that belongs to each shard, with the events of a shard in the order in which they were. */
export function splitSnapshot(snapshot: CorrelationSnapshot, count: number): CorrelationSnapshot[] {
  const { events, shards } = snapshot;
  const order = count === 1 && shards !== undefined ? orderByTime(events, shards.nextSweeps.length) : events.keys();
  const parts = Array.from({ length: count }, () => ({
    events: [] as SnapshotEvent[],
    lists: new Map<string, number[]>(),
  }));
  const places = new Uint32Array(events.length);
  for (const index of order) {
    const event = events[index];
    if (event !== undefined) places[index] = (parts[shardOf(event.agentId, count)]?.events.push(event) ?? 0) - 1;
  }
  for (const [key, members] of snapshot.lists) {
    for (const member of members) {
      const event = events[member];
      const lists = event && parts[shardOf(event.agentId, count)]?.lists;
      if (lists === undefined) continue;
      const list = lists.get(key);
      if (list === undefined) lists.set(key, [places[member] ?? 0]);
      else list.push(places[member] ?? 0);
    }
  }
  return parts.map(({ events: own, lists }, shard) => ({
    events: own,
    lists: [...lists].map(([key, members]) => [key, members.sort((a, b) => a - b)] as const),
    evicted: shard === 0 ? snapshot.evicted : 0,
    nextSweep: (count === shards?.nextSweeps.length ? shards.nextSweeps[shard] : undefined) ?? snapshot.nextSweep,
  }));
}

/**
 * The part of a snapshot that belongs to one of several holders of shards. Memory of a shard is its holder's alone: another
 * one would give it back, as it has no events in it.
 * @param holder whose part it is; what belongs to no shard is that of 0
 * @param holderOf which holder has a shard
 * @param count of all shards
 */
export function partOfSnapshot(
  snapshot: CorrelationSnapshot,
  holder: number,
  holderOf: (shard: number) => number,
  count: number,
): CorrelationSnapshot {
  const places = new Int32Array(snapshot.events.length).fill(-1);
  const events = snapshot.events.filter(({ agentId }, index) => {
    if (holderOf(shardOf(agentId, count)) !== holder) return false;
    places[index] = 0;
    return true;
  });
  let place = 0;
  places.forEach((own, index) => {
    if (own < 0) return;
    places[index] = place;
    place += 1;
  });
  const lists = snapshot.lists.map(([key, members]) => {
    const own = members.map((member) => places[member] ?? -1).filter((member) => member >= 0);
    return [key, own] as const;
  });
  const { shards } = snapshot;
  const pieces = shards?.pieces.map((taken, shard) => (holderOf(shard) === holder ? taken : 0)) ?? [];
  return {
    ...snapshot,
    events,
    lists,
    evicted: holder === 0 ? snapshot.evicted : 0,
    ...(shards === undefined ? {} : { shards: { ...shards, pieces } }),
  };
}

/** What one of several remembers that have some shards each. */
export type CorrelationPart = { readonly layout: CorrelationLayout; readonly count: number };

/**
 * The layout of what several remember, whose events stand one behind the other.
 * @param pieces that each shard has
 * @param holderOf which of the parts has a shard
 */
export function joinLayouts(
  parts: readonly CorrelationPart[],
  pieces: readonly number[],
  holderOf: (shard: number) => number,
): CorrelationLayout {
  const lists = new Map<string, number[]>();
  let offset = 0;
  for (const { layout, count } of parts) {
    for (const [key, members] of layout.lists) {
      const list = lists.get(key);
      const moved = members.map((member) => member + offset);
      if (list === undefined) lists.set(key, moved);
      else for (const member of moved) list.push(member);
    }
    offset += count;
  }
  const nextSweep = Math.max(0, ...parts.map(({ layout }) => layout.nextSweep));
  const nextSweeps = pieces.map((_, shard) => parts[holderOf(shard)]?.layout.shards?.nextSweeps[shard] ?? 0);
  return {
    lists: [...lists],
    evicted: parts.reduce((sum, { layout }) => sum + layout.evicted, 0),
    nextSweep,
    ...(pieces.length === 0 ? {} : { shards: { nextSweeps, pieces } }),
  };
}

/**
 * An order of events of several shards that keeps the order in each of them; between them it goes by the second. That is what
 * is known when rules begin to compare agents with each other.
 */
function orderByTime(events: readonly SnapshotEvent[], count: number): number[] {
  const queues = Array.from({ length: count }, (): number[] => []);
  events.forEach(({ agentId }, index) => queues[shardOf(agentId, count)]?.push(index));
  // A clock that was set back has later events with earlier times: they count as those before them.
  const dated = queues.flatMap((queue) => {
    let latest = 0;
    return queue.map((index) => ({ index, time: (latest = Math.max(latest, events[index]?.time ?? 0)) }));
  });
  return dated.sort((a, b) => a.time - b.time).map(({ index }) => index);
}
