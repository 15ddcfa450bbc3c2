import * as z from 'zod';
import type { RecordKind } from '../bus/contracts/clusterd.js';
import { ACCESS_RECORDS } from './access-records.js';

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
const memberRecord = z.object({ groups: z.array(z.string().max(255)).max(128) });

/** A group of agents (svc-db); its files are a `files` record. */
const groupRecord = z.object({ dateAdd: z.number().int().min(0) });

/** A node (svc-clusterd); the key is its name. */
export const nodeRecord = z.object({
  /** Of its home: another home of the same name is another node. */
  instance: z.string().min(1).max(64),
  /** Epoch seconds. */
  joinedAt: z.number().int().min(0),
});

/**
 * A decision to change nothing, which stands behind all that it was made on (svc-clusterd). The key is the name of the node that wrote
 * it: the stream keeps the last one of each.
 */
const barrierRecord = z.object({
  /** Id of the commit: no two are the same, so that a lost one is missed. */
  commit: z.string().max(64),
});

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'is no SHA-256 in lower case');

/** Files of one set: stops a manifest that would keep every node busy for hours. */
export const MAX_SET_FILES = 20_000;
/** Characters of a path in a manifest. */
const MAX_PATH = 512;
/** Bytes of one shared file: no agent takes a larger one, and each is held in memory on its way. */
export const MAX_SHARED_FILE_BYTES = 64 * 1024 * 1024;

/** Files of a set; paths are below the folder of the set, contents are named by their SHA-256. */
export const manifestFiles = z
  .array(
    z.object({
      path: z.string().min(1).max(MAX_PATH),
      sha256,
      size: z.number().int().min(0).max(MAX_SHARED_FILE_BYTES),
    }),
  )
  .max(MAX_SET_FILES);
export type ManifestFile = z.output<typeof manifestFiles>[number];

const nodeName = z.string().min(1).max(128);
const fileSet = {
  /** Who made it. */
  node: nodeName,
  /** SHA-256 of the manifest: two sets with the same files have the same. */
  id: sha256,
  /** The manifest; one that is too large for a record is a content of its own, named by `blob`. */
  files: manifestFiles.optional(),
  blob: sha256.optional(),
};

/**
 * A set of files in force (svc-clusterd). Keys: `group/<name>` the files of a group, `shared` those that lie in etc/shared
 * itself, `ruleset` rules, decoders and lists of the user together.
 */
export const filesRecord = z.object(fileSet);
export type FilesRecord = z.output<typeof filesRecord>;

/** A ruleset that is to be in force once all nodes say that it loads (svc-clusterd). The key is `ruleset`. */
export const candidateRecord = z.object({
  ...fileSet,
  /** Revision of the set that it is to replace; 0 when there is none. */
  basis: z.number().int().min(0),
});
export type CandidateRecord = z.output<typeof candidateRecord>;

/** What a node says of a candidate (svc-clusterd). The key is its name. */
export const verdictRecord = z.object({
  /** Revision of the candidate. */
  candidate: z.number().int().min(1),
  /** `absent`: its svc-analysisd does not run, so it has no say. */
  verdict: z.enum(['good', 'refused', 'absent']),
  /** What is wrong, with file and line. */
  problems: z.array(z.string().max(1000)).max(20),
});
export type VerdictRecord = z.output<typeof verdictRecord>;

/**
 * What svc-clusterd says of its node to the others (`node.describe`): `facts['svc-clusterd'].files` of `cluster.view`.
 * A node has the ruleset of the cluster when `revision` is that of the `files` record `ruleset`, and it is `synced`.
 */
export const filesFacts = z.object({
  ruleset: z.object({
    /** Of the `files` record that svc-analysisd of the node works by; 0 when there is none. */
    revision: z.number().int(),
    id: z.string(),
    /** Whether the files in etc are those that are in force, and svc-analysisd has loaded them. */
    synced: z.boolean(),
    /** `proposed`: all nodes are asked about what was changed there. `refused`: see `problems`. */
    state: z.enum(['in_force', 'proposed', 'refused', 'not_loaded', 'waiting']),
    problems: z.array(z.string()),
  }),
  /** Groups whose files are those of the cluster, and those where it is not so yet. */
  groups: z.object({ synced: z.number().int(), waiting: z.number().int() }),
});
export type FilesFacts = z.output<typeof filesFacts>;

/** What the value of a record of these kinds is checked against, whoever wrote it. */
export const RECORD_SCHEMAS = {
  agent: z.union([agentRecord, agentCounterRecord]),
  access: z.union(Object.values(ACCESS_RECORDS)),
  member: memberRecord,
  group: groupRecord,
  node: nodeRecord,
  barrier: barrierRecord,

  files: filesRecord,
  candidate: candidateRecord,
  verdict: verdictRecord,
} as const satisfies Partial<Record<RecordKind, z.ZodType>>;
