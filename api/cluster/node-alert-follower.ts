import { pause } from '../../lib/async/pause.js';
import { FIRST_PLACE, parseAlertName, placeBehind } from '../alerts/alert-place.js';
import type { ListResult } from '../http/envelope.js';
import type { EventSink } from '../http/event-stream.js';
import type { ParameterValues } from '../http/parameter-values.js';
import { ProblemError } from '../http/problem-error.js';
import { NodeFailure } from './node-failure.js';

/** How often another node is asked whether there is more, milliseconds: two small messages a stream. */
const LOOK_MS = 1000;
/** Pause while it cannot be asked, milliseconds. */
const RETRY_MS = 3000;
/** Clocks of hosts differ by less, as a rule, milliseconds. */
const CLOCKS_MS = 120_000;
/** Alerts that are asked for at a time. */
const READ_AT_ONCE = 50;

export type NodeAlertFollowerParts = {
  readonly node: string;
  /** Its name as the caller may know it. */
  readonly shown: string;
  /** Asks that node for `GET /alerts`. @throws NodeFailure, and ProblemError that it refuses with */
  readonly ask: (parameters: ParameterValues, signal: AbortSignal) => Promise<ListResult>;
  /** Which alerts are meant: filters of the request. */
  readonly filters: ParameterValues;
  /** Those of them that say whose alerts are looked at: what a look at the newest one is narrowed by. */
  readonly agents: ParameterValues;
  /** When the stream was opened: alerts that are older are not new, epoch milliseconds. */
  readonly since: number;
  /** Notes how far the node is read, and says the id of the whole stream with that. */
  readonly reached: (place: string) => string;
};

/** Alerts of another node as they are written there: it is asked for what is behind the last one. */
export class NodeAlertFollower {
  readonly #parts: NodeAlertFollowerParts;
  #place: string | undefined;
  /** Whether everything up to the opening of the stream was read. */
  #isCaughtUp: boolean;
  #beginning: Promise<void> | undefined;
  #isAway = false;

  /** @param from undefined: behind what it has when the stream is opened */
  constructor(parts: NodeAlertFollowerParts, from: string | undefined) {
    this.#parts = parts;
    this.#place = from;
    this.#isCaughtUp = from === undefined;
  }

  /**
   * Until the sink is over, or the cluster has no such node any more. A node that is away is told of once, and read on where it was.
   * @throws what is no failure of the node
   */
  async run(sink: EventSink): Promise<void> {
    while (!sink.signal.aborted) {
      try {
        const hasMore = await this.#step(sink);
        await this.#tell(sink, undefined);
        if (!hasMore) await pause(LOOK_MS, sink.signal);
      } catch (error) {
        if (sink.signal.aborted || (error instanceof NodeFailure && error.unknown)) return;
        if (!(error instanceof NodeFailure) && !(error instanceof ProblemError)) throw error;
        await this.#tell(sink, error.message);
        await pause(RETRY_MS, sink.signal);
      }
    }
  }

  /** @param why the node cannot be asked; undefined: it can */
  async #tell(sink: EventSink, why: string | undefined): Promise<void> {
    const { shown: node } = this.#parts;
    if (this.#isAway === (why !== undefined)) return;
    this.#isAway = why !== undefined;
    if (why === undefined) await sink.send({ event: 'resumed', data: JSON.stringify({ node }) });
    else await sink.send({ event: 'waiting', data: JSON.stringify({ node, detail: why }) });
  }

  /** Where it begins, when that was not said: once, however often it is asked. @throws as `ask` */
  begin(signal: AbortSignal): Promise<void> {
    if (this.#place !== undefined) return Promise.resolve();
    this.#beginning ??= this.#newest(signal)
      .then((newest) => {
        this.#place ??= newest ?? FIRST_PLACE;
        this.#parts.reached(this.#place);
      })
      .finally(() => (this.#beginning = undefined));
    return this.#beginning;
  }

  /** @returns whether there may be more at once */
  async #step(sink: EventSink): Promise<boolean> {
    const { ask, filters, reached } = this.#parts;
    // One that was away when the stream was opened is read from then on.
    const from = (this.#place ??= FIRST_PLACE);
    const newest = this.#isCaughtUp ? await this.#newest(sink.signal) : undefined;
    if (this.#isCaughtUp && (newest === undefined || later(from, newest) === from)) return false;
    const bound = from === FIRST_PLACE ? this.#bound : {};
    const asked = { ...filters, ...bound, order: 'asc', limit: READ_AT_ONCE, count: false, cursor: from };
    const page = await ask(asked, sink.signal);
    for (const item of page.items as readonly { readonly alert_id: string }[]) {
      this.#place = placeBehind(parseAlertName(item.alert_id).id);
      await sink.send({ id: reached(this.#place), event: 'alert', data: JSON.stringify(item) });
    }
    const next = page.more?.['next_cursor'];
    // What the filters leave out is not looked at again.
    const reachedPlace = this.#place;
    this.#place = typeof next === 'string' ? next : newest === undefined ? reachedPlace : later(reachedPlace, newest);
    this.#isCaughtUp ||= typeof next !== 'string';
    sink.position(reached(this.#place));
    return typeof next === 'string' || newest === undefined;
  }

  /** Alerts since the stream was opened, by the clock of the node: what it looks through stays little, however much it has. */
  get #bound(): ParameterValues {
    return { from: String(Math.max(0, this.#parts.since - CLOCKS_MS)).padStart(13, '0') };
  }

  /** Behind the newest alert since then that the caller may see, whatever the filters. */
  async #newest(signal: AbortSignal): Promise<string | undefined> {
    const { ask, agents } = this.#parts;
    const asked = { ...agents, ...this.#bound, order: 'desc', limit: 1, count: false, select: ['id'] };
    const { items } = await ask(asked, signal);
    const [newest] = items as readonly { readonly alert_id: string }[];
    return newest === undefined ? undefined : placeBehind(parseAlertName(newest.alert_id).id);
  }
}

/** Of two places of a node the later one: days and files have as many digits, bytes have not. */
function later(one: string, other: string): string {
  const [file, offset] = split(one);
  const [otherFile, otherOffset] = split(other);
  if (file !== otherFile) return file > otherFile ? one : other;
  return offset >= otherOffset ? one : other;
}

function split(place: string): readonly [file: string, offset: number] {
  const cut = place.lastIndexOf('-');
  return [place.slice(0, cut), Number(place.slice(cut + 1))];
}
