import { QUEUE_IDS } from '../../../lib/events/queue-ids.js';
import { PacedSender, type PacedSenderParts } from '../schedule/paced-sender.js';

const LOCATION = 'sca';

/** Sends messages of the assessment (queue p, location `sca`). */
export class ScaSender {
  /** Messages that were sent. */
  sent = 0;
  readonly #paced: PacedSender;

  constructor(parts: PacedSenderParts) {
    this.#paced = new PacedSender(parts);
  }

  /** @throws the reason of the signal */
  async send(text: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const event = {
      queue: QUEUE_IDS.policyAssessment,
      location: LOCATION,
      message: Buffer.from(text),
      receivedAt: Date.now(),
    };
    await this.#paced.send(event, signal);
    signal.throwIfAborted();
    this.sent += 1;
  }
}
