import { AppliedCounters } from '../rows/apply-operations.js';
import { SyncCounters } from '../rows/table-sync.js';

/** What svc-db has done with files of agents since its start: members of its statistics. */
export class FimCounters {
  readonly events = new AppliedCounters();
  /** Events and messages of which nothing was stored, by the reason. */
  readonly refused = {
    malformed: 0,
    unknown_agent: 0,
    path_too_long: 0,
    row_too_large: 0,
    too_many_rows: 0,
    finding_too_large: 0,
    too_many_findings: 0,
  };
  readonly sync = new SyncCounters();
}

export type Refusal = keyof FimCounters['refused'];
