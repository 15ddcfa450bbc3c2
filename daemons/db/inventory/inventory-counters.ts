import { AppliedCounters } from '../rows/apply-operations.js';
import { SyncCounters } from '../rows/table-sync.js';
import type { InventoryRefusal } from './inventory-batch.js';

/** Why nothing is stored of an event or a message. */
export type Refusal = InventoryRefusal | 'malformed' | 'unknown_agent';

/** What svc-db has done with inventories since its start: members of its statistics. */
export class InventoryCounters {
  readonly events = new AppliedCounters();
  /** Messages of tables that are not known, such as those of agents before 4.2. */
  unknown_tables = 0;
  readonly sync = new SyncCounters();
  /** Events and messages of which nothing was stored, by the reason. */
  readonly refused: Readonly<Record<Refusal, number>>;

  constructor(refused: Readonly<Record<Refusal, number>>) {
    this.refused = refused;
  }
}
