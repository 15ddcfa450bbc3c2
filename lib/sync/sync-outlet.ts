import { BusError } from '../bus/bus-error.js';
import type { BusEvent } from '../bus/bus-event.js';
import type { EventProducer } from '../bus/event-producer.js';
import type { CallOptions } from '../bus/request-client.js';
import { QUEUE_IDS } from '../events/queue-ids.js';
import { bytesOf } from '../fim/byte-order.js';
import { describeError } from '../log/describe-error.js';
import type { LimitedLogger, Logger } from '../log/logger.js';
import { InFlight } from './in-flight.js';

/** Messages on their way to the sink: few, so that events of files find room in the same window. */
const MOST_EVENTS = 256;
/** Calls to svc-db under way: what it writes together goes to the disk together. */
const MOST_CALLS = 64;
/** Milliseconds: a check reads all of a large table, behind whatever waits before it. */
const CALL_DEADLINE_MS = 60_000;

/** The way of messages of queue 5 to the manager. One caller at a time. */
export interface SyncOutlet {
  /** Messages that were taken and did not get there: logged, and no reason to send what was to follow them. */
  readonly lost: number;
  /** Takes a message and resolves when the next one may come. @param message a byte string @throws Error when it is closed */
  send(message: string): Promise<void>;
}

export type AgentOutletParts = {
  readonly producer: Pick<EventProducer, 'room' | 'ready' | 'send'>;
  /** Where the messages say they come from. */
  readonly location: string;
  /** Kind of the messages; by default those of the synchronisation. */
  readonly queue?: string;
  /** What one is called in the log. */
  readonly called?: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly logger: Logger;
};

/** On an agent: events on the producer's own stream, which svc-agentd takes to the manager. Answers come as orders. */
export class AgentOutlet implements SyncOutlet {
  readonly #parts: AgentOutletParts;
  readonly #inFlight: InFlight;
  #lost = 0;

  constructor(parts: AgentOutletParts) {
    this.#parts = parts;
    const { called = 'message of the synchronisation' } = parts;
    const lostLog = parts.logger.limited();
    this.#inFlight = new InFlight(MOST_EVENTS, (error) => {
      this.#lost += 1;
      lostLog.warn(`A ${called} did not get to the sink of events: ${describeError(error)}`);
    });
  }

  get lost(): number {
    return this.#lost;
  }

  async send(message: string): Promise<void> {
    const { producer, location, queue = QUEUE_IDS.synchronization, now } = this.#parts;
    await this.#inFlight.room();
    while (producer.room <= 0) await producer.ready();
    const event: BusEvent = {
      queue,
      location,
      message: bytesOf(message),
      receivedAt: now(),
    };
    this.#inFlight.add(producer.send(event));
  }
}

export type ManagerOutletParts = {
  /** Hands a message to svc-db: a method such as `fim.sync`. */
  readonly deliver: (message: Uint8Array, options: CallOptions) => Promise<{ readonly order?: Uint8Array | undefined }>;
  /** Told what svc-db would have sent to an agent behind `#!-`, a byte string. */
  readonly answered: (order: string) => void;
  readonly logger: Logger;
};

/** On the manager: straight to svc-db, whose answers come back from it. */
export class ManagerOutlet implements SyncOutlet {
  readonly #parts: ManagerOutletParts;
  readonly #inFlight: InFlight;
  readonly #refusedLog: LimitedLogger;
  #lost = 0;

  constructor(parts: ManagerOutletParts) {
    this.#parts = parts;
    this.#refusedLog = parts.logger.limited();
    const lostLog = parts.logger.limited();
    this.#inFlight = new InFlight(MOST_CALLS, (error) => {
      this.#lost += 1;
      lostLog.warn(`A message of the synchronisation did not get to svc-db: ${describeError(error)}`);
    });
  }

  get lost(): number {
    return this.#lost;
  }

  async send(message: string): Promise<void> {
    await this.#inFlight.room();
    this.#inFlight.add(this.#carry(message));
  }

  async #carry(message: string): Promise<void> {
    const { deliver, answered } = this.#parts;
    try {
      const { order } = await deliver(bytesOf(message), { deadlineMs: CALL_DEADLINE_MS });
      if (order !== undefined) answered(Buffer.from(order).toString('latin1'));
    } catch (error) {
      // That is about one message; the others may well be good.
      if (!(error instanceof BusError) || error.code !== 'bad_message') throw error;
      this.#refusedLog.warn(`svc-db refused a message of the synchronisation: ${describeError(error)}`);
    }
  }
}
