import * as z from 'zod';
import { agentId as agent, applyMethod, positionMethod, type StoredOperation } from './db-events.js';
import { filterText as text, itemPage, listParams } from './db-lists.js';

/** Queue p. */
const KINDS = ['sca'] as const;
/** An event that changes what is stored of an agent's assessments. */
export type ScaOperation = StoredOperation<(typeof KINDS)[number]>;

/**
 * Results of policies on all agents (integrity-and-inventory.md 10). What is answered is on disk. Errors: `disk_full`,
 * `disk_failed`; for lists `busy`, `query_1408` and the like, see `queryErrorOf`.
 */
export const scaMethods = {
  'sca.position': positionMethod,
  /** `orders` ask agents for results: `sca-dump:<policy>:<1 or 0>` (10.4). */
  'sca.apply': applyMethod(KINDS),
  /** `GET /sca/{agent_id}` (10.6); filters are equality, whatever the case. */
  'sca.policies': {
    params: z.object({
      agent,
      ...listParams,
      name: text.optional(),
      description: text.optional(),
      references: text.optional(),
    }),
    result: itemPage,
  },
  /** `GET /sca/{agent_id}/checks/{policy_id}`. */
  'sca.checks': {
    params: z.object({
      agent,
      ...listParams,
      policy: z.string().max(1024),
      title: text.optional(),
      description: text.optional(),
      rationale: text.optional(),
      remediation: text.optional(),
      command: text.optional(),
      reason: text.optional(),
      file: text.optional(),
      process: text.optional(),
      directory: text.optional(),
      registry: text.optional(),
      references: text.optional(),
      result: text.optional(),
      condition: text.optional(),
    }),
    result: itemPage,
  },
};
