import { setTimeout as sleep } from 'node:timers/promises';
import { BusError } from '../../../lib/bus/bus-error.js';
import type { BusEvent } from '../../../lib/bus/bus-event.js';
import type { EventProducer } from '../../../lib/bus/event-producer.js';
import type { EventStream } from '../../../lib/bus/event-stream.js';
import { QUEUE_IDS } from '../../../lib/events/queue-ids.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { Outbox, SequencedEvent } from '../store/outbox.js';

/** Events read from disk at a time. */
const EVENTS_A_PIECE = 256;
const BYTES_A_PIECE = 1024 * 1024;
const SECOND_MS = 1000;

/** Time as the pace is kept by it. */
export type PaceClock = {
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  sleep(ms: number, signal: AbortSignal): Promise<unknown>;
};

const SYSTEM_CLOCK: PaceClock = {
  now: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
};

export type EventSenderParts = {
  readonly outbox: Outbox;
  readonly producer: Pick<EventProducer, 'openStream' | 'ready' | 'room'>;
  /** `max_eps`: events of queue 8 in a second; 0: as many as there are. Asked for each. */
  readonly maxEps: () => number;
  readonly logger: Logger;
  /** It cannot go on: what is in the outbox cannot be read, say. */
  readonly failed: (error: unknown) => void;
  readonly clock?: PaceClock | undefined;
};

/**
 * Brings what is in the outbox to the sink of the home, in order, and takes out what the sink has acknowledged. It goes
 * on where the sink is: what was sent and not taken out when the process ended is not told twice.
 */
export class EventSender {
  readonly counters = { sent: 0, acknowledged: 0, paused: 0 };

  readonly #parts: EventSenderParts;
  readonly #clock: PaceClock;
  readonly #stop = new AbortController();
  #stream: EventStream | undefined;
  #running: Promise<void> | undefined;
  #clearing: Promise<void> | undefined;
  #wake: () => void = () => {};
  #secondEnds = 0;
  #inSecond = 0;

  constructor(parts: EventSenderParts) {
    this.#parts = parts;
    this.#clock = parts.clock ?? SYSTEM_CLOCK;
  }

  start(): void {
    this.#parts.outbox.listen(() => {
      this.#wake();
    });
    this.#running ??= this.#run();
  }

  /** Sends no more. @param drained resolves when what was sent is acknowledged, or nobody waits for it any longer */
  async stop(drained: () => Promise<void>): Promise<void> {
    this.#stop.abort();
    this.#wake();
    await drained();
    await this.#running;
    await this.#clear();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    try {
      const stream = await this.#open();
      let last = this.#parts.outbox.acknowledged;
      while (!signal.aborted) {
        const events = this.#parts.outbox.behind(last, EVENTS_A_PIECE, BYTES_A_PIECE);
        if (events.length === 0) await this.#more(last);
        for (const [index, event] of events.entries()) {
          await this.#send(stream, event, index === events.length - 1);
          last = event.sequence;
        }
      }
    } catch (error) {
      if (signal.aborted || (error instanceof BusError && error.code === 'closed')) return;
      this.#parts.logger.error(`Events of files are not sent any more: ${describeError(error)}`);
      // A daemon that stayed would seem well, until all that is recorded waits for room.
      this.#parts.failed(error);
    }
  }

  /** Opens the stream and learns how far the sink is. */
  async #open(): Promise<EventStream> {
    const { outbox, producer, logger } = this.#parts;
    for (;;) {
      const known = outbox.acknowledged;
      const stream = producer.openStream(outbox.name, known, { rewind: true });
      this.#stream = stream;
      const position = await stream.position();
      if (position <= outbox.last) {
        if (position < known) {
          logger.warn(`The sink has lost ${known - position} events of files that it had acknowledged`);
        }
        await this.#clear();
        return stream;
      }
      logger.warn('The sink has had events of files that are not known here: the state is older than the sink');
      stream.close();
      await outbox.rename();
    }
  }

  async #more(last: number): Promise<void> {
    const { outbox } = this.#parts;
    while (outbox.onDisk <= last && !this.#stop.signal.aborted) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** @param tells whether it is to be heard when this one is acknowledged */
  async #send(stream: EventStream, { sequence, ...rest }: SequencedEvent, tells: boolean): Promise<void> {
    const { producer } = this.#parts;
    if (rest.queue === QUEUE_IDS.fileIntegrity) await this.#pace();
    const event: BusEvent = { ...rest, receivedAt: Date.now() };
    while (producer.room <= 0) {
      this.#stop.signal.throwIfAborted();
      await producer.ready();
    }
    this.#stop.signal.throwIfAborted();
    if (tells) {
      stream.send(event, sequence).then(
        () => this.#clear(),
        () => undefined,
      );
    } else {
      stream.trySend(event, sequence);
    }
    this.counters.sent += 1;
  }

  /** After so many events of a second the rest of it is waited for (integrity-and-inventory.md 4.2). */
  async #pace(): Promise<void> {
    const most = this.#parts.maxEps();
    if (most <= 0) return;
    const now = this.#clock.now();
    if (now >= this.#secondEnds) {
      this.#secondEnds = now + SECOND_MS;
      this.#inSecond = 0;
    }
    if (this.#inSecond >= most) {
      this.counters.paused += 1;
      await this.#clock.sleep(this.#secondEnds - now, this.#stop.signal);
      this.#secondEnds = this.#clock.now() + SECOND_MS;
      this.#inSecond = 0;
    }
    this.#inSecond += 1;
  }

  /** Takes out what is acknowledged; what is meanwhile goes with the next. */
  #clear(): Promise<void> {
    this.#clearing ??= this.#clearAll().finally(() => (this.#clearing = undefined));
    return this.#clearing;
  }

  async #clearAll(): Promise<void> {
    const { outbox, logger } = this.#parts;
    try {
      for (;;) {
        const last = Math.min(this.#stream?.acknowledged ?? 0, outbox.onDisk);
        if (last <= outbox.acknowledged) return;
        this.counters.acknowledged += last - outbox.acknowledged;
        await outbox.acknowledge(last);
      }
    } catch (error) {
      logger.debug(`Acknowledged events of files stay: ${describeError(error)}`);
    }
  }
}
