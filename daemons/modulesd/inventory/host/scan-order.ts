import type { InventoryTableName } from '../../../../lib/events/inventory/inventory-tables.js';
import type { FinishedRow } from '../finished-row.js';
import type { Note } from './scan-notes.js';

/** What a scan is to look at. */
export type ScanOrder = {
  /** Directory that stands for `/`. */
  readonly root: string;
  readonly tables: readonly InventoryTableName[];
  /** Connections, too. */
  readonly allPorts: boolean;
  /** When it begins, epoch milliseconds. */
  readonly now: number;
  /** Priority of the thread, -20 to 19: `wazuh_modules.task_nice`. */
  readonly nice: number;
};

/** What a scan tells on the way: some rows of a table, which is whole with the `last` of them; or why it has none. */
export type ScanNews =
  | { readonly table: InventoryTableName; readonly rows: readonly FinishedRow[]; readonly last: boolean }
  | { readonly table: InventoryTableName; readonly failure: string };

/** What is said at the end. */
export type ScanSummary = { readonly notes: readonly Note[] };
