import type { BusEvent } from '../../../lib/bus/bus-event.js';
import { QUEUE_IDS } from '../../../lib/events/queue-ids.js';
import type { FloodGuard } from '../flood-guard.js';
import { AllowedSenders } from './allowed-senders.js';
import { rewriteRfc5424 } from './rewrite-rfc5424.js';
import { stripPriority } from './strip-priority.js';
import type { SyslogBlock } from './syslog-blocks.js';
import type { SyslogCounters } from './syslog-counters.js';

export type SyslogMessagesParts = {
  /** The block as the last reload left it. */
  readonly block: () => SyslogBlock;
  readonly counters: SyslogCounters;
  readonly log: FloodGuard;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** Who may send to a listener, and what becomes of a message (decoding.md 3.1): an event at the sender's address. */
export class SyslogMessages {
  readonly #parts: SyslogMessagesParts;
  readonly #senders: AllowedSenders;

  constructor(parts: SyslogMessagesParts) {
    this.#parts = parts;
    this.#senders = new AllowedSenders(parts.block);
  }

  /** Whether the sender may send; counted and told when it may not. @param source as `normalizeAddress` gives it */
  admits(source: string): boolean {
    if (this.#senders.allows(source)) return true;
    this.#parts.counters.refused += 1;
    this.#parts.log.log('warning', `(1213): Message from '${source}' not allowed.`);
    return false;
  }

  /** The event of a message; undefined when there is no text in it. @param message is not changed, and shared with the event */
  event(source: string, message: Buffer): BusEvent | undefined {
    const { counters, block } = this.#parts;
    const receivedAt = this.#parts.now();
    let text = stripPriority(message);
    if (text.length === 0) {
      counters.empty += 1;
      return undefined;
    }
    if (block().rewrite_rfc5424) text = rewriteRfc5424(text, source, receivedAt);
    counters.messages += 1;
    return { queue: QUEUE_IDS.syslog, location: source, message: text, receivedAt };
  }
}
