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
  /** Notes how far the node is read, and says the id of the whole stream with that. */
  readonly reached: (place: string) => string;
};

/** Alerts of another node as they are written there: it is asked for what is behind the last one. */
export class NodeAlertFollower {
  readonly #parts: NodeAlertFollowerParts;
  #place: string | undefined;
  #isAway = false;

  /** @param from undefined: behind what it has when it is asked first */
  constructor(parts: NodeAlertFollowerParts, from: string | undefined) {
    this.#parts = parts;
    this.#place = from;
  }

  /** Until the sink is over. A node that is away is told of once, and read on where it was. */
  async run(sink: EventSink): Promise<void> {
    const { shown: node } = this.#parts;
    while (!sink.signal.aborted) {
      try {
        const hasMore = await this.#step(sink);
        if (this.#isAway) await sink.send({ event: 'resumed', data: JSON.stringify({ node }) });
        this.#isAway = false;
        if (!hasMore) await pause(LOOK_MS, sink.signal);
      } catch (error) {
        if (sink.signal.aborted) return;
        const isExpected = error instanceof NodeFailure || error instanceof ProblemError;
        if (!isExpected) throw error;
        if (!this.#isAway) {
          await sink.send({ event: 'waiting', data: JSON.stringify({ node, detail: error.message }) });
        }
        this.#isAway = true;
        await pause(RETRY_MS, sink.signal);
      }
    }
  }

  /** Where it begins, when that was not said. @throws as `ask` */
  async begin(signal: AbortSignal): Promise<void> {
    this.#place ??= await this.#newest(signal);
    this.#parts.reached(this.#place);
  }

  /** @returns whether there may be more at once */
  async #step(sink: EventSink): Promise<boolean> {
    const { ask, filters, reached } = this.#parts;
    if (this.#place === undefined) await this.begin(sink.signal);
    const from = this.#place ?? FIRST_PLACE;
    const newest = await this.#newest(sink.signal);
    if (newest === from) return false;
    const page = await ask({ ...filters, order: 'asc', limit: READ_AT_ONCE, count: false, cursor: from }, sink.signal);
    for (const item of page.items as readonly { readonly alert_id: string }[]) {
      this.#place = placeBehind(parseAlertName(item.alert_id).id);
      await sink.send({ id: reached(this.#place), event: 'alert', data: JSON.stringify(item) });
    }
    const next = page.more?.['next_cursor'];
    // What the filters leave out is not looked at again.
    this.#place = typeof next === 'string' ? next : later(this.#place ?? from, newest);
    sink.position(reached(this.#place));
    return typeof next === 'string';
  }

  /** Behind the newest alert that the caller may see, whatever the filters. */
  async #newest(signal: AbortSignal): Promise<string> {
    const { ask, agents } = this.#parts;
    const { items } = await ask({ ...agents, order: 'desc', limit: 1, count: false, select: ['id'] }, signal);
    const [newest] = items as readonly { readonly alert_id: string }[];
    return newest === undefined ? FIRST_PLACE : placeBehind(parseAlertName(newest.alert_id).id);
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
