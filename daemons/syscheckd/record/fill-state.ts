import { FIM_LOCATION } from '../../../lib/events/fim/fim-messages.js';
import { QUEUE_IDS } from '../../../lib/events/queue-ids.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { Change } from '../../../lib/store/commit-queue.js';
import type { StoreTable } from '../../../lib/store/store-table.js';
import type { OutEvent } from '../store/outbox.js';

const NAME = 'fill_state';

/** How full the table of files is (integrity-and-inventory.md 3.9). */
export type FillLevel = 'normal' | '80_percentage' | '90_percentage' | 'full';

/** What of a store keeps the state that was told last. */
export type FillStore = {
  readonly texts: StoreTable<string, string>;
  readonly rows: number;
  commit(rows: readonly [], events: readonly OutEvent[], more: readonly Change[]): Promise<void>;
  room(): Promise<void> | undefined;
};

/** Tells when the table of files gets full, and when it is no more: once each time, over restarts too. */
export class FillState {
  readonly #store: FillStore;
  readonly #logger: Logger;

  constructor(store: FillStore, logger: Logger) {
    this.#store = store;
    this.#logger = logger;
  }

  /** At the end of every scan. @param limit of `file_limit`; 0: there is none */
  async check(limit: number): Promise<void> {
    const { rows, texts } = this.#store;
    const level = levelOf(rows, limit);
    const told = texts.get(NAME) ?? 'normal';
    if (level === told) return;
    const notice = { fim_db_table: 'file_entry', file_limit: limit, file_count: rows, alert_type: level };
    const message = Buffer.from(`wazuh: FIM DB: ${JSON.stringify(notice)}`, 'latin1');
    for (let wait = this.#store.room(); wait !== undefined; wait = this.#store.room()) await wait;
    await this.#store.commit([], [{ queue: QUEUE_IDS.log, location: FIM_LOCATION, message }], [texts.put(NAME, level)]);
    const text = `${TEXTS[level]} (${rows} of ${limit})`;
    if (level === 'normal') this.#logger.info(text);
    else this.#logger.warn(text);
  }
}

const TEXTS: Readonly<Record<FillLevel, string>> = {
  '80_percentage': '(6038): The table of monitored files is 80% full.',
  '90_percentage': '(6040): The table of monitored files is 90% full.',
  full: '(6926): The table of monitored files is full.',
  normal: '(6036): The table of monitored files has room again.',
};

function levelOf(rows: number, limit: number): FillLevel {
  if (limit <= 0) return 'normal';
  if (rows >= limit) return 'full';
  // In whole numbers: 0.9 is none that a machine has.
  if (rows * 10 >= limit * 9) return '90_percentage';
  return rows * 10 >= limit * 8 ? '80_percentage' : 'normal';
}
