import type { ClusterSubjects, StreamPlan } from '../../../lib/cluster/cluster-subjects.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { NatsLink } from './nats-link.js';
import { isNoStream } from './streams.js';

/** Percent of a stream's bytes: it is said at each of them. */
const STEPS = [80, 90, 95] as const;
const MIB = 1024 ** 2;
/** How often it is looked, milliseconds. */
const LOOK_MS = 15_000;

type Watched = {
  readonly plan: StreamPlan;
  readonly what: string;
  readonly without: string;
  /** What it is made with, GiB. */
  readonly planned: number;
};

export type StreamRoomParts = {
  readonly link: Pick<NatsLink, 'connected' | 'session'>;
  readonly subjects: ClusterSubjects;
  readonly logger: Pick<Logger, 'warn' | 'info'>;
};

/**
 * How full the streams are that drop nothing: records, and contents of files. Agents and files fill them slowly, a stolen login quickly,
 * and what is full takes no change any more.
 */
export class StreamRoom {
  readonly #parts: StreamRoomParts;
  readonly #watched: readonly Watched[];
  /** By stream: percent that it has reached as it was said last. */
  readonly #said = new Map<string, number>();
  readonly #used = new Map<string, number>();
  /** Streams without a limit, as it was said. */
  readonly #boundless = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: StreamRoomParts) {
    this.#parts = parts;
    const { streams, files } = parts.subjects;
    this.#watched = [
      { plan: streams.shared, what: 'records', without: 'nothing that managers have in common', planned: 2 },
      { plan: files, what: 'files', without: 'no file of a group, rule or list', planned: 4 },
    ];
  }

  start(): void {
    this.#timer = setInterval(() => {
      // Where NATS does not answer, others say so.
      this.look().catch(() => {});
    }, LOOK_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Percent of each stream's bytes that are taken, as it was looked last. */
  get used(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#used);
  }

  /** Looks, and says what is nearly full, at each step once. @throws JetStreamApiError, TimeoutError */
  async look(): Promise<void> {
    const { link } = this.#parts;
    if (!link.connected) return;
    const { jsm } = link.session();
    for (const watched of this.#watched) {
      const info = await jsm.streams.info(watched.plan.name).catch((error: unknown) => {
        // It is made when it is needed first.
        if (isNoStream(error)) return undefined;
        throw error;
      });
      if (info === undefined) continue;
      if (info.config.max_bytes <= 0) this.#sayBoundless(watched);
      else this.#take(watched, info.state.bytes, info.config.max_bytes);
    }
  }

  /** One that an earlier version has made: a manager's credential may change no stream. */
  #sayBoundless({ plan, what, planned }: Watched): void {
    if (this.#boundless.has(what)) return;
    this.#boundless.add(what);
    this.#parts.logger.warn(
      `NATS keeps ${what} of the cluster without a limit (stream ${plan.name}): whoever steals a manager's credential can fill the disks of its servers. ` +
        `'svc-control cluster room ${planned} --of ${what} --folder FOLDER' sets one, where the folder of the administrator is.`,
    );
  }

  #take({ plan, what, without }: Watched, bytes: number, most: number): void {
    this.#boundless.delete(what);
    const percent = Math.floor((bytes / most) * 100);
    this.#used.set(what, percent);
    const reached = STEPS.findLast((step) => percent >= step) ?? 0;
    const said = this.#said.get(what) ?? 0;
    this.#said.set(what, reached);
    if (reached > said) {
      this.#parts.logger.warn(
        `The ${what} of the cluster take ${percent} % of the ${Math.round(most / MIB)} MiB that NATS keeps of them (stream ${plan.name}): ` +
          `when it is full, ${without} can be changed. If that is more than you have, a manager's credential may be stolen. ` +
          `'svc-control cluster room GIB --of ${what}' makes room: see 'When a stream is full' in docs/cluster.md.`,
      );
    } else if (reached === 0 && said > 0) {
      this.#parts.logger.info(`There is room again for the ${what} of the cluster: ${percent} % is taken.`);
    }
  }
}
