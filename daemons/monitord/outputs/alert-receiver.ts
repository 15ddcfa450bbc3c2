import type { StreamedAlert } from '../../../lib/output/alert-feed.js';
import type { Change } from '../../../lib/store/commit-queue.js';

/** What a receiver tells about a batch while it works on it. */
export interface Delivery {
  /** Comes at the stop, and when there was no progress for the receiver's deadline: whatever goes on is to be given up. */
  readonly signal: AbortSignal;
  /**
   * So many alerts of the batch, counted from its first, are dealt with: they do not come again even if the rest fails.
   * Resolves when that is on the disk. What `deliver` has not settled is settled when it returns.
   * @param changes of `queue/outputs` that happen in the same transaction
   */
  settle(count: number, changes?: readonly Change[]): Promise<void>;
  /** Counts alerts that went out. What a filter leaves out is not counted. */
  sent(count: number): void;
  /** Counts an alert that nobody will ever take, and logs why. It is passed over. */
  rejected(reason: string): void;
}

/** What an output does with alerts. One batch at a time, in order. */
export interface AlertReceiver {
  /** Most time without progress, milliseconds; a delivery that takes longer has failed. */
  readonly deadlineMs: number;
  /** Most alerts of a batch (500). */
  readonly mostAlerts?: number;
  /** Hands on what it wants of the alerts. @throws Error: the rest of the batch is tried again, after a pause */
  deliver(batch: readonly StreamedAlert[], delivery: Delivery): Promise<void>;
  /** Counters of its own, shown beside those of the consumer. */
  stats?(): Readonly<Record<string, unknown>>;
  /** Gives up connections and the like. */
  close?(): void | Promise<void>;
}
