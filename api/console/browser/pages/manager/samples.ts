/** Counters of a daemon as `GET /manager/daemons/stats` has them. */
export type DaemonStats = { readonly name: string; readonly timestamp: string; readonly metrics: unknown };

/** Figures at a moment. */
export type Sample = {
  /** Seconds since the epoch, of the manager's clock. */
  readonly at: number;
  /** Counters that only grow, but for restarts. */
  readonly counters: Readonly<Record<Counter, number>>;
  /** What there is at the moment. */
  readonly gauges: Readonly<Record<Gauge, number>>;
};
type Counter = 'received' | 'processed' | 'alerts' | 'messagesIn' | 'messagesOut';
type Gauge = 'queue' | 'remotedQueue' | 'sessions';

/** Samples kept: half an hour of them. */
export const MOST_SAMPLES = 180;

/** Reads an answer; undefined when the engine does not say anything. */
export function readSample(stats: readonly DaemonStats[]): Sample | undefined {
  const engine = stats.find(({ name }) => name === 'svc-analysisd');
  if (engine === undefined) return undefined;
  const remoted = stats.find(({ name }) => name === 'svc-remoted');
  const [ofEngine, ofRemoted] = [engine.metrics, remoted?.metrics];
  const received = at(ofRemoted, 'messages', 'received_breakdown');
  const sent = at(ofRemoted, 'messages', 'sent_breakdown');
  return {
    at: Date.parse(engine.timestamp) / 1000,
    counters: {
      received: number(at(ofEngine, 'events', 'received')),
      processed: number(at(ofEngine, 'events', 'processed')),
      alerts: number(at(ofEngine, 'events', 'written_breakdown', 'alerts')),
      messagesIn: sumOf(received),
      messagesOut: sumOf(sent),
    },
    gauges: {
      queue: Math.max(0, ...queuesOf(at(ofEngine, 'queues'))),
      remotedQueue: Math.max(0, ...queuesOf(at(ofRemoted, 'queues'))),
      sessions: number(at(ofRemoted, 'tcp_sessions')),
    },
  };
}

/** With a sample more; one that is no newer than the last is none. */
export function withSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  const last = samples.at(-1);
  return last !== undefined && last.at >= sample.at ? samples : [...samples, sample].slice(-MOST_SAMPLES);
}

/** How much a counter grew in each second between samples; none where it began anew. */
export function ratesOf(samples: readonly Sample[], counter: Counter): number[] {
  return samples.slice(1).map(({ at: time, counters }, index) => {
    const before = samples[index];
    if (before === undefined || time <= before.at) return 0;
    return Math.max(0, (counters[counter] - before.counters[counter]) / (time - before.at));
  });
}

function at(value: unknown, ...way: readonly string[]): unknown {
  return way.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>)[name] : undefined,
    value,
  );
}

function number(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

/** Numbers of the first floor alone: what is below them is part of them. */
function sumOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, each) => sum + number(each), 0);
}

/** Use of each queue, per cent. */
function queuesOf(queues: unknown): number[] {
  if (typeof queues !== 'object' || queues === null) return [];
  return Object.values(queues).map((queue) => number(at(queue, 'usage')) * 100);
}

/** When an hour of the day begins, seconds since the epoch: of today, or of the week that began on Sunday. */
export function hourTimes(count: number, now: Date): number[] {
  const day = now.getDate() - (count > 24 ? now.getDay() : 0);
  // Hour by hour of the clock on the wall: a day need not have 24.
  return Array.from(
    { length: count },
    (_, hour) => new Date(now.getFullYear(), now.getMonth(), day, hour).getTime() / 1000,
  );
}
