import type { EventBatch } from '../../../lib/bus/bus-event.js';
import { encodeEventBatch } from '../../../lib/journal/event-batch.js';
import type { Journal } from '../../../lib/journal/journal.js';
import { describeError } from '../../../lib/log/describe-error.js';
import { type Control, encodeControl, EVENTS, type OfferedRecord } from './journal-record.js';

/** Who is told of records that are durable, in their order. */
export type Follower = { offer(record: OfferedRecord): void };

/**
 * The way into the journal: batches of the event sink and control records. What is appended is handed to its followers once
 * it is durable. A batch that cannot be kept is refused, so that its producers keep it.
 */
export class Intake {
  readonly #journal: Journal;
  readonly #followers: readonly Follower[];
  readonly #now: () => number;
  /** Control records that must stand before the next event. Each is made when it is tried. */
  readonly #required: (() => Control)[] = [];
  #meeting: Promise<void> | undefined;
  #blocked: string | undefined;
  /** Events that are in the journal. */
  journaled = 0;

  /** @param now epoch milliseconds */
  constructor(journal: Journal, followers: readonly Follower[], now: () => number) {
    this.#journal = journal;
    this.#followers = followers;
    this.#now = now;
  }

  /** Why the last attempt to append failed; undefined when it did not. */
  get blocked(): string | undefined {
    return this.#blocked;
  }

  /** Has a record appended before any further event; it is tried again with each batch until it can be. */
  require(make: () => Control): void {
    this.#required.push(make);
  }

  /** Takes a batch; it is durable, as far as the policy promises, when this resolves. @throws Error saying why not */
  async take(batch: EventBatch): Promise<void> {
    await this.meet();
    const encoded = encodeEventBatch(batch);
    await this.#append(EVENTS, encoded.payload, encoded);
    this.journaled += encoded.count;
  }

  /**
   * Appends a control record, behind those that are required.
   * @returns its position
   * @throws Error saying why not
   */
  async control(control: Control): Promise<number> {
    await this.meet();
    return this.#appendControl(control);
  }

  /** Appends what is required. @throws Error saying why not */
  async meet(): Promise<void> {
    while (this.#required.length > 0) await (this.#meeting ??= this.#meetOne());
  }

  async #meetOne(): Promise<void> {
    try {
      const [make] = this.#required;
      if (make === undefined) return;
      let control: Control;
      try {
        control = make();
      } catch (error) {
        throw this.#refusal(error);
      }
      await this.#appendControl(control);
      this.#required.shift();
    } finally {
      this.#meeting = undefined;
    }
  }

  #appendControl(control: Control): Promise<number> {
    const { kind, payload } = encodeControl(control);
    return this.#append(kind, payload, control);
  }

  async #append(kind: number, payload: Buffer, content: OfferedRecord['content']): Promise<number> {
    const writtenAt = this.#now();
    try {
      const { position, next } = await this.#journal.append(kind, payload, writtenAt);
      this.#blocked = undefined;
      for (const follower of this.#followers) follower.offer({ position, next, writtenAt, content });
      return position;
    } catch (error) {
      throw this.#refusal(error);
    }
  }

  #refusal(error: unknown): Error {
    this.#blocked = describeError(error);
    return new Error(this.#blocked, { cause: error });
  }
}
