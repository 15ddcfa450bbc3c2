/** What svc-db has done with files of agents since its start: members of its statistics. */
export class FimCounters {
  /** Events that changed something, and those that a replay brought again. */
  readonly events = { applied: 0, repeated: 0 };
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
  /** The synchronisation: checks, those that agreed with the sum in memory, states stored, rows it deleted. */
  readonly sync = { checks: 0, cached: 0, no_data: 0, checksum_fail: 0, states: 0, deleted: 0, unserved: 0 };
}

export type Refusal = keyof FimCounters['refused'];
