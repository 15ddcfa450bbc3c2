import type { CollectedSpan } from '../../lib/bus/contracts/logcollector.js';

/** Counters of one location since the start of a span. */
export type LocationCounters = {
  events: number;
  bytes: number;
  /** Events that a target did not take, by its name. */
  readonly drops: Map<string, number>;
};

type Span = { start: Date; readonly locations: Map<string, LocationCounters> };

/** Locations counted; a wildcard on ever new names must not fill memory. */
const MAX_LOCATIONS = 100_000;

/** What was collected, since the daemon started and since the last interval began (daemons-and-config.md 6.5). */
export class CollectorStats {
  readonly #now: () => Date;
  readonly #global: Span;
  #interval: Span;
  #lastInterval: CollectedSpan | undefined;

  constructor(now: () => Date) {
    this.#now = now;
    this.#global = { start: now(), locations: new Map() };
    this.#interval = { start: now(), locations: new Map() };
  }

  count(location: string, bytes: number, targets: readonly string[]): void {
    for (const { locations } of [this.#global, this.#interval]) {
      const counters = countersOf(locations, location, targets);
      counters.events += 1;
      counters.bytes += bytes;
    }
  }

  countDrop(location: string, target: string): void {
    for (const { locations } of [this.#global, this.#interval]) {
      const { drops } = countersOf(locations, location, [target]);
      drops.set(target, (drops.get(target) ?? 0) + 1);
    }
  }

  /** Ends the interval: its counters are what `interval` shows until the next one ends. */
  nextInterval(): void {
    this.#lastInterval = this.#render(this.#interval);
    this.#interval = { start: this.#now(), locations: new Map() };
  }

  /** `{"global": {...}, "interval": {...}}` */
  toJson(): { readonly global: CollectedSpan; readonly interval: CollectedSpan } {
    return { global: this.#render(this.#global), interval: this.#lastInterval ?? this.#render(this.#interval) };
  }

  #render({ start, locations }: Span): CollectedSpan {
    const files = [...locations].map(([location, { events, bytes, drops }]) => ({
      location,
      events,
      bytes,
      targets: [...drops].map(([name, count]) => ({ name, drops: count })),
    }));
    return { start: timestamp(start), end: timestamp(this.#now()), files };
  }
}

function countersOf(
  locations: Map<string, LocationCounters>,
  location: string,
  targets: readonly string[],
): LocationCounters {
  const key = locations.has(location) || locations.size < MAX_LOCATIONS ? location : '(others)';
  let counters = locations.get(key);
  if (counters === undefined) {
    counters = { events: 0, bytes: 0, drops: new Map() };
    locations.set(key, counters);
  }
  for (const target of targets) {
    if (!counters.drops.has(target)) {
      counters.drops.set(target, 0);
    }
  }
  return counters;
}

/** `2025-06-05 08:00:00`, local time. */
function timestamp(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${String(date.getFullYear())}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
