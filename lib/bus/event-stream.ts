import type { BusError } from './bus-error.js';
import type { BusEvent } from './bus-event.js';

/** A source whose sequences mean something outside this process, such as offsets in a followed file. */
export interface EventStream {
  /** `device:inode:generation` for a followed file. */
  readonly name: string;
  /**
   * Where to go on: the last sequence the sink has accepted, or the `from` given at `openStream` if the sink does not
   * know the stream, or knows less and the stream cannot go back. Resolves when a sink has answered; rejects only with
   * `closed`.
   */
  position(): Promise<number>;
  /** Last sequence that is acknowledged: the place it is safe to forget up to. */
  readonly acknowledged: number;
  /**
   * As `EventProducer.trySend`. Sequences increase, not by one.
   * @throws RangeError for a sequence that does not increase
   */
  trySend(event: BusEvent, sequence: number): boolean;
  /** As `EventProducer.send`. */
  send(event: BusEvent, sequence: number): Promise<void>;
  /** Takes no more events; the stream is forgotten once everything is acknowledged. */
  close(): void;
}

/** The two ends of a promise that waits for something of the producer. */
export type Waiter = { readonly resolve: () => void; readonly reject: (error: BusError) => void };

/** A stream as its producer keeps it. */
export class StreamState {
  /** Last sequence that is on the wire, or acknowledged. */
  sent: number;
  /** Last sequence that was taken into the window. */
  taken: number;
  /** Events in the window. */
  pending = 0;
  /** A sink has told where it is since the stream was opened. */
  welcomed = false;
  closed = false;

  /** Goes to where the sink is. False when it is behind what was acknowledged, and going back is too late. */
  moveTo(position: number): boolean {
    const back = position < this.acknowledged;
    if (back && this.rewindable && this.taken > this.acknowledged) return false;
    if (back && this.rewindable) {
      this.acknowledged = position;
      this.taken = position;
    } else {
      this.acknowledged = Math.max(this.acknowledged, position);
    }
    this.rewindable = false;
    return true;
  }

  /** Those who wait for `welcomed`. */
  readonly waiters: Waiter[] = [];

  /**
   * @param acknowledged last sequence that is acknowledged
   * @param rewindable nothing was sent yet, and its source can be read again from any sequence
   */
  constructor(
    readonly name: string,
    public acknowledged: number,
    public rewindable = false,
  ) {
    this.sent = acknowledged;
    this.taken = acknowledged;
  }
}
