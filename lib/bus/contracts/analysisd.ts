import * as z from 'zod';
import { defineContract } from '../contract.js';
import { agentStatistics } from './agent-statistics.js';
import { commonMethods } from './common.js';
import { itemList } from './item-list.js';

/**
 * Answer of logtest as rules-and-alerts.md 9.4 words it: `error` 0 with `data`, or an error number with `message` and
 * empty `data`.
 */
const logtestReply = z.object({
  error: z.number().int(),
  message: z.string().optional(),
  data: z.record(z.string(), z.unknown()),
});

/** A place in a stream: a dated file below its directory, such as `logs/alerts`, and a byte offset in it. */
const streamPosition = z.object({ file: z.string().max(64), offset: z.number().int().min(0) });

/** Most records in one page of a stream. */
const MAX_RECORDS_PER_READ = 1000;
/** Longest wait for a first record, milliseconds; the caller's deadline must be longer. */
const MAX_RECORD_WAIT_MS = 30_000;

/** Where a reader goes on. */
const streamRead = z.object({
  after: z.union([streamPosition, z.literal('start'), z.literal('end')]),
  max: z.number().int().min(1).max(MAX_RECORDS_PER_READ).default(100),
  waitMs: z.number().int().min(0).max(MAX_RECORD_WAIT_MS).default(0),
});

/** Id of a ruleset of the cluster, which is on the disk of this node. */
const clusterRuleset = z.string().regex(/^[0-9a-f]{64}$/);

/** What svc-analysisd answers. */
export const analysisdContract = defineContract('svc-analysisd', {
  ...commonMethods,
  /**
   * `log_processing` of rules-and-alerts.md 9.2. Members are checked by the service, in the spec's order and with its
   * texts, so they are taken as they come.
   */
  'logtest.run': {
    params: z.object({
      token: z.unknown().optional(),
      event: z.unknown().optional(),
      log_format: z.unknown().optional(),
      location: z.unknown().optional(),
      options: z.unknown().optional(),
    }),
    result: logtestReply,
  },
  /** `remove_session` of rules-and-alerts.md 9.2. */
  'logtest.close': { params: z.object({ token: z.unknown().optional() }), result: logtestReply },
  /** Rules of the ruleset in force, as rules-and-alerts.md 10.2 shows them, in load order. */
  'rules.list': { params: z.object({}), result: z.object({ rules: itemList }) },
  /**
   * Re-reads the ruleset and swaps it between two events. `error` 0 with the warnings of the load, or 1 with the
   * messages of the refusal, when the ruleset in force stays (rules-and-alerts.md 11.4 `reload-ruleset`).
   */
  'ruleset.reload': {
    params: z.object({}),
    result: z.object({ error: z.union([z.literal(0), z.literal(1)]), data: z.array(z.string()) }),
  },
  /**
   * Works by the ruleset of the cluster that svc-clusterd has put in force on this node (lib/cluster/ruleset-in-force.ts);
   * nothing happens when that is the case already. Answered as `ruleset.reload`. Error `not_in_force`: it is another one.
   */
  'ruleset.switch': {
    params: z.object({ ruleset: clusterRuleset }),
    result: z.object({ error: z.union([z.literal(0), z.literal(1)]), data: z.array(z.string()) }),
  },
  /**
   * Whether the ruleset as it is on disk would load, as a logtest session loads it; nothing in force changes and no
   * session is made. Without errors it would; else the errors with file, line and rule. `ruleset` names one of the cluster
   * that is looked at in place of the rules, decoders and lists in etc.
   */
  'ruleset.check': {
    params: z.object({ ruleset: clusterRuleset.optional() }),
    result: z.object({ errors: z.array(z.string()) }),
  },
  /** Statistics in the form of `getstats` (rules-and-alerts.md 11.4). */
  'statistics.read': { params: z.object({}), result: z.record(z.string(), z.unknown()) },
  'statistics.agents': agentStatistics,
  /**
   * Alerts after a position, JSON texts; waits up to `waitMs` for the first. `end` and `start` are the two ends of the
   * stream. Errors: `bad_position`; `disabled` when alerts.json is off in the configuration.
   */
  'alerts.read': {
    params: streamRead,
    result: z.object({ alerts: z.array(z.string()), next: streamPosition }),
  },
  /**
   * The same for what active response decided, each decision once whatever is killed (rules-and-alerts.md 8.3). Files
   * older than 7 days are gone: a reader goes on in the next one. Error `bad_position`.
   */
  'responses.read': {
    params: streamRead,
    result: z.object({ responses: z.array(z.string()), next: streamPosition }),
  },
});
