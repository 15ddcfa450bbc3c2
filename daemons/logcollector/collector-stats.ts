import type { CollectedSpan } from '../../lib/bus/contracts/logcollector.js';

/** Locations counted; a wildcard on ever new names must not fill memory. */
const MAX_LOCATIONS = 100_000;
/** What stands for the locations beyond. */
const OTHERS = '(others)';

/** Counters of one location since the start of a span. */
type LocationCounters = {
  events: number;
  bytes: number;
  /** Events that a target did not take, by its name. */
  readonly drops: Map<string, number>;
};

/** What is counted of one location, by all sources that have it. */
class Location {
  readonly global: LocationCounters = { events: 0, bytes: 0, drops: new Map() };
  interval: LocationCounters = { events: 0, bytes: 0, drops: new Map() };
  /** Sources that read it now. */
  open = 0;

  constructor(readonly name: string) {}

  addTargets(names: Iterable<string>): void {
    for (const name of names) {
      for (const { drops } of [this.global, this.interval]) {
        drops.set(name, drops.get(name) ?? 0);
      }
    }
  }

  nextInterval(): void {
    this.interval = { events: 0, bytes: 0, drops: new Map() };
    this.addTargets(this.global.drops.keys());
  }
}

/** Counts what one source of a location gives. */
export class LocationCount {
  readonly #location: Location;

  constructor(location: Location) {
    this.#location = location;
  }

  count(bytes: number): void {
    const { global, interval } = this.#location;
    global.events += 1;
    global.bytes += bytes;
    interval.events += 1;
    interval.bytes += bytes;
  }

  countDrop(target: string): void {
    for (const { drops } of [this.#location.global, this.#location.interval]) {
      drops.set(target, (drops.get(target) ?? 0) + 1);
    }
  }

  /** The source is not read any more. */
  close(): void {
    this.#location.open -= 1;
  }
}

/**
 * What was collected, since the daemon started and in the last interval (daemons-and-config.md 6.5). Everything that is
 * read is shown, with zeros when nothing came; what is not read any more is left out when the interval ends.
 */
export class CollectorStats {
  readonly #now: () => Date;
  readonly #start: Date;
  #intervalStart: Date;
  readonly #locations = new Map<string, Location>();
  #lastInterval: CollectedSpan | undefined;

  constructor(now: () => Date) {
    this.#now = now;
    this.#start = now();
    this.#intervalStart = this.#start;
  }

  /** @param targets names of those who get the events: `agent`, sockets */
  open(name: string, targets: readonly string[]): LocationCount {
    const key = this.#locations.has(name) || this.#locations.size < MAX_LOCATIONS ? name : OTHERS;
    let location = this.#locations.get(key);
    if (location === undefined) {
      location = new Location(key);
      this.#locations.set(key, location);
    }
    location.addTargets(targets);
    location.open += 1;
    return new LocationCount(location);
  }

  /** Ends the interval: its counters are what `interval` shows until the next one ends. */
  nextInterval(): void {
    this.#lastInterval = this.#render(this.#intervalStart, ({ interval }) => interval);
    this.#intervalStart = this.#now();
    for (const [key, location] of this.#locations) {
      if (location.open === 0) {
        this.#locations.delete(key);
      } else {
        location.nextInterval();
      }
    }
  }

  /** `{"global": {...}, "interval": {...}}` */
  toJson(): { readonly global: CollectedSpan; readonly interval: CollectedSpan } {
    return {
      global: this.#render(this.#start, ({ global }) => global),
      interval: this.#lastInterval ?? this.#render(this.#intervalStart, ({ interval }) => interval),
    };
  }

  #render(start: Date, countersOf: (location: Location) => LocationCounters): CollectedSpan {
    const files = [...this.#locations.values()].map((each) => {
      const { events, bytes, drops } = countersOf(each);
      const targets = [...drops].map(([name, count]) => ({ name, drops: count }));
      return { location: each.name, events, bytes, targets };
    });
    return { start: timestamp(start), end: timestamp(this.#now()), files };
  }
}

/** `2025-06-05 08:00:00`, local time. */
function timestamp(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${String(date.getFullYear())}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
