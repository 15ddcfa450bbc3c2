import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { BusEvent } from '../../lib/bus/bus-event.js';
import { EventProducer } from '../../lib/bus/event-producer.js';
import type { Home } from '../../lib/home/home.js';
import { RecordingLogger } from '../support/recording-logger.js';
import type { Ledger } from './ledger.js';
import { eventText } from './numbered-events.js';
import type { Random } from './random.js';
import type { RunClock } from './run-clock.js';

const MAX_PENDING = 4000;
const DRAIN_POLL_MS = 50;

type Keyed = { readonly number: number; readonly event: BusEvent };

/**
 * A daemon that sends numbered events over the bus and crashes at times. What it had not acknowledged then is sent again
 * by its successor when the events carry an idempotency key, and else given up.
 */
export class BusSender {
  readonly #home: Home;
  readonly #ledger: Ledger;
  readonly #random: Random;
  readonly #rate: number;
  readonly #clock: RunClock;
  /** Unacknowledged events that may be sent again. */
  readonly #keyed = new Set<Keyed>();
  #producer: EventProducer;
  #working: Promise<void> | undefined;
  #stopping = false;
  #givenUp = false;

  /** @param rate events a second, about */
  constructor(home: Home, ledger: Ledger, random: Random, rate: number, clock: RunClock) {
    this.#home = home;
    this.#ledger = ledger;
    this.#random = random;
    this.#rate = rate;
    this.#clock = clock;
    this.#producer = this.#makeProducer();
  }

  start(): void {
    this.#working = this.#work();
  }

  /** Makes no new events; resolves when all are acknowledged. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#working;
    while ((this.#producer.pending > 0 || this.#keyed.size > 0) && !this.#givenUp) await delay(DRAIN_POLL_MS);
    await this.#producer.close(0);
  }

  giveUp(): void {
    this.#stopping = true;
    this.#givenUp = true;
  }

  /** Sends many events at once, unless the last such crowd is not through yet. */
  crowd(count: number): void {
    if (!this.#stopping && this.#producer.pending < MAX_PENDING) this.#sendSome(count);
  }

  /** The process ends without a word; no acknowledgement reaches it any more. */
  async crash(): Promise<void> {
    const old = this.#producer;
    this.#producer = this.#makeProducer();
    await old.close(0);
    for (const keyed of this.#keyed) this.#send(keyed.number, keyed.event, keyed);
  }

  #makeProducer(): EventProducer {
    const path = this.#home.eventsSocket();
    const producer = new EventProducer({ path, daemon: 'svc-chaos', logger: new RecordingLogger() });
    producer.start();
    return producer;
  }

  async #work(): Promise<void> {
    while (!this.#stopping) {
      const count = this.#random.integer(1, 20);
      if (this.#producer.pending < MAX_PENDING) this.#sendSome(count);
      await delay(((2 * count * 1000) / this.#rate) * this.#random.next());
    }
  }

  #sendSome(count: number): void {
    const key = this.#random.chance(0.5) ? randomBytes(12).toString('hex') : undefined;
    for (let index = 0; index < count; index += 1) {
      const number = this.#ledger.take('bus');
      const event: BusEvent = {
        queue: '1',
        location: 'chaos-bus',
        message: Buffer.from(eventText(number, 'bus')),
        receivedAt: this.#clock.now(),
        idempotency: key === undefined ? undefined : { key, index },
      };
      const keyed = key === undefined ? undefined : { number, event };
      if (keyed !== undefined) this.#keyed.add(keyed);
      this.#send(number, event, keyed);
    }
  }

  #send(number: number, event: BusEvent, keyed: Keyed | undefined): void {
    this.#producer.send(event).then(
      () => {
        this.#ledger.acknowledge(number);
        if (keyed !== undefined) this.#keyed.delete(keyed);
      },
      () => {
        // The producer was closed: the event may have arrived or not.
      },
    );
  }
}
