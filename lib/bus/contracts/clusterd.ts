import * as z from 'zod';
import { MANAGER_DAEMONS } from '../../product/daemon-names.js';
import { defineContract } from '../contract.js';
import { commonMethods } from './common.js';

/** Kinds of shared records: each has one daemon that decides about it (lib/cluster/record-kinds.ts says which). */
export const RECORD_KINDS = [
  'agent',
  'member',
  'group',
  'files',
  'candidate',
  'verdict',
  'access',
  'node',
  'barrier',
] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

/** Records of one page of `records.changes`. */
const MAX_RECORDS_PER_PAGE = 5000;
/** Records changed in one call: a group of a large manager is given to its agents in several. */
const MAX_RECORDS_PER_COMMIT = 10_000;
/** Characters of a record's key. */
const MAX_RECORD_KEY = 400;
/** Bytes of one record, encoded: stops a record that no stream would take. */
export const MAX_RECORD_BYTES = 256 * 1024;
/** Longest wait of `records.changes` for something new, milliseconds. */
export const MAX_RECORDS_WAIT_MS = 30_000;
/** Longest wait for another node, milliseconds. */
export const MAX_ASK_MS = 300_000;

/** Longest wait for all nodes to say whether a ruleset loads, milliseconds. */
const MAX_SETTLE_MS = 60_000;

const kind = z.enum(RECORD_KINDS);
/** An output of alerts: the same name at all nodes that have it. */
const outputName = z.string().regex(/^[a-z0-9]{8,64}$/, 'is no name of an output');
const receipt = z.string().min(1).max(512);
const nodeName = z.string().min(1).max(128);
const daemon = z.enum(MANAGER_DAEMONS);

/** How long who asks for a turn waits for it, milliseconds; earlier versions do not say. */
const turnMs = z.number().int().min(0).optional();

const commit = z.object({
  /** By which those know it that write it, of `records.write`. */
  id: z
    .string()
    .regex(/^[A-Za-z0-9_-]{12}$/)
    .optional(),
  basis: z.number().int().min(0),
  kinds: z.array(kind).max(RECORD_KINDS.length),
  changes: z
    .array(
      z.object({
        kind,
        key: z.string().min(1).max(MAX_RECORD_KEY),
        /** Plain data; null removes the record. */
        value: z.unknown().optional(),
      }),
    )
    .max(MAX_RECORDS_PER_COMMIT),
});

const node = z.object({
  name: z.string(),
  /** The holder of the lease shows as master. */
  type: z.enum(['master', 'worker']),
  version: z.string(),
  /** Address at which others reach it, as it says itself. */
  ip: z.string(),
  self: z.boolean(),
  /** Whether it is heard: this node always is. */
  present: z.boolean(),
  /** Epoch milliseconds, by this host's clock, when it was heard last. */
  heardAt: z.number().nullable(),
  /** Records up to here are in force there. */
  revision: z.number().int(),
  /** What its daemons say of themselves for others, by daemon; see `node.describe`. */
  facts: z.record(z.string(), z.record(z.string(), z.unknown())),
});
export type ClusterNode = z.output<typeof node>;

const view = z.object({
  cluster: z.string(),
  self: z.string(),
  /** Whether this node's NATS connection is up; `problem` says why it is not, or what else stands in the way. */
  connected: z.boolean(),
  problem: z.string().nullable(),
  /** Whether records can be changed from here: connected, a quorum behind it, and this node has joined. */
  writable: z.boolean(),
  /** Who holds the lease, as far as it is known here. */
  master: z.string().nullable(),
  revision: z.number().int(),
  /** By name: those that were heard since this daemon started, and those that records name. */
  nodes: z.array(node),
});
export type ClusterView = z.output<typeof view>;

/**
 * What svc-clusterd answers: it is the only daemon that talks to NATS. Errors of all methods: `cluster_unavailable` (no
 * connection, no quorum, or not joined yet; the message says which).
 */
export const clusterdContract = defineContract('svc-clusterd', {
  ...commonMethods,

  /** Who is there. Answered whatever the state of the connection. */
  'cluster.view': { params: z.object({}), result: view },

  /** Forgets a node that will not come back; one that does is none until it joins again. Errors: `unknown_node`, `node_present` (it is heard). */
  'nodes.forget': { params: z.object({ node: nodeName }), result: z.object({}) },

  /** What a daemon says of this node to all others with the next beats (some kilobytes at most); it replaces what it said before. */
  'node.describe': { params: z.object({ daemon, facts: z.record(z.string(), z.unknown()) }), result: z.object({}) },

  /**
   * Whether this node holds the lease of singleton jobs now. Asked before each action of a job, never remembered: a process
   * that stood still is told no. `term` rises with each holder; `leftMs` is how long the answer holds at least.
   */
  'lease.check': {
    params: z.object({}),
    result: z.object({ held: z.boolean(), term: z.number().int(), leftMs: z.number() }),
  },

  /**
   * Changes records, in their order, if none of `kinds` has changed behind `basis`. Answered when the changes are with a quorum
   * and in force here. Without changes it is answered once a quorum has said that none of `kinds` had changed when it was asked.
   * Errors: `stale` (something of `kinds` has changed: decide anew on it; some of these changes may have been made), `too_large`,
   * `cluster_unavailable` (whether they were made is not known when the message says so).
   */
  'records.commit': {
    params: commit,
    result: z.object({ revision: z.number().int() }),
  },

  /**
   * The same for another node, which has decided it: asked of the holder of the lease, so that no two nodes write at once. A node that
   * is told `stale` is waited for while it decides anew.
   */
  'records.write': {
    params: commit.extend({ node: nodeName.optional() }),
    result: z.object({ revision: z.number().int() }),
  },

  /**
   * Waits until it is this node's turn to decide something by `kinds`: asked where others were quicker. For half a second nobody else
   * changes any of them then, as far as the holder of the lease writes. Answered with the revision to decide on, which is here; 0 where
   * there are no turns. Error `busy` when the turn comes after `withinMs`: nobody waits for it any more, and it is not kept.
   */
  'records.turn': {
    params: z.object({ kinds: z.array(kind).min(1).max(RECORD_KINDS.length), withinMs: turnMs }),
    result: z.object({ revision: z.number().int() }),
  },

  /** The same for another node: asked of the holder of the lease. */
  'records.give': {
    params: z.object({ kinds: z.array(kind).min(1).max(RECORD_KINDS.length), node: nodeName, withinMs: turnMs }),
    result: z.object({ revision: z.number().int() }),
  },

  /**
   * Records of these kinds that changed behind `after`, ascending by revision, each as it is now; null is a removed one. With
   * `after` 0 those that are removed are left out. Waits up to `waitMs` when there is none. `through`: all changes up to here are
   * told with this page and those before it; go on there. Answered from this node's copy, connected or not; error
   * `cluster_unavailable` until it was whole once.
   */
  'records.changes': {
    params: z.object({
      kinds: z.array(kind).min(1).max(RECORD_KINDS.length),
      after: z.number().int().min(0),
      limit: z.number().int().min(1).max(MAX_RECORDS_PER_PAGE).default(MAX_RECORDS_PER_PAGE),
      waitMs: z.number().int().min(0).max(MAX_RECORDS_WAIT_MS).default(0),
    }),
    result: z.object({
      changes: z.array(z.object({ kind, key: z.string(), revision: z.number().int(), value: z.unknown() })),
      through: z.number().int(),
      more: z.boolean(),
    }),
  },

  /**
   * Which daemons of this node have brought what they had into the records since it joined (`mark` adds one). What a daemon
   * applies before that would take away what the node brings.
   */
  'records.seeded': {
    params: z.object({ mark: daemon.optional() }),
    result: z.object({ seeded: z.array(z.string()) }),
  },

  /**
   * Calls a method of a daemon of another node (daemons/clusterd/askable-methods.ts lists which). Errors: `unknown_node`,
   * `node_away` (not heard), `node_timeout`, `not_askable`, and what the daemon answered.
   */
  'nodes.ask': {
    params: z.object({
      node: nodeName,
      daemon,
      method: z.string().min(1).max(64),
      params: z.unknown().optional(),
      deadlineMs: z.number().int().min(1).max(MAX_ASK_MS),
    }),
    result: z.object({ result: z.unknown().optional() }),
  },

  /**
   * Has the ruleset in etc of this node proposed to all now, and waits for what becomes of it. `in_force`: it is the one that
   * all work by. `refused`, `not_loaded`: `problems` says where and why, and the one before stays. `pending`: it was not
   * decided within `waitMs`, and is later. `unavailable`: nothing can be changed now.
   */
  'ruleset.settle': {
    params: z.object({ waitMs: z.number().int().min(0).max(MAX_SETTLE_MS) }),
    result: z.object({
      state: z.enum(['in_force', 'refused', 'not_loaded', 'pending', 'unavailable']),
      problems: z.array(z.string()),
    }),
  },

  /** Calls a method of the same daemon on all other nodes that are heard, once, without an answer: it may be lost. */
  'nodes.tell': {
    params: z.object({ daemon, method: z.string().min(1).max(64), params: z.unknown().optional() }),
    result: z.object({}),
  },

  /**
   * The next alerts of all nodes for an output, with `<alerts><outputs>cluster` of `<cluster>`: a message with a few alerts of one
   * node. No other call gets any for this output until they are done, or were not kept for half a minute; then they are given again,
   * with the same sequence. An output that is new begins with what is alerted from then on. `missed`: messages that were dropped
   * before this output had them. `skipped`: messages that NATS had passed over, whose alerts are in front of the others. `lost`: alerts
   * that were passed over and are in no message: bytes of a file in `logs/alerts` of a node.
   */
  'alerts.take': {
    params: z.object({ output: outputName, waitMs: z.number().int().min(0).max(MAX_RECORDS_WAIT_MS) }),
    result: z.object({
      batch: z
        .object({
          sequence: z.number().int(),
          receipt,
          /** Lines of alerts.json. */
          alerts: z.array(z.string()),
          missed: z.number().int(),
          skipped: z.number().int(),
          lost: z.array(z.object({ node: z.string(), file: z.string(), from: z.number().int(), to: z.number().int() })),
          /** How long they are the caller's at least, unless they are kept. */
          leftMs: z.number(),
        })
        .nullable(),
      /** What waits behind them, the bytes about. */
      behind: z.object({ messages: z.number().int(), bytes: z.number().int() }),
    }),
  },
  /** Says that alerts that were taken are still at work. Errors `bad_receipt`, `cluster_unavailable`. */
  'alerts.keep': { params: z.object({ output: outputName, receipt }), result: z.object({ leftMs: z.number() }) },
  /** Alerts that were taken are delivered, or are given back. Errors as `alerts.keep`. */
  'alerts.done': {
    params: z.object({ output: outputName, receipt, delivered: z.boolean().default(true) }),
    result: z.object({}),
  },
  /** File of `logs/alerts` from which on this node's alerts are not in the stream of the cluster yet; null: it is not known. */
  'alerts.needed': { params: z.object({}), result: z.object({ file: z.string().nullable() }) },
});
