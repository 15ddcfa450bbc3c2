import type { ReceivedEvent } from '../../../lib/bus/bus-event.js';
import { MemoryStreamPositions } from '../../../lib/bus/stream-positions.js';
import { IdempotencyMemory, type IdempotencySnapshot } from '../idempotency.js';

/** What says whether an event was analysed before. */
export type TakenEvent = Pick<ReceivedEvent, 'stream' | 'sequence' | 'idempotency' | 'receivedAt'>;

/** What is remembered of the events analysed so far, as plain data for a checkpoint. */
export type TakenSnapshot = {
  /** Last sequence of every stream, the one moved last at the end. */
  readonly streams: readonly (readonly [string, number])[];
  readonly keys: IdempotencySnapshot;
};

/**
 * Which events were analysed: by their places in their streams, as a record can be in the journal twice after a write that
 * failed half way, and by the keys of requests (architecture.md 4 "Events"). It goes by the journal alone, so that a replay
 * drops the same ones.
 */
export class TakenEvents {
  readonly #streams = new MemoryStreamPositions();
  readonly #keys = new IdempotencyMemory();
  /** The stream of the last event; its position is set when another one comes, as most events follow one of their own. */
  #stream = '';
  #sequence = -1;

  /** Notes an event; false when it was analysed before. */
  take({ stream, sequence, idempotency, receivedAt }: TakenEvent): boolean {
    if (stream !== this.#stream) {
      this.#settle();
      this.#stream = stream;
      this.#sequence = this.#streams.get(stream) ?? -1;
    }
    if (sequence <= this.#sequence) return false;
    this.#sequence = sequence;
    return idempotency === undefined || this.#keys.take(idempotency.key, idempotency.index, receivedAt);
  }

  snapshot(): TakenSnapshot {
    this.#settle();
    return { streams: [...this.#streams.entries()], keys: this.#keys.snapshot() };
  }

  restore({ streams, keys }: TakenSnapshot): void {
    for (const [stream, sequence] of streams) this.#streams.set(stream, sequence);
    this.#keys.restore(keys);
  }

  #settle(): void {
    if (this.#sequence >= 0) this.#streams.set(this.#stream, this.#sequence);
  }
}
