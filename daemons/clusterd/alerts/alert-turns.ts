import { AckPolicy, type Consumer, DeliverPolicy, type JsMsg } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { BusError } from '../../../lib/bus/bus-error.js';
import type { CallResult } from '../../../lib/bus/contract.js';
import type { clusterdContract } from '../../../lib/bus/contracts/clusterd.js';
import type { ClusterSubjects } from '../../../lib/cluster/cluster-subjects.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';
import type { NatsLink, NatsSession } from '../nats/nats-link.js';
import { isNoConsumer } from '../nats/streams.js';
import type { ReadMessage } from './alert-chain.js';
import { AlertGaps } from './alert-gaps.js';
import type { AlertMessages } from './alert-messages.js';
import { AlertPlaces, type Given } from './alert-places.js';
import { type AlertLimits, alertStream } from './alert-stream.js';

/** Alerts that were taken are another node's when it is not heard of them for so long, milliseconds. */
const TURN_MS = 30_000;
/** Less, by this host's clock: an answer may have been on its way for a while. */
const HELD_MS = 20_000;
/** An output that nobody takes anything for is forgotten, milliseconds: it would hold up what is dropped. */
const FORGOTTEN_MS = 3 * 24 * 3_600_000;
const ANSWER_MS = 5000;
/** The server refuses a shorter wait. */
const LEAST_WAIT_MS = 1000;
/** Ends a receipt of alerts that go in front of a message which is still to come: that is asked for again then, and not done. */
const REST = '.rest';

export type AlertTurnsParts = {
  readonly link: NatsLink;
  readonly subjects: ClusterSubjects;
  readonly messages: AlertMessages;
  readonly limits: AlertLimits;
  readonly logger: Logger;
};

type Taken = CallResult<typeof clusterdContract, 'alerts.take'>;
/** The interface of the library does not have it, its objects do. */
type ReceivedMessage = JsMsg & { readonly reply: string };
const NOTHING: Taken['behind'] = { messages: 0, bytes: 0 };

/** What this node knows of an output. */
type Output = { readonly places: AlertPlaces; given?: Given & { readonly receipt: string } };

/**
 * Gives the alerts of all nodes to outputs, a message at a time: each output has one durable consumer for all nodes, which gives the
 * next message only when the one before is done, and the same again, to whichever node asks, when it is not done in time. What NATS
 * passed over on the way goes in front of the message that comes.
 */
export class AlertTurns {
  readonly counters = { taken: 0, again: 0, done: 0, missed: 0, skipped: 0, lost: 0, unreadable: 0 };
  readonly #parts: AlertTurnsParts;
  readonly #problems: LimitedLogger;
  readonly #gaps: AlertGaps;
  readonly #outputs = new Map<string, Output>();

  constructor(parts: AlertTurnsParts) {
    this.#parts = parts;
    this.#problems = parts.logger.limited();
    this.#gaps = new AlertGaps(parts.subjects.streams.alerts.name, this.#read);
  }

  /** As `alerts.take` of the contract. @throws BusError `cluster_unavailable` */
  async take(output: string, waitMs: number): Promise<Taken> {
    return await this.#told(async (session) => {
      const consumer = await this.#consumer(session, this.#parts.subjects.streams.alerts.name, nameOf(output));
      const message = await consumer.next({ expires: Math.max(LEAST_WAIT_MS, waitMs) });
      if (message === null) return { batch: null, behind: NOTHING };
      const cameAt = performance.now();
      try {
        const batch = await this.#given(session, consumer, output, message as ReceivedMessage);
        const { length } = message.data;
        const behind = { messages: message.info.pending, bytes: message.info.pending * length };
        return { batch: { ...batch, leftMs: HELD_MS - (performance.now() - cameAt) }, behind };
      } catch (error) {
        // Else nobody had it before its time is over.
        message.nak();
        throw error;
      }
    });
  }

  async #given(
    session: NatsSession,
    consumer: Consumer,
    output: string,
    message: ReceivedMessage,
  ): Promise<Omit<NonNullable<Taken['batch']>, 'leftMs'>> {
    const known = this.#output(output);
    known.places.came(message.info);
    const batch = await this.#read(message);
    const front = await this.#gaps.inFront(session, consumer, { message, batch, places: known.places });
    const { missed, lost, rest, batches, places, through } = front;
    const receipt = rest ? message.reply + REST : message.reply;
    known.given = { receipt, info: message.info, places, through, rest };
    this.counters.taken += 1;
    if (message.redelivered) this.counters.again += 1;
    this.counters.missed += missed;
    this.counters.skipped += batches.length;
    this.counters.lost += lost.length;
    const alerts = batches.flatMap((earlier) => earlier.alerts);
    if (!rest) alerts.push(...(batch?.alerts ?? []));
    return { sequence: message.seq, receipt, alerts, missed, skipped: batches.length, lost: [...lost] };
  }

  /** As `alerts.keep`. @throws BusError `cluster_unavailable`, `bad_receipt` */
  async keep(output: string, receipt: string): Promise<{ leftMs: number }> {
    this.#check(output, receipt);
    return await this.#told(async ({ nc }) => {
      nc.publish(subjectOf(receipt), '+WPI');
      await nc.flush();
      return { leftMs: HELD_MS };
    });
  }

  /** As `alerts.done`. @throws BusError `cluster_unavailable`, `bad_receipt` */
  async done(output: string, receipt: string, delivered: boolean): Promise<void> {
    this.#check(output, receipt);
    await this.#told(async ({ nc }) => {
      if (delivered && !receipt.endsWith(REST)) await nc.request(receipt, '+ACK', { timeout: ANSWER_MS });
      else nc.publish(subjectOf(receipt), '-NAK');
    });
    if (!delivered) return;
    this.counters.done += 1;
    const { places, given } = this.#output(output);
    if (given?.receipt === receipt) places.had(given);
  }

  #output(name: string): Output {
    const known = this.#outputs.get(name);
    if (known !== undefined) return known;
    const output = { places: new AlertPlaces() };
    this.#outputs.set(name, output);
    return output;
  }

  /** A receipt is a subject: a daemon publishes to no other one by it. */
  #check(output: string, receipt: string): void {
    const { name } = this.#parts.subjects.streams.alerts;
    const start = `$JS.ACK.${name}.${nameOf(output)}.`;
    if (!receipt.startsWith(start) || !/^[\w$.-]+$/.test(receipt)) {
      throw new BusError('bad_receipt', `'${receipt}' is no receipt of output ${output}`);
    }
  }

  async #told<T>(work: (session: NatsSession) => Promise<T>): Promise<T> {
    const session = this.#parts.link.session();
    try {
      return await work(session);
    } catch (error) {
      throw new BusError('cluster_unavailable', `The alerts of the cluster: ${describeError(error)}`, { cause: error });
    }
  }

  /** The consumer of an output; one that is new begins with what is alerted from now on. */
  async #consumer(session: NatsSession, stream: string, name: string): Promise<Consumer> {
    try {
      return await session.js.consumers.get(stream, name);
    } catch (error) {
      if (!isNoConsumer(error)) throw error;
    }
    const { limits, subjects } = this.#parts;
    const { state } = await alertStream(session, subjects.streams.alerts, limits);
    try {
      await session.jsm.consumers.add(stream, {
        durable_name: name,
        ack_policy: AckPolicy.Explicit,
        ack_wait: nanos(TURN_MS),
        max_ack_pending: 1,
        // By its number, as `new` would mean another one to the next leader as long as none was done.
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: state.last_seq + 1,
        inactive_threshold: nanos(FORGOTTEN_MS),
      });
    } catch (error) {
      // Another node has made it meanwhile, which begins elsewhere.
      const made = await session.js.consumers.get(stream, name).catch(() => undefined);
      if (made === undefined) throw error;
      return made;
    }
    return await session.js.consumers.get(stream, name);
  }

  readonly #read: ReadMessage = async ({ subject, data, seq }) => {
    try {
      return await this.#parts.messages.read(subject, data);
    } catch (error) {
      this.counters.unreadable += 1;
      this.#problems.error(`Alerts of the cluster (message ${String(seq)}) cannot be read: ${describeError(error)}.`);
      return undefined;
    }
  };
}

function nameOf(output: string): string {
  return `output_${output}`;
}

function subjectOf(receipt: string): string {
  return receipt.endsWith(REST) ? receipt.slice(0, -REST.length) : receipt;
}
