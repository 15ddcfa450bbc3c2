import { pause } from '../../../lib/async/pause.js';
import type { BusEvent } from '../../../lib/bus/bus-event.js';
import type { EventProducer } from '../../../lib/bus/event-producer.js';

export type PacedSenderParts = {
  readonly producer: Pick<EventProducer, 'send'>;
  /** Events a second of each sender: `wazuh_modules.max_eps`. */
  readonly maxEps: () => number;
};

const SECOND_MS = 1000;

/** Sends events of a module, so many a second at most. */
export class PacedSender {
  readonly #parts: PacedSenderParts;
  #begun = 0;
  #count = 0;

  constructor(parts: PacedSenderParts) {
    this.#parts = parts;
  }

  /** Resolves when the event is acknowledged, or when the signal comes: a stop does not wait for a sink that is away. */
  async send(event: BusEvent, signal: AbortSignal): Promise<void> {
    const { producer, maxEps } = this.#parts;
    const passed = performance.now() - this.#begun;
    if (passed < SECOND_MS && this.#count >= maxEps()) await pause(SECOND_MS - passed, signal);
    if (performance.now() - this.#begun >= SECOND_MS) {
      this.#begun = performance.now();
      this.#count = 0;
    }
    this.#count += 1;
    await untilAborted(producer.send(event), signal);
  }
}

/** What comes first; a signal that lives long keeps nothing of it. */
async function untilAborted(sent: Promise<void>, signal: AbortSignal): Promise<void> {
  let aborted = (): void => {};
  const abort = new Promise<void>((resolve) => {
    aborted = resolve;
  });
  if (signal.aborted) aborted();
  signal.addEventListener('abort', aborted, { once: true });
  try {
    await Promise.race([sent, abort]);
  } finally {
    signal.removeEventListener('abort', aborted);
  }
}
