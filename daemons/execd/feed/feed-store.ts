import * as z from 'zod';
import type { Change, Undo } from '../../../lib/store/commit-queue.js';
import type { LmdbStore } from '../../../lib/store/lmdb-store.js';
import type { StoreTable } from '../../../lib/store/store-table.js';

const POSITIONS = 'feed_positions';
const ORDERS = 'feed_orders';
const RECIPIENTS = 'feed_recipients';
/** Tables of the feed in `queue/execd`. */
export const FEED_TABLES: readonly string[] = [POSITIONS, ORDERS, RECIPIENTS];

const position = z.object({ file: z.string(), offset: z.number().int().min(0) });
/** Behind the last decision that was taken over. */
export type FeedPosition = z.output<typeof position>;

const order = z.object({
  /** Name of the response. */
  command: z.string(),
  extraArgs: z.array(z.string()),
  /** The alert as JSON, short enough for a message. */
  alert: z.string(),
  /** Epoch milliseconds; not sent to anybody after it. */
  expires: z.number().int(),
});
/** A response that is for agents. */
export type StoredOrder = z.output<typeof order>;

const recipients = z.object({
  agents: z.array(z.string()),
  /** And all that are active, as soon as svc-db says which ones these are. */
  all: z.boolean(),
});
/** Agents that an order has not been sent to yet. */
export type Recipients = z.output<typeof recipients>;

/** What the feed remembers, beside the runner in one store, so that both move on in one transaction. */
export type FeedStore = {
  readonly positions: StoreTable<string, FeedPosition>;
  /** By a number that counts up. */
  readonly orders: StoreTable<number, StoredOrder>;
  /** The same numbers. */
  readonly recipients: StoreTable<number, Recipients>;
  /** As `LmdbStore.commit`. */
  commit(changes: readonly Change[], undo?: Undo): Promise<void>;
};

/** @param store that was opened with {@link FEED_TABLES} */
export function feedStore(store: Pick<LmdbStore, 'table' | 'commit'>): FeedStore {
  return {
    positions: store.table(POSITIONS, position),
    orders: store.table(ORDERS, order),
    recipients: store.table(RECIPIENTS, recipients),
    commit: (changes, undo) => store.commit(changes, undo),
  };
}
