import { isDeepStrictEqual } from 'node:util';
import type { Consumer, ConsumerInfo, JsMsg } from '@nats-io/jetstream';
import { pause } from '../../../lib/async/pause.js';
import type { NatsSession } from '../nats/nats-link.js';
import { type Between, chainBetween, type LostAlerts, type ReadMessage, type Walk } from './alert-chain.js';
import type { AlertBatch } from './alert-messages.js';
import { type AlertPlaces, homeOf, type Places } from './alert-places.js';

/** What goes in front of a message, so that an output has all there is. */
export type InFront = {
  readonly batches: readonly AlertBatch[];
  /** Messages that were dropped before they were taken. */
  readonly missed: number;
  readonly lost: readonly LostAlerts[];
  /** The output has the messages up to here with these; `places` are as they are then, the message itself with them. */
  readonly through: number;
  readonly places: Places;
  /** Whether it is too much for one answer, or takes too long: the message itself has to wait. */
  readonly rest: boolean;
};

/** So many messages, or bytes of alerts, are put in front of another at a time. */
const MOST_MESSAGES = 20;
const MOST_BYTES = 2 * 1024 * 1024;
/** So many are asked for at a time. */
const MOST_LOOKS = 500;
/** After so long what is found is handed on, and the rest looked for with the next answer, milliseconds: a caller waits for 15 s. */
const BUDGET_MS = 5000;
/** Walks over the messages of nodes that are under way: one for each output, mostly. */
const MOST_WALKS = 32;
/** How often it is asked whether copies know of a delivery, and how long between, milliseconds. */
const SETTLE_TRIES = 40;
const SETTLE_MS = 50;

type Found = { readonly seq: number; readonly subject: string; readonly batch: AlertBatch };

/**
 * Finds what NATS has passed over for an output. A consumer may go on behind messages that nobody had when its leader changes; and
 * when servers lose the end of a stream, their numbers are used again, for alerts that the consumer takes for done. What was passed
 * over is still in the stream mostly: nothing is taken out of its middle.
 */
export class AlertGaps {
  readonly #stream: string;
  readonly #read: ReadMessage;
  readonly #now: () => number;
  /** That were not at their end when the time was over, by home and message. */
  readonly #walks = new Map<string, Walk>();

  /** @param now monotonic milliseconds */
  constructor(stream: string, read: ReadMessage, now = () => performance.now()) {
    this.#stream = stream;
    this.#read = read;
    this.#now = now;
  }

  /** @param batch what the message has, if it can be read @throws JetStreamApiError, TimeoutError */
  async inFront(
    session: NatsSession,
    consumer: Consumer,
    {
      message,
      batch,
      places,
    }: { readonly message: JsMsg; readonly batch: AlertBatch | undefined; readonly places: AlertPlaces },
  ): Promise<InFront> {
    const deadline = this.#now() + BUDGET_MS;
    const isOver = (): boolean => this.#now() >= deadline;
    const { seq, subject } = message;
    const before = places.through(seq);
    const range = await this.#undone(session, consumer, seq);
    const passed = await this.#passedOver(session, Math.max(range.first, before + 1), seq, places, isOver);
    const all = [...passed.found];
    if (batch !== undefined && !passed.rest) all.push({ seq, subject, batch });
    let { through, rest } = passed;
    const batches: AlertBatch[] = [];
    const lost: LostAlerts[] = [];
    const known = new Map(places.places);
    let bytes = 0;
    for (const next of all) {
      const chain = await this.#chain(session, next, known, isOver);
      if (chain === undefined) {
        [through, rest] = [next.seq - 1, true];
        break;
      }
      let put = 0;
      for (const between of chain.found) {
        if (batches.length >= MOST_MESSAGES || bytes >= MOST_BYTES || (put > 0 && isOver())) break;
        const earlier = await this.#stored(session, between.seq);
        put += 1;
        const { node } = next.batch;
        const { start, position } = between;
        known.set(homeOf(next.batch), position);
        if (earlier === undefined || !isDeepStrictEqual(earlier.position, position)) {
          // It was dropped since, or lost.
          lost.push({
            node,
            file: position.file,
            from: start?.file === position.file ? start.offset : 0,
            to: position.offset,
          });
          continue;
        }
        batches.push(earlier);
        bytes += bytesOf(earlier);
      }
      // What is missing behind those that are put in front now is named again with the next.
      if (put > 0 || chain.found.length === 0) lost.push(...chain.lost);
      if (put < chain.found.length) {
        [through, rest] = [next.seq - 1, true];
        break;
      }
      if (next.seq !== seq) batches.push(next.batch);
      known.set(homeOf(next.batch), next.batch.position);
    }
    return { batches, missed: before > 0 ? 0 : range.missed, lost, through, places: known, rest };
  }

  async #stored({ jsm }: NatsSession, seq: number): Promise<AlertBatch | undefined> {
    const stored = await jsm.streams.getMessage(this.#stream, { seq });
    return stored === null ? undefined : await this.#read(stored);
  }

  /** Undefined: the time was over before all was seen. */
  async #chain(
    session: NatsSession,
    next: Found,
    known: Places,
    isOver: () => boolean,
  ): Promise<{ found: readonly Between[]; lost: readonly LostAlerts[] } | undefined> {
    const home = homeOf(next.batch);
    const place = known.get(home);
    if (place === undefined) return { found: [], lost: [] };
    const name = `${next.seq} ${home}`;
    const parts = { session, stream: this.#stream, read: this.#read, isOver };
    const chain = await chainBetween(place, next, parts, this.#walks.get(name));
    if ('found' in chain) return chain;
    this.#walks.set(name, chain);
    const [oldest] = this.#walks.keys();
    if (this.#walks.size > MOST_WALKS && oldest !== undefined) this.#walks.delete(oldest);
    return undefined;
  }

  /** The first message that may not be done, and how many were dropped before it. */
  async #undone({ jsm }: NatsSession, consumer: Consumer, seq: number): Promise<{ first: number; missed: number }> {
    const nothing = { first: seq, missed: 0 };
    // Most messages follow the one that was done before them: that is known without asking.
    if (seq <= doneUpTo(await consumer.info(true)) + 1) return nothing;
    const done = await settledDone(consumer, seq);
    if (seq <= done + 1) return nothing;
    const { state } = await jsm.streams.info(this.#stream);
    const first = Math.min(seq, Math.max(done + 1, state.first_seq));
    return { first, missed: first - done - 1 };
  }

  async #passedOver(
    { jsm }: NatsSession,
    first: number,
    end: number,
    places: AlertPlaces,
    isOver: () => boolean,
  ): Promise<{ found: readonly Found[]; through: number; rest: boolean }> {
    const found: Found[] = [];
    let bytes = 0;
    for (let seq = first; seq < end; seq += 1) {
      const isFull = found.length >= MOST_MESSAGES || bytes >= MOST_BYTES || seq - first >= MOST_LOOKS;
      if (isFull || (seq > first && isOver())) {
        return { found, through: seq - 1, rest: true };
      }
      const stored = await jsm.streams.getMessage(this.#stream, { seq });
      const batch = stored === null ? undefined : await this.#read(stored);
      if (stored === null || batch === undefined || places.has(batch)) continue;
      found.push({ seq, subject: stored.subject, batch });
      bytes += bytesOf(batch);
    }
    return { found, through: end - 1, rest: false };
  }
}

function bytesOf({ alerts }: AlertBatch): number {
  return alerts.reduce((bytes, { length }) => bytes + length, 0);
}

/** Up to where messages are done, by what NATS says of a consumer; Infinity: none was ever done, and where it began is not known. */
function doneUpTo({ ack_floor: floor, config }: ConsumerInfo): number {
  const begun = config.opt_start_seq;
  if (floor.consumer_seq === 0 && floor.stream_seq === 0 && begun === undefined) return Infinity;
  return Math.max(floor.stream_seq, (begun ?? 1) - 1);
}

/**
 * The same after a message has come: another node may have done those before meanwhile. Copies of a consumer hear of what is done and
 * of deliveries in their order: what knows of this delivery knows all that was done before it.
 */
async function settledDone(consumer: Consumer, seq: number): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const info = await consumer.info();
    const done = doneUpTo(info);
    if (seq <= done + 1 || info.delivered.stream_seq >= seq || tries === SETTLE_TRIES) return done;
    await pause(SETTLE_MS);
  }
}
