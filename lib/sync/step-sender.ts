import { unlessAborted } from '../async/unless-aborted.js';
import type { SyncRow, SyncStep } from '../events/sync/sync-step.js';
import { readable } from '../fim/byte-order.js';
import type { LimitedLogger, Logger } from '../log/logger.js';
import type { Pace } from './pace.js';
import type { SyncOutlet } from './sync-outlet.js';

/** Characters of a key that a log line shows. */
const SHOWN_KEY = 256;

export type StepSenderParts<Row extends SyncRow> = {
  readonly outlet: SyncOutlet;
  /** A step as its message for queue 5, a byte string. */
  readonly message: (step: SyncStep<Row>) => string;
  /** Longest message, bytes. */
  readonly maxBytes: number;
  /** How fast; several tables may share it. */
  readonly pace: Pace;
  /** Told of each message that was handed on. */
  readonly sent?: (kind: 'check' | 'state') => void;
  readonly logger: Logger;
};

/** Sends what a table has to say to the manager. */
export class StepSender<Row extends SyncRow> {
  readonly counters = { checks: 0, states: 0, too_long: 0 };
  readonly #parts: StepSenderParts<Row>;
  readonly #tooLongLog: LimitedLogger;

  constructor(parts: StepSenderParts<Row>) {
    this.#parts = parts;
    this.#tooLongLog = parts.logger.limited();
  }

  /**
   * Sends them until one is lost: a manager that is not there gets nothing of the rest either.
   * @param after called behind each, when the next may come
   */
  async sendAll(steps: AsyncIterable<SyncStep<Row>>, signal: AbortSignal, after: () => void = () => {}): Promise<void> {
    const { outlet } = this.#parts;
    const { lost } = outlet;
    for await (const step of steps) {
      await this.send(step, signal);
      after();
      if (outlet.lost > lost || signal.aborted) return;
    }
  }

  /** Resolves when the next one may come. A message that is too long is counted and not sent. */
  async send(step: SyncStep<Row>, signal: AbortSignal): Promise<void> {
    const { outlet, message, maxBytes, pace, sent } = this.#parts;
    const text = message(step);
    if (text.length > maxBytes) {
      this.counters.too_long += 1;
      const key = step.type === 'state' ? step.row.key : 'check' in step ? step.check.begin : '';
      this.#tooLongLog.warn(
        `A message of the synchronisation is longer than ${maxBytes} bytes and not sent: '${readable(key).slice(0, SHOWN_KEY)}'`,
      );
      return;
    }
    await unlessAborted(signal, outlet.send(text));
    if (signal.aborted) return;
    this.counters[step.type === 'state' ? 'states' : 'checks'] += 1;
    sent?.(step.type === 'state' ? 'state' : 'check');
    await pace.sent(signal);
  }
}
