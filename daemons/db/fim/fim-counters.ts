import { AppliedCounters } from '../rows/apply-operations.js';
import { SyncCounters } from '../rows/table-sync.js';

/** What svc-db has done with files of agents since its start: members of its statistics. */
export class FimCounters {
  readonly events = new AppliedCounters();
  readonly sync = new SyncCounters();
  /** Events and messages of which nothing was stored, by the reason. */
  readonly refused: Readonly<Record<Refusal, number>>;

  constructor(refused: Readonly<Record<Refusal, number>>) {
    this.refused = refused;
  }
}

/** Why nothing is stored of an event or a message. */
export type Refusal =
  | 'malformed'
  | 'unknown_agent'
  | 'path_too_long'
  | 'row_too_large'
  | 'too_many_rows'
  | 'finding_too_large'
  | 'too_many_findings';
