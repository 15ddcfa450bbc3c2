import { AppliedCounters } from '../rows/apply-operations.js';

/** Why nothing is stored of an event. */
export type Refusal =
  | 'malformed'
  | 'unknown_agent'
  | 'too_many_policies'
  | 'policy_too_large'
  | 'too_many_checks'
  | 'check_too_large';

/** What svc-db has done with results of policies since its start: members of its statistics. */
export class ScaCounters {
  readonly events = new AppliedCounters();
  /** Requests for results, and those that were not made again as the results are never right. */
  readonly dumps = { requested: 0, given_up: 0 };

  /** @param refused events of which nothing was stored, by the reason */
  constructor(readonly refused: Readonly<Record<Refusal, number>>) {}
}
