import type { DeliveryInfo } from '@nats-io/jetstream';
import type { RecordPosition } from '../../../lib/output/record-stream.js';
import type { AlertBatch } from './alert-messages.js';

/** Behind the last alerts of each home that an output had, by `homeOf`. */
export type Places = ReadonlyMap<string, RecordPosition>;

/** Alerts that an output was given. */
export type Given = {
  readonly info: Pick<DeliveryInfo, 'deliverySequence' | 'streamSequence'>;
  /** As they are when it has these. */
  readonly places: Places;
  /** Messages up to here are among them, or were before. */
  readonly through: number;
  /** Whether the message itself, and perhaps some before it, are still to come. */
  readonly rest: boolean;
};

/** Whose files positions of alerts are in. */
export function homeOf({ node, instance }: Pick<AlertBatch, 'node' | 'instance'>): string {
  return `${instance} ${node}`;
}

/**
 * How far an output is in the files of each node, as long as this node alone hands its alerts on: the numbers of the consumer's
 * deliveries say so. Where others lie between, another node may have had what this one did not see, so all of it is forgotten.
 */
export class AlertPlaces {
  #places: Places = new Map();
  /** The delivery before the first of the message that is due. */
  #delivered: number | undefined;
  /** Up to where the messages are handed on that go in front of one. */
  #through = { message: 0, sequence: 0 };

  get places(): Places {
    return this.#places;
  }

  /** To be told of each message that comes, before anything is asked. */
  came({ deliverySequence, deliveryCount }: Pick<DeliveryInfo, 'deliverySequence' | 'deliveryCount'>): void {
    const before = deliverySequence - deliveryCount;
    if (this.#delivered !== before) {
      this.#places = new Map();
      this.#through = { message: 0, sequence: 0 };
    }
    this.#delivered = before;
  }

  /** Messages up to here were handed on already in front of a message; 0: none. */
  through(message: number): number {
    return this.#through.message === message ? this.#through.sequence : 0;
  }

  /** Whether the output had these alerts. */
  has(batch: AlertBatch): boolean {
    const place = this.#places.get(homeOf(batch));
    return place?.file === batch.position.file && place.offset >= batch.position.offset;
  }

  /** They are delivered, and NATS knows it. */
  had({ info, places, through, rest }: Given): void {
    this.#places = places;
    this.#through = { message: info.streamSequence, sequence: through };
    if (!rest) this.#delivered = info.deliverySequence;
  }
}
