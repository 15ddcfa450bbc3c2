import { setTimeout as delay } from 'node:timers/promises';
import { EventProducer } from '../../lib/bus/event-producer.js';
import type { EventStream } from '../../lib/bus/event-stream.js';
import type { Home } from '../../lib/home/home.js';
import { RecordingLogger } from '../support/recording-logger.js';
import type { Ledger } from './ledger.js';
import { eventText } from './numbered-events.js';
import type { Random } from './random.js';
import type { RunClock } from './run-clock.js';

const POLL_MS = 50;
const MAX_UNACKNOWLEDGED = 2000;

type Entry = { readonly sequence: number; readonly number: number };

/**
 * A producer whose stream outlives it, as that of a followed file does: after a crash it asks where the stream stands,
 * takes everything up to there for acknowledged, and sends the rest again.
 */
export class StreamSender {
  readonly #home: Home;
  readonly #ledger: Ledger;
  readonly #random: Random;
  readonly #rate: number;
  readonly #clock: RunClock;
  /** What is not acknowledged, in order. */
  #entries: Entry[] = [];
  #sequence = 0;
  #acknowledged = 0;
  #producer: EventProducer | undefined;
  #stream: EventStream | undefined;
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
  }

  start(): void {
    this.#open();
    this.#working = this.#work();
  }

  /** Makes no new events; resolves when all are acknowledged. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#working;
    while (this.#entries.length > 0 && !this.#givenUp) {
      this.#collect();
      await delay(POLL_MS);
    }
    await this.#producer?.close(0);
  }

  giveUp(): void {
    this.#stopping = true;
    this.#givenUp = true;
  }

  /** The process ends without a word and another one takes the stream over. */
  async crash(): Promise<void> {
    this.#collect();
    const old = this.#producer;
    this.#stream = undefined;
    await old?.close(0);
    this.#open();
  }

  #open(): void {
    const path = this.#home.eventsSocket();
    const producer = new EventProducer({ path, daemon: 'svc-chaos', logger: new RecordingLogger() });
    producer.start();
    this.#producer = producer;
    const stream = producer.openStream('chaos:stream', this.#acknowledged);
    stream.position().then(
      (position) => {
        this.#settle(position);
        for (const { sequence, number } of this.#entries) this.#send(stream, number, sequence);
        this.#stream = stream;
      },
      () => {
        // Closed before a sink answered; its successor asks again.
      },
    );
  }

  async #work(): Promise<void> {
    while (!this.#stopping) {
      const count = this.#random.integer(1, 20);
      const stream = this.#stream;
      if (stream !== undefined && this.#entries.length < MAX_UNACKNOWLEDGED) {
        for (let i = 0; i < count; i += 1) {
          const number = this.#ledger.take('stream');
          this.#sequence += this.#random.integer(1, 90);
          this.#entries.push({ sequence: this.#sequence, number });
          this.#send(stream, number, this.#sequence);
        }
      }
      this.#collect();
      await delay(((2 * count * 1000) / this.#rate) * this.#random.next());
    }
  }

  #send(stream: EventStream, number: number, sequence: number): void {
    const message = Buffer.from(eventText(number, 'stream'));
    const taken = stream.trySend(
      { queue: '1', location: 'chaos-stream', message, receivedAt: this.#clock.now() },
      sequence,
    );
    if (!taken) throw new Error('the window has room for more than this');
  }

  #collect(): void {
    if (this.#stream !== undefined) this.#settle(this.#stream.acknowledged);
  }

  #settle(position: number): void {
    this.#acknowledged = Math.max(this.#acknowledged, position);
    const first = this.#entries.findIndex(({ sequence }) => sequence > position);
    const done = first < 0 ? this.#entries : this.#entries.slice(0, first);
    for (const { number } of done) this.#ledger.acknowledge(number);
    this.#entries = this.#entries.slice(done.length);
  }
}
