import { BusError } from '../../lib/bus/bus-error.js';
import type { syscheckdContract } from '../../lib/bus/contracts/syscheckd.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../lib/log/logger.js';

/** Orders on their way to svc-syscheckd: stops a manager gone wrong from filling memory. */
const MOST_WAITING = 4096;
/** The same in bytes: an order may be as long as a message. */
const MOST_WAITING_BYTES = 16 * 1024 * 1024;

export type IntegrityParts = {
  readonly syscheckd: RequestClient<typeof syscheckdContract>;
  /** Milliseconds until a call fails. */
  readonly deadlineMs: number;
  readonly logger: Logger;
};

/**
 * What a manager wants of svc-syscheckd: orders and answers of the synchronisation, which nobody is told the outcome of,
 * and requests (integrity-and-inventory.md 1.2).
 */
export class IntegrityOrders {
  /** Orders that arrived there, those it does not know, those it did not get, and those that found no room. */
  readonly counters = { delivered: 0, refused: 0, failed: 0, dropped: 0 };
  readonly #parts: IntegrityParts;
  readonly #refusedLog: LimitedLogger;
  readonly #failedLog: LimitedLogger;
  readonly #droppedLog: LimitedLogger;
  #waiting = 0;
  #bytes = 0;

  constructor(parts: IntegrityParts) {
    this.#parts = parts;
    this.#refusedLog = parts.logger.limited();
    this.#failedLog = parts.logger.limited();
    this.#droppedLog = parts.logger.limited();
  }

  /** Hands an order on, in the order they come. @param text what is behind `#!-`, a byte string */
  take(text: string): void {
    if (this.#waiting >= MOST_WAITING || this.#bytes + text.length > MOST_WAITING_BYTES) {
      this.counters.dropped += 1;
      this.#droppedLog.warn(`Order '${nameOf(text)}' dropped: too many wait for svc-syscheckd.`);
      return;
    }
    void this.#carry(text);
  }

  /** Answers a request of target `syscheck`. @param text a byte string */
  async answer(text: string): Promise<string> {
    const { syscheckd, deadlineMs } = this.#parts;
    const [command, section] = text.split(' ', 2);
    try {
      if (command !== 'getconfig') {
        await syscheckd.call('order', { text }, { deadlineMs });
        return 'ok ';
      }
      if (section === undefined || section === '') return 'err SYSCOM getconfig needs arguments';
      return `ok ${JSON.stringify(await syscheckd.call('config', { section }, { deadlineMs }))}`;
    } catch (error) {
      const code = error instanceof BusError ? error.code : undefined;
      // A text that cannot be an order, or the name of a section, is refused by the contract already.
      if (code === 'unrecognized' || (code === 'bad_params' && command !== 'getconfig')) {
        return 'err Unrecognized command';
      }
      if (code === 'unknown_section' || code === 'bad_params') return 'err Could not get requested section';
      return `err ${describeError(error)}`;
    }
  }

  async #carry(text: string): Promise<void> {
    const { syscheckd, deadlineMs } = this.#parts;
    this.#waiting += 1;
    this.#bytes += text.length;
    try {
      await syscheckd.call('order', { text }, { deadlineMs });
      this.counters.delivered += 1;
    } catch (error) {
      if (error instanceof BusError && (error.code === 'unrecognized' || error.code === 'off')) {
        this.counters.refused += 1;
        this.#refusedLog.warn(`svc-syscheckd refused the order '${nameOf(text)}': ${describeError(error)}`);
      } else {
        this.counters.failed += 1;
        this.#failedLog.warn(`Order '${nameOf(text)}' did not get to svc-syscheckd: ${describeError(error)}`);
      }
    } finally {
      this.#waiting -= 1;
      this.#bytes -= text.length;
    }
  }
}

/** The first words of an order, for the log: what follows may be a path. */
function nameOf(text: string): string {
  return text
    .split(' ', 3)
    .join(' ')
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, 64);
}
