import { z } from 'zod';

/** Operations in one `fim.apply`: a few milliseconds of svc-db. */
export const MAX_FIM_OPERATIONS = 2048;
/** Message bytes of one `fim.apply`, well below what the bus carries. */
export const MAX_FIM_APPLY_BYTES = 8 * 1024 * 1024;
/** Bytes of one message of an agent (integrity-and-inventory.md 15, 35), with room for events that are made locally. */
const MAX_FIM_MESSAGE_BYTES = 1024 * 1024;
/** Messages of one `fim.sync_all`. */
const MAX_SYNC_GROUP = 256;
/** Items of one page of `fim.list` and `rootcheck.list` (rest-api.md 4.1); a page larger than a message is cut shorter. */
export const MAX_FIM_PAGE = 100_000;
/** Agents one call may clear. */
export const MAX_AGENTS_PER_CLEAR = 100_000;

/** `001`: three to eight digits. */
const agent = z.string().regex(/^\d{3,8}$/, 'is no agent id: 3 to 8 digits');
/** Bytes as the wire gave them: paths need not be UTF-8. */
const bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array, 'is no bytes');
const message = bytes.refine((value) => value.length <= MAX_FIM_MESSAGE_BYTES, 'is too long');
/** Identity of a journal: another one begins its positions anew. */
const journal = z.string().min(1).max(128);
const position = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

const operation = z.object({
  /** Ascending over all operations of a journal, each used once. */
  position,
  agent,
  /** Queue 8 and queue 9. */
  kind: z.enum(['syscheck', 'rootcheck']),
  /** When the event was received, epoch milliseconds. */
  at: z.number(),
  message,
});
/** An event that changes what is stored of an agent's files. */
export type FimOperation = z.input<typeof operation>;

const hash = z
  .string()
  .regex(/^(?:[0-9a-fA-F]{32}|[0-9a-fA-F]{40}|[0-9a-fA-F]{56}|[0-9a-fA-F]{64}|[0-9a-fA-F]{96}|[0-9a-fA-F]{128}|)$/);
const text = z.string().max(8192);

/** Common to both lists; the same language as `agents.list` has. */
const listParams = {
  agent,
  offset: z.number().int().min(0).default(0),
  limit: z.number().int().min(0).max(MAX_FIM_PAGE).default(500),
  sort: z.string().max(1024).optional(),
  /** Substring in any field, whatever the case; a leading `-` turns it round. */
  search: z.string().max(1024).optional(),
  select: z.array(z.string().max(64)).min(1).max(64).optional(),
  q: z.string().max(65_536).optional(),
  distinct: z.boolean().optional(),
};
const itemPage = z.object({ items: z.array(z.record(z.string(), z.unknown())), total: z.number().int() });
const cleared = {
  params: z.object({ agents: z.array(agent).max(MAX_AGENTS_PER_CLEAR) }),
  result: z.object({}),
};
/** `2023-11-14T22:21:40Z`; null when it has not happened, and for `end` while a scan is running. */
const lastScan = {
  params: z.object({ agent }),
  result: z.object({ start: z.string().nullable(), end: z.string().nullable() }),
};

/**
 * File integrity and rootcheck of all agents (integrity-and-inventory.md 7 to 9). What is answered is on disk. Errors:
 * `disk_full`, `disk_failed`, `busy`; for lists `query_1408` and the like, see `queryErrorOf`.
 */
export const fimMethods = {
  /** The last `upTo` of a journal: where it is to be gone on with. An empty name: none yet. */
  'fim.position': {
    params: z.object({}),
    result: z.object({ journal: z.string(), position }),
  },
  /**
   * What events change, in the order of the journal. Operations that were applied before change nothing: the last
   * one's position is stored with what it changed. A journal of another name begins at 0. Calls may follow each other
   * without waiting for the answer when each tells `after`: none takes effect unless the one before it did, else error
   * `gap`.
   */
  'fim.apply': {
    params: z.object({
      journal,
      operations: z.array(operation).max(MAX_FIM_OPERATIONS),
      /** Everything before this position is in these operations or in earlier ones; some of these may be behind it. */
      upTo: position,
      /** Position behind the last operation of the call before this one; its `upTo` when it had none. */
      after: position.optional(),
    }),
    result: z.object({ position }),
  },
  /**
   * A message of queue 5 (4.3), as it was received: `{"component":..,"data":{..},"type":..}`. Messages of one agent take
   * effect in the order in which they are sent; they need not be awaited one by one. Error `bad_message`.
   */
  'fim.sync': {
    params: z.object({ agent, message }),
    result: z.object({
      answer: z.enum(['none', 'no_data', 'checksum_fail']),
      /** What is to be sent to the agent behind `#!-`: `fim_file dbsync no_data {..}` (4.4); absent with `none`. */
      order: bytes.optional(),
    }),
  },
  /**
   * Several messages of one agent in their order, as if each came by `fim.sync`: states go to the disk together. What is
   * wrong with one is no error of the call.
   */
  'fim.sync_all': {
    params: z.object({ agent, messages: z.array(message).max(MAX_SYNC_GROUP) }),
    result: z.object({
      /** What is to be sent to the agent behind `#!-`, in the order of the messages that it answers. */
      orders: z.array(bytes),
      failed: z.number().int(),
      /** Of the first that failed. */
      reason: z.string().optional(),
    }),
  },
  /** `GET /syscheck/{agent_id}` (8.1); the parameters are named as there. */
  'fim.list': {
    params: z.object({
      ...listParams,
      /** Equality, whatever the case. */
      file: text.optional(),
      arch: z.enum(['[x32]', '[x64]']).optional(),
      'value.name': text.optional(),
      'value.type': text.optional(),
      type: z.enum(['file', 'registry_key', 'registry_value']).optional(),
      md5: hash.optional(),
      sha1: hash.optional(),
      sha256: hash.optional(),
      /** One of the three is it. */
      hash: hash.optional(),
      /** `date`, `mtime` and `file` only. */
      summary: z.boolean().optional(),
    }),
    result: itemPage,
  },
  'fim.last_scan': lastScan,
  'fim.clear': cleared,
  /** `GET /rootcheck/{agent_id}` (9.5). */
  'rootcheck.list': {
    params: z.object({
      ...listParams,
      status: z.enum(['all', 'outstanding', 'solved']).default('all'),
      pci_dss: text.optional(),
      cis: text.optional(),
    }),
    result: itemPage,
  },
  'rootcheck.last_scan': lastScan,
  'rootcheck.clear': cleared,
};
