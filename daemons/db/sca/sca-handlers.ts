import { Limiter } from '../../../lib/async/limiter.js';
import type { Handlers } from '../../../lib/bus/contract.js';
import type { dbContract } from '../../../lib/bus/contracts/db.js';
import type { scaMethods } from '../../../lib/bus/contracts/db-sca.js';
import { answeringList } from '../query/answering-list.js';
import { listChecks } from './list-checks.js';
import { listPolicies } from './list-policies.js';
import type { ScaDatabase } from './sca-database.js';

/** Lists of checks that are made at once, and those that may wait: an agent can tell so much that one takes seconds. */
const LISTS_AT_ONCE = 4;
const LISTS_WAITING = 64;

type ScaHandlers = Pick<Handlers<typeof dbContract>, keyof typeof scaMethods>;

/** Answers of svc-db about policies of agents (lib/bus/contracts/db-sca.ts). @param now epoch milliseconds */
export function scaHandlers(sca: ScaDatabase, now: () => number): ScaHandlers {
  const lists = new Limiter({ atOnce: LISTS_AT_ONCE, mostWaiting: LISTS_WAITING });
  return {
    'sca.position': () => sca.position,
    'sca.apply': (events) => sca.apply(events),
    'sca.policies': (params) => answeringList(() => listPolicies(sca.tables, params, now())),
    'sca.checks': (params) => answeringList(() => lists.run(() => listChecks(sca.tables, params, now()))),
  };
}
