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
import type { AlertMessages } from './alert-messages.js';
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

export type AlertTurnsParts = {
  readonly link: NatsLink;
  readonly subjects: ClusterSubjects;
  readonly messages: AlertMessages;
  readonly limits: AlertLimits;
  readonly logger: Logger;
};

type Taken = CallResult<typeof clusterdContract, 'alerts.take'>;
const NOTHING: Taken['behind'] = { messages: 0, bytes: 0 };

/**
 * Gives the alerts of all nodes to outputs, a message at a time: each output has one durable consumer for all nodes, which gives the
 * next message only when the one before is done, and the same again, to whichever node asks, when it is not done in time.
 */
export class AlertTurns {
  readonly counters = { taken: 0, again: 0, done: 0, missed: 0, unreadable: 0 };
  readonly #parts: AlertTurnsParts;
  readonly #problems: LimitedLogger;

  constructor(parts: AlertTurnsParts) {
    this.#parts = parts;
    this.#problems = parts.logger.limited();
  }

  /** As `alerts.take` of the contract. @throws BusError `cluster_unavailable` */
  async take(output: string, waitMs: number): Promise<Taken> {
    return await this.#told(async (session) => {
      const { alerts: plan } = this.#parts.subjects.streams;
      const consumer = await this.#consumer(session, plan.name, nameOf(output));
      const { ack_floor: done } = await consumer.info(true);
      const message = await consumer.next({ expires: Math.max(LEAST_WAIT_MS, waitMs) });
      if (message === null) return { batch: null, behind: NOTHING };
      const missed = await this.#missed(session, done.stream_seq, message.seq);
      this.counters.taken += 1;
      if (message.redelivered) this.counters.again += 1;
      this.counters.missed += missed;
      const { length } = message.data;
      const behind = { messages: message.info.pending, bytes: message.info.pending * length };
      // The interface does not have it, its objects do.
      const { reply: receipt } = message as JsMsg & { readonly reply: string };
      return {
        batch: { sequence: message.seq, receipt, alerts: await this.#read(message), missed, leftMs: HELD_MS },
        behind,
      };
    });
  }

  /** As `alerts.keep`. @throws BusError `cluster_unavailable`, `bad_receipt` */
  async keep(output: string, receipt: string): Promise<{ leftMs: number }> {
    this.#check(output, receipt);
    return await this.#told(async ({ nc }) => {
      nc.publish(receipt, '+WPI');
      await nc.flush();
      return { leftMs: HELD_MS };
    });
  }

  /** As `alerts.done`. @throws BusError `cluster_unavailable`, `bad_receipt` */
  async done(output: string, receipt: string, delivered: boolean): Promise<void> {
    this.#check(output, receipt);
    await this.#told(async ({ nc }) => {
      if (delivered) await nc.request(receipt, '+ACK', { timeout: ANSWER_MS });
      else nc.publish(receipt, '-NAK');
    });
    if (delivered) this.counters.done += 1;
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
    await alertStream(session, subjects.streams.alerts, limits);
    await session.jsm.consumers.add(stream, {
      durable_name: name,
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(TURN_MS),
      max_ack_pending: 1,
      deliver_policy: DeliverPolicy.New,
      inactive_threshold: nanos(FORGOTTEN_MS),
    });
    return await session.js.consumers.get(stream, name);
  }

  /** Messages that were dropped before this output took them. */
  async #missed({ jsm }: NatsSession, done: number, next: number): Promise<number> {
    if (next <= done + 1) return 0;
    const { state } = await jsm.streams.info(this.#parts.subjects.streams.alerts.name);
    return Math.max(0, Math.min(state.first_seq, next) - done - 1);
  }

  async #read({ subject, data, seq }: JsMsg): Promise<string[]> {
    try {
      return (await this.#parts.messages.read(subject, data)).alerts;
    } catch (error) {
      this.counters.unreadable += 1;
      this.#problems.error(`Alerts of the cluster (message ${String(seq)}) cannot be read: ${describeError(error)}.`);
      return [];
    }
  }
}

function nameOf(output: string): string {
  return `output_${output}`;
}
