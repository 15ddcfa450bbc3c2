import { MAX_PAYLOAD_BYTES } from '../../../lib/agentlink/link-limits.js';
import { unlessAborted } from '../../../lib/async/unless-aborted.js';
import type { InventoryTableName } from '../../../lib/events/inventory/inventory-tables.js';
import { QUEUE_IDS } from '../../../lib/events/queue-ids.js';
import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';
import { Pace } from '../../../lib/sync/pace.js';
import type { SyncClock } from '../../../lib/sync/sync-clock.js';
import { AgentOutlet, type AgentOutletParts } from '../../../lib/sync/sync-outlet.js';
import { deltaMessage, INVENTORY_LOCATION } from './inventory-messages.js';
import type { RowChange } from './table-rows.js';

/** Queue and location in front of a message. */
const HEADER_BYTES = 4 + INVENTORY_LOCATION.length;

export type DeltaSenderParts = {
  readonly producer: AgentOutletParts['producer'];
  readonly clock: SyncClock;
  /** Events a second: `wazuh_modules.max_eps`. */
  readonly maxEps: () => number;
  readonly logger: Logger;
};

/** Sends what a scan found changed as events of queue d, so many a second (integrity-and-inventory.md 11.2). */
export class DeltaSender {
  readonly counters = { inserted: 0, modified: 0, deleted: 0, too_long: 0 };
  readonly #outlet: AgentOutlet;
  readonly #pace: Pace;
  readonly #tooLongLog: LimitedLogger;

  constructor({ producer, clock, maxEps, logger }: DeltaSenderParts) {
    this.#pace = new Pace(clock, maxEps);
    this.#tooLongLog = logger.limited();
    this.#outlet = new AgentOutlet({
      ...{ producer, location: INVENTORY_LOCATION, queue: QUEUE_IDS.inventory, called: 'change of the inventory' },
      now: () => Date.now(),
      logger,
    });
  }

  /** Events that were taken and did not get to the sink: it was closed before. */
  get lost(): number {
    return this.#outlet.lost;
  }

  /** Resolves when the next one may be sent, or when the signal comes. @param scanTime of the scan that found it */
  async send(table: InventoryTableName, change: RowChange, scanTime: string, signal: AbortSignal): Promise<void> {
    const message = deltaMessage(table, change, scanTime);
    if (message.length > MAX_PAYLOAD_BYTES - HEADER_BYTES) {
      this.counters.too_long += 1;
      this.#tooLongLog.warn(
        `A change of the inventory does not fit into a message and is not sent: ${table} '${change.row.key}'.`,
      );
      return;
    }
    await unlessAborted(signal, this.#outlet.send(message));
    if (signal.aborted) return;
    this.counters[COUNTED[change.operation]] += 1;
    await this.#pace.sent(signal);
  }
}

const COUNTED = { INSERTED: 'inserted', MODIFIED: 'modified', DELETED: 'deleted' } as const;
