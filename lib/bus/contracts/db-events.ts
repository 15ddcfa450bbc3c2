import * as z from 'zod';

/** Operations in one `apply`: a few milliseconds of svc-db. */
export const MAX_OPERATIONS = 2048;
/** Message bytes of one `apply`, well below what the bus carries. */
export const MAX_APPLY_BYTES = 8 * 1024 * 1024;
/** Bytes of one message of an agent (integrity-and-inventory.md 15, 35), with room for events that are made locally. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
/** Messages of one agent in a `sync_all`, and agents. */
const MAX_SYNC_GROUP = 256;
/** Orders to agents in one answer: one for each operation at most. */
const MAX_ORDERS = MAX_OPERATIONS;

/** `001`: three to eight digits. */
export const agentId = z.string().regex(/^\d{3,8}$/, 'is no agent id: 3 to 8 digits');
/** Bytes as the wire gave them: paths need not be UTF-8. */
const bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array, 'is no bytes');
const message = bytes.refine((value) => value.length <= MAX_MESSAGE_BYTES, 'is too long');
/** Identity of a journal: another one begins its positions anew. */
const journal = z.string().min(1).max(128);
const position = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

/** An event that changes what is stored of an agent, of one of some kinds. */
export type StoredOperation<Kind extends string = string> = {
  /** Ascending over all operations of a journal, each used once. */
  readonly position: number;
  readonly agent: string;
  readonly kind: Kind;
  /** When the event was received, epoch milliseconds. */
  readonly at: number;
  readonly message: Uint8Array;
};

/** The last `upTo` of a journal: where it is to be gone on with. An empty name: none yet. */
export const positionMethod = {
  params: z.object({}),
  result: z.object({ journal: z.string(), position }),
};

/**
 * What events change, in the order of the journal. Operations that were applied before change nothing: the last
 * one's position is stored with what it changed. A journal of another name begins at 0. Calls may follow each other
 * without waiting for the answer when each tells `after`: none takes effect unless the one before it did, else error
 * `gap`.
 */
export function applyMethod<const Kinds extends readonly [string, ...string[]]>(kinds: Kinds) {
  return {
    params: z.object({
      journal,
      operations: z
        .array(z.object({ position, agent: agentId, kind: z.enum(kinds), at: z.number(), message }))
        .max(MAX_OPERATIONS),
      /** Everything before this position is in these operations or in earlier ones; some of these may be behind it. */
      upTo: position,
      /** Position behind the last operation of the call before this one; its `upTo` when it had none. */
      after: position.optional(),
    }),
    result: z.object({
      position,
      /** What is to be said to agents now, without `#!-` in front. It may be said again, or get lost: agents tell again. */
      orders: z
        .array(z.object({ agent: agentId, text: z.string() }))
        .max(MAX_ORDERS)
        .optional(),
    }),
  };
}

/**
 * A message of queue 5 (4.3), as it was received: `{"component":..,"data":{..},"type":..}`. Messages of one agent take
 * effect in the order in which they are sent; they need not be awaited one by one. Error `bad_message`.
 */
export const syncMethod = {
  params: z.object({ agent: agentId, message }),
  result: z.object({
    answer: z.enum(['none', 'no_data', 'checksum_fail']),
    /** What is to be sent to the agent behind `#!-`: `fim_file dbsync no_data {..}` (4.4); absent with `none`. */
    order: bytes.optional(),
  }),
};

/**
 * Messages of several agents, those of each in their order, as if each came by itself: states go to the disk together. What
 * is wrong with one is no error of the call.
 */
export const syncAllMethod = {
  params: z.object({
    agents: z.array(z.object({ agent: agentId, messages: z.array(message).max(MAX_SYNC_GROUP) })).max(MAX_SYNC_GROUP),
  }),
  result: z.object({
    /** In the order of the agents. */
    answers: z.array(
      z.object({
        /** What is to be sent to the agent behind `#!-`, in the order of the messages that it answers. */
        orders: z.array(bytes),
        failed: z.number().int(),
        /** Of the first that failed. */
        reason: z.string().optional(),
      }),
    ),
  }),
};
