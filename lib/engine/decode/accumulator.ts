import type { EngineEvent } from '../event.js';

/** Members merged between events with one id, in the reference's order (decoding.md 4.10). */
const MEMBERS = ['dstuser', 'srcuser', 'dstip', 'srcip', 'dstport', 'srcport', 'data'] as const;
type Member = (typeof MEMBERS)[number];
/** What of an event is joined; values that it lacks are put in. */
export type JoinedMembers = Partial<Record<Member, string | undefined>>;

const MAX_KEY = 256;
/** Longer values are not copied. */
const MAX_VALUE = 80;
const LIFETIME_SECONDS = 120;
const PURGE_EVERY = 200;
/** Bound on the records, so that made-up ids cannot fill the memory between purges. */
const MAX_RECORDS = 100_000;

type Joined = { used: number; readonly values: Partial<Record<Member, string>> };

export type AccumulatorSnapshot = {
  readonly lookups: number;
  readonly records: readonly (readonly [string, number, readonly (readonly [string, string])[]])[];
};

/**
 * Joins the fields of several events about one id, for decoders with `accumulate` (decoding.md 4.10). Runs after decoding
 * and before rules.
 */
export class Accumulator {
  readonly #records = new Map<string, Joined>();
  #lookups = 0;

  /** @param now epoch seconds */
  apply(event: EngineEvent, now: number): void {
    const key = accumulationKey(event);
    if (key !== undefined) this.join(key, event, now);
  }

  /** Joins what an event says with what others of its key said. @param now epoch seconds */
  join(key: string, event: JoinedMembers, now: number): void {
    if (++this.#lookups >= PURGE_EVERY) this.#purge(now);
    let record = this.#records.get(key);
    if (record === undefined || now - record.used > LIFETIME_SECONDS) record = { used: now, values: {} };
    record.used = now;
    for (const member of MEMBERS) {
      const own = event[member];
      const stored = record.values[member];
      if (own === undefined || own === '') {
        if (stored !== undefined) event[member] = stored;
      } else if (stored === undefined && own.length <= MAX_VALUE) {
        record.values[member] = own;
      }
    }
    // the map stays in the order of use, so that the first record is the longest unused
    this.#records.delete(key);
    this.#records.set(key, record);
    if (this.#records.size > MAX_RECORDS) this.#dropOldest();
  }

  snapshot(): AccumulatorSnapshot {
    return {
      lookups: this.#lookups,
      records: [...this.#records].map(([key, { used, values }]) => [key, used, Object.entries(values)]),
    };
  }

  restore(snapshot: AccumulatorSnapshot): void {
    this.#records.clear();
    this.#lookups = snapshot.lookups;
    for (const [key, used, entries] of snapshot.records) {
      const record: Joined = { used, values: {} };
      for (const member of MEMBERS) {
        const value = entries.find(([name]) => name === member)?.[1];
        if (value !== undefined) record.values[member] = value;
      }
      this.#records.set(key, record);
    }
  }

  #purge(now: number): void {
    this.#lookups = 0;
    // In the order of use: behind one that is still young there is none to forget.
    for (const [key, { used }] of this.#records) {
      if (now - used <= LIFETIME_SECONDS) break;
      this.#records.delete(key);
    }
  }

  #dropOldest(): void {
    for (const key of this.#records.keys()) {
      this.#records.delete(key);
      return;
    }
  }
}

/** What events have in common whose fields are joined; undefined for those that stay as they are. */
export function accumulationKey(event: EngineEvent): string | undefined {
  if (event.decoder?.accumulate !== true || event.id === undefined) return undefined;
  const key = `${event.hostname} ${event.decoder.name} ${event.id}`;
  return key.length < MAX_KEY ? key : undefined;
}

/** The members of an event that are joined. */
export function joinedMembers(event: JoinedMembers): JoinedMembers {
  const { dstuser, srcuser, dstip, srcip, dstport, srcport, data } = event;
  return { dstuser, srcuser, dstip, srcip, dstport, srcport, data };
}
