import * as z from 'zod';
import { defineContract } from '../contract.js';
import { commonMethods } from './common.js';
import { MAX_AGENTS_PER_CALL } from './db-agents.js';

/** Tasks of one page of `tasks.list`: a page that is full is far from a message's limit. */
const MAX_TASKS_PER_PAGE = 10_000;
/** Reports of agents in one call. */
export const MAX_REPORTS_PER_CALL = 100;
/** Bytes of one report; those of agents have some hundred. */
export const MAX_REPORT_BYTES = 4096;
/** Longest order, bytes: what one control message carries. */
const MAX_ORDER_BYTES = 65_536;
/** Ids that `tasks.list` filters by. */
const MAX_TASK_IDS = 100_000;

const agentId = z.string().regex(/^\d{3,8}$/, 'is no agent id: 3 to 8 digits');
const bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array, 'is no bytes');
const word = z.string().max(256);
/** Epoch seconds. */
const time = z.number().int().min(0);

/**
 * Where a task is. Of an upgrade: it waits for its turn; the package is sent, or the agent installs it; the agent said how
 * it went; nothing was heard in time; the new version of the agent is too old to say how it went.
 */
export const TASK_STATUSES = ['Pending', 'In progress', 'Done', 'Failed', 'Timeout', 'Legacy'] as const;

/** What tasks are for. */
export const TASK_COMMANDS = ['upgrade', 'upgrade_custom'] as const;

/** A task as others see it (rest-api.md 6.16). */
const shownTask = z.object({
  id: z.number().int().min(1),
  agent: agentId,
  node: word,
  module: word,
  command: z.enum(TASK_COMMANDS),
  status: z.enum(TASK_STATUSES),
  created: time,
  updated: time,
  /** Why it failed; empty otherwise. */
  error: z.string(),
});
export type ShownTask = z.output<typeof shownTask>;

/** Which package an upgrade sends. */
const wantedPackage = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('release'),
    /** `v4.14.0`; the manager's without it. */
    version: z
      .string()
      .regex(/^v\d{1,6}\.\d{1,6}\.\d{1,6}$/)
      .optional(),
    /** Also to a version that is not above the agent's, or is above the manager's. */
    force: z.boolean(),
    /** Otherwise what the agent's system has. */
    packageType: z.enum(['rpm', 'deb']).optional(),
  }),
  z.object({
    kind: z.literal('file'),
    /** Whole, from the home, or a mere name in `var/upgrade`; it must lie below that. */
    path: z.string().min(1).max(1024),
    /** Program of the package that is run; by default that of the agent's system. */
    installer: z
      .string()
      .regex(/^[\w.-]{1,128}$/, 'is no name of a file')
      .optional(),
  }),
]);
export type WantedPackage = z.output<typeof wantedPackage>;

/** What svc-modulesd answers. */
export const modulesdContract = defineContract('svc-modulesd', {
  ...commonMethods,

  /**
   * What a manager sends behind `#!-` (integrity-and-inventory.md 1.2), as a byte string: `syscollector_<table> dbsync
   * <verb> <json>`, an answer of the synchronisation, of which a wrong one is counted and ignored. It answers when the order is
   * taken, not when it is carried out. Error `unrecognized` for any other text.
   */
  order: { params: z.object({ text: z.string().min(1).max(MAX_ORDER_BYTES) }), result: z.object({}) },

  /**
   * Makes a task for each agent that can be upgraded; it is on disk when the call is answered. `failed` has the code of
   * rest-api.md 6.2 and a text for the others. Errors: `version_too_high`, `no_package` (a file that is not there or cannot
   * be sent, with a text), `too_many_tasks`.
   */
  'upgrades.create': {
    params: z.object({ agents: z.array(agentId).max(MAX_AGENTS_PER_CALL), package: wantedPackage }),
    result: z.object({
      tasks: z.array(z.object({ agent: z.string(), id: z.number().int() })),
      failed: z.array(z.object({ agent: z.string(), code: z.number().int(), message: z.string() })),
    }),
  },
  /** The last upgrade of each agent, and the agents that have none. */
  'upgrades.last': {
    params: z.object({ agents: z.array(agentId).max(MAX_AGENTS_PER_CALL) }),
    result: z.object({ tasks: z.array(shownTask), without: z.array(z.string()) }),
  },
  /** What agents told on queue `u` (agents-and-groups.md 4.5). What is no such report is logged and dropped. */
  'upgrades.report': {
    params: z.object({
      reports: z.array(z.object({ agent: agentId, message: bytes })).max(MAX_REPORTS_PER_CALL),
    }),
    result: z.object({}),
  },
  /** Tasks in the order of their ids; filters compare without case. `more`: ask again, after the last id. */
  'tasks.list': {
    params: z.object({
      agents: z.array(agentId).max(MAX_AGENTS_PER_CALL).optional(),
      tasks: z.array(z.number().int()).max(MAX_TASK_IDS).optional(),
      command: word.optional(),
      node: word.optional(),
      module: word.optional(),
      status: word.optional(),
      after: z.number().int().min(0).default(0),
      limit: z.number().int().min(1).max(MAX_TASKS_PER_PAGE).default(MAX_TASKS_PER_PAGE),
    }),
    result: z.object({ tasks: z.array(shownTask), more: z.boolean() }),
  },
});
