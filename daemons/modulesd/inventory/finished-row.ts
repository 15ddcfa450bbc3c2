import type { SyncRow } from '../../../lib/events/sync/sync-step.js';

/** A row of the inventory, made ready by the thread that scans. */
export type FinishedRow = SyncRow & {
  /** Its columns and marks with the time of the scan, as JSON: what messages carry. */
  readonly text: string;
};
