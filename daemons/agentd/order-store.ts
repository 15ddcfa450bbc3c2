import * as z from 'zod';
import { describeError } from '../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../lib/log/logger.js';
import { LmdbStore } from '../../lib/store/lmdb-store.js';
import { openOrSetAside } from '../../lib/store/set-aside.js';
import type { StoreTable } from '../../lib/store/store-table.js';

const ORDERS = 'orders';

const storedOrder = z.object({
  /** What is behind `#!-execd `. */
  text: z.string(),
  /** Epoch milliseconds; not handed over after it. */
  until: z.number(),
});
export type StoredOrder = z.output<typeof storedOrder>;

/** Orders that svc-execd has not taken over yet (`queue/agentd`): a kill of svc-agentd does not lose them. */
export class OrderStore {
  readonly #store: LmdbStore;
  readonly #orders: StoreTable<number, StoredOrder>;
  readonly #trouble: LimitedLogger;

  private constructor(store: LmdbStore, logger: Logger) {
    this.#store = store;
    this.#orders = store.table<number, StoredOrder>(ORDERS, storedOrder);
    this.#trouble = logger.limited();
  }

  /** A damaged one is put aside: what it held is lost. @throws StoreError */
  static async open(directory: string, logger: Logger): Promise<OrderStore> {
    const open = (): Promise<LmdbStore> => LmdbStore.open({ directory, tables: [ORDERS] });
    const { store, damage } = await openOrSetAside(open, directory, Date.now());
    if (damage !== undefined) {
      logger.error(
        `${damage.error.message}: it was moved to '${damage.aside}', and orders that waited for svc-execd are lost.`,
      );
    }
    return new OrderStore(store, logger);
  }

  /** By their number, which rises. */
  all(): [number, StoredOrder][] {
    return [...this.#orders.entries()];
  }

  /** Resolves when it is on the disk, or cannot be kept, which is logged: then it is in memory alone. */
  async add(number: number, order: StoredOrder): Promise<void> {
    await this.#commit([this.#orders.put(number, order)]);
  }

  /** The same for one that is over. */
  async remove(number: number): Promise<void> {
    await this.#commit([this.#orders.remove(number)]);
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async #commit(changes: Parameters<LmdbStore['commit']>[0]): Promise<void> {
    try {
      await this.#store.commit(changes);
    } catch (error) {
      this.#trouble.error(`Orders for svc-execd cannot be kept: ${describeError(error)}`);
    }
  }
}
