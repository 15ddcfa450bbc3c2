import * as z from 'zod';
import { AGENT_STATUSES, agentLabels, agentOs, MANAGER_KEEPALIVE } from './db-agents.js';

/** Rows of one batch or page: what is applied before others have their turn. */
export const MAX_PRESENCE_ROWS = 1000;
/** Bytes of the rows of one batch or page, about: a message between nodes carries a megabyte. One row always fits. */
export const MAX_PRESENCE_BYTES = 384 * 1024;
/** Bytes of keepalives in one batch: those of 100,000 agents, with room. */
export const MAX_BEAT_BYTES = 512 * 1024;
/** Other nodes that a page leaves out: more than a cluster has. */
const MAX_NODES = 1000;
/** Largest claim and revision: those that are made from it stay whole numbers. */
const MAX_VERSION = 2 ** 50;
/** Highest number of an agent. */
const MAX_AGENT = 99_999_999;

const nodeName = z.string().min(1).max(256);
const agent = z.number().int().min(1).max(MAX_AGENT);
const count = z.number().int().min(0).max(MAX_VERSION);
/** Epoch seconds by the clock of the node that says it. */
const time = z.number().int().min(0).max(MANAGER_KEEPALIVE);
const word = z.string().max(256);
const sum = z.string().max(128);
const bytes = z.custom<Uint8Array>(
  (value) => value instanceof Uint8Array && value.length <= MAX_BEAT_BYTES,
  `is no bytes, or more than ${String(MAX_BEAT_BYTES)}`,
);

/** What the nodes tell each other of an agent: what is in no shared record. Absent members are not known. */
const row = z.object({
  id: agent,
  /** Who has the id there: a node that has just joined may have given it to another host before. */
  name: z.string().min(1).max(128),
  /** Rises when the agent connects to another node: of two rows the one with the higher claim counts. */
  claim: count.min(1),
  /** The node that it is connected to, or was last. */
  node: nodeName,
  /** Rises with each change under one claim. */
  revision: count,
  lastKeepAlive: time.optional(),
  status: z.enum(AGENT_STATUSES),
  statusCode: z.number().int().min(0).max(5),
  disconnectionTime: time,
  ip: z.string().max(64).optional(),
  os: agentOs.omit({ uname: true }).optional(),
  uname: z.string().max(4096).optional(),
  version: word.optional(),
  configSum: sum.optional(),
  mergedSum: sum.optional(),
  manager: word.optional(),
  labels: agentLabels,
});
export type PresenceRow = z.output<typeof row>;

const rows = z.array(row).max(MAX_PRESENCE_ROWS);
/** A life of a svc-db: numbers of batches count within it. */
const incarnation = z.string().min(1).max(64);
/** All batches of a node up to this one are known. */
const mark = z.object({ incarnation, number: count });
export type PresenceMark = z.output<typeof mark>;

const batch = z.object({
  node: nodeName,
  incarnation,
  /** How many batches with rows there were, this one included. */
  number: count,
  rows,
  /** Last keepalives of the node's agents of which nothing else is new (daemons/db/presence/beats.ts). */
  beats: bytes,
});
export type PresenceBatch = z.output<typeof batch>;

/**
 * Where agents are, said between the svc-db of the nodes of a cluster (architecture.md 4 "Cluster"). Errors: `unknown_method`
 * without a cluster.
 */
export const presenceMethods = {
  /** What has changed at a node, told to all others; it may be lost. */
  'agents.presence': { params: batch, result: z.object({}) },

  /**
   * A page of rows, ascending by number from `from` on. `own`: those this node has told, behind `since` or all; `known`: all
   * that it knows, without those of the nodes of `except`, and of those of `marks` what came behind them.
   */
  'agents.presence_page': {
    params: z.object({
      what: z.enum(['own', 'known']),
      from: agent,
      since: mark.optional(),
      except: z.array(nodeName).max(MAX_NODES).default([]),
      marks: z
        .array(mark.extend({ node: nodeName }))
        .max(MAX_NODES)
        .default([]),
    }),
    result: z.object({
      incarnation,
      /** All rows up to this batch are in this page and those that follow. */
      number: count,
      rows,
      /** Where the next page begins; null when there is none. */
      next: agent.nullable(),
    }),
  },

  /**
   * Agents of nodes that were not heard for so long: `disconnect` makes those that are active or pending disconnected, with
   * code 4, and answers them; without it those that are disconnected are answered. `judged`: false unless this node holds the
   * lease and knows who is connected where; then there are none.
   */
  'agents.lost': {
    params: z.object({ seconds: z.number().int().min(0).max(MANAGER_KEEPALIVE), disconnect: z.boolean(), at: time }),
    result: z.object({
      agents: z.array(z.object({ id: z.string(), name: z.string(), ip: z.string(), registerIP: z.string() })),
      judged: z.boolean(),
    }),
  },
};
