import type { BusEvent, EventBatch } from '../../../lib/bus/bus-event.js';

/** An event as logcollector makes one. */
export function sampleEvent(text: string, more: Partial<BusEvent> = {}): BusEvent {
  return {
    queue: '1',
    location: '/var/log/auth.log',
    message: Buffer.from(text),
    receivedAt: 1_795_219_200_123,
    ...more,
  };
}

/** The seam of the journal for tests: keeps texts in order, and can be held or made to fail. */
export class RecordingJournal {
  readonly texts: string[] = [];
  readonly batches: EventBatch[] = [];
  /** Appends fail with this while it is set. */
  failure: string | undefined;
  /** Appends that have begun. */
  begun = 0;
  #gate: Promise<void> = Promise.resolve();
  #open: () => void = () => {};

  /** Appends wait until `release`. */
  hold(): void {
    this.#gate = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  release(): void {
    this.#open();
  }

  readonly append = async (batch: EventBatch): Promise<void> => {
    this.begun += 1;
    await this.#gate;
    if (this.failure !== undefined) throw new Error(this.failure);
    this.batches.push(batch);
    for (const event of batch.events) this.texts.push(event.message.toString());
  };
}
