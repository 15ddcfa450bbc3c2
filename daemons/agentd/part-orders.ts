import { BusError } from '../../lib/bus/bus-error.js';
import type { CallOptions } from '../../lib/bus/request-client.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../lib/log/logger.js';

/** Orders on their way to one daemon: stops a manager gone wrong from filling memory. */
const MOST_WAITING = 4096;
/** The same in bytes: an order may be as long as a message. */
const MOST_WAITING_BYTES = 16 * 1024 * 1024;

/** A daemon of the host that a manager gives orders to. */
export interface OrderedPart {
  /** Takes an order, a byte string. @throws BusError `unrecognized` */
  order(params: { readonly text: string }, options: CallOptions): Promise<unknown>;
  /** A section of its configuration. @throws BusError `unknown_section` */
  config(params: { readonly section: string }, options: CallOptions): Promise<unknown>;
}

export type PartOrdersParts = {
  readonly part: OrderedPart;
  /** Its name. */
  readonly daemon: string;
  /** What stands before `getconfig needs arguments`, as in the reference: `SYSCOM`. */
  readonly prefix: string;
  /** Milliseconds until a call fails. */
  readonly deadlineMs: number;
  readonly logger: Logger;
};

/**
 * What a manager wants of svc-syscheckd or svc-modulesd: orders and answers of the synchronisation, which nobody is told the
 * outcome of, and requests (integrity-and-inventory.md 1.2).
 */
export class PartOrders {
  /** Orders that arrived there, those it does not know, those it did not get, and those that found no room. */
  readonly counters = { delivered: 0, refused: 0, failed: 0, dropped: 0 };
  readonly #parts: PartOrdersParts;
  readonly #refusedLog: LimitedLogger;
  readonly #failedLog: LimitedLogger;
  readonly #droppedLog: LimitedLogger;
  #waiting = 0;
  #bytes = 0;

  constructor(parts: PartOrdersParts) {
    this.#parts = parts;
    this.#refusedLog = parts.logger.limited();
    this.#failedLog = parts.logger.limited();
    this.#droppedLog = parts.logger.limited();
  }

  /** Hands an order on, in the order they come. @param text what is behind `#!-`, a byte string */
  take(text: string): void {
    if (this.#waiting >= MOST_WAITING || this.#bytes + text.length > MOST_WAITING_BYTES) {
      this.counters.dropped += 1;
      this.#droppedLog.warn(`Order '${nameOf(text)}' dropped: too many wait for ${this.#parts.daemon}.`);
      return;
    }
    void this.#carry(text);
  }

  /** Answers a request. @param text a byte string */
  async answer(text: string): Promise<string> {
    const { part, prefix, deadlineMs } = this.#parts;
    const [command, section] = text.split(' ', 2);
    try {
      if (command !== 'getconfig') {
        await part.order({ text }, { deadlineMs });
        return 'ok ';
      }
      if (section === undefined || section === '') return `err ${prefix} getconfig needs arguments`;
      return `ok ${JSON.stringify(await part.config({ section }, { deadlineMs }))}`;
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
    const { part, daemon, deadlineMs } = this.#parts;
    this.#waiting += 1;
    this.#bytes += text.length;
    try {
      await part.order({ text }, { deadlineMs });
      this.counters.delivered += 1;
    } catch (error) {
      if (error instanceof BusError && (error.code === 'unrecognized' || error.code === 'off')) {
        this.counters.refused += 1;
        this.#refusedLog.warn(`${daemon} refused the order '${nameOf(text)}': ${describeError(error)}`);
      } else {
        this.counters.failed += 1;
        this.#failedLog.warn(`Order '${nameOf(text)}' did not get to ${daemon}: ${describeError(error)}`);
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
