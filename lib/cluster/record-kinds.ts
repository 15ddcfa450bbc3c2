import * as z from 'zod';
import type { RecordKind } from '../bus/contracts/clusterd.js';

/**
 * Shared records of a cluster by kind: each is what all nodes have in common, and one daemon decides about it
 * (architecture.md 4 "Cluster"). Keys: `agent` and `member` have the agent's id, `group` its name. Of kind `agent` there is one
 * more, `AGENT_COUNTER_KEY`.
 */

/** An agent that may connect (svc-authd): a line of the key file. */
export const agentRecord = z.object({
  name: z.string().min(1).max(128),
  /** `any`, an address, or a network with `/n`. */
  ip: z.string().min(1).max(64),
  key: z.string().min(1).max(256),
  /** Epoch seconds. */
  dateAdd: z.number().int().min(0),
  /** The node where it enrolled. */
  node: z.string().max(128).optional(),
  /** That node may have died before its answer: while the agent has never connected, it can be replaced at once. */
  unanswered: z.boolean().optional(),
});
export type AgentRecord = z.output<typeof agentRecord>;

/**
 * Key of the record of kind `agent` that is no agent: the largest id of those that are removed. Together with those that
 * are there it tells which ids were given already; whoever follows agents leaves it out.
 */
export const AGENT_COUNTER_KEY = 'removed';

/** The record under `AGENT_COUNTER_KEY`. */
export const agentCounterRecord = z.object({ highestId: z.number().int().min(0) });
export type AgentCounterRecord = z.output<typeof agentCounterRecord>;

/** Groups of an agent by priority (svc-db). */
export const memberRecord = z.object({ groups: z.array(z.string().max(255)).max(128) });
export type MemberRecord = z.output<typeof memberRecord>;

/** A group of agents (svc-db); its files are a `files` record. */
export const groupRecord = z.object({ dateAdd: z.number().int().min(0) });
export type GroupRecord = z.output<typeof groupRecord>;

/** A node (svc-clusterd); the key is its name. */
export const nodeRecord = z.object({
  /** Of its home: another home of the same name is another node. */
  instance: z.string().min(1).max(64),
  /** Epoch seconds. */
  joinedAt: z.number().int().min(0),
});

/** What the value of a record of these kinds is checked against, whoever wrote it. */
export const RECORD_SCHEMAS = {
  agent: z.union([agentRecord, agentCounterRecord]),
  member: memberRecord,
  group: groupRecord,
  node: nodeRecord,
} as const satisfies Partial<Record<RecordKind, z.ZodType>>;
