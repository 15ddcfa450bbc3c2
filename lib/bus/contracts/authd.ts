import * as z from 'zod';
import { defineContract } from '../contract.js';
import { commonMethods } from './common.js';

/** Keys of one page of `list`. */
const MAX_KEYS_PER_PAGE = 10_000;
/** Agents removed in one call. */
export const MAX_REMOVED_PER_CALL = 100_000;

const id = z.string().regex(/^\d{3,8}$/, 'is no agent id: 3 to 8 digits');
/** Seconds. */
const seconds = z.number().int().min(0).max(4_294_967_295);

/** An agent with its secret: for the caller's user, never for a log. */
const agentWithKey = z.object({
  id: z.string(),
  name: z.string(),
  /** `any`, an address, or a network with `/n`. */
  ip: z.string(),
  key: z.string(),
});

/** When an agent in the way is replaced (agents-and-groups.md 2.5). */
const force = z.object({
  enabled: z.boolean(),
  key_mismatch: z.boolean(),
  disconnected_time: z.object({ enabled: z.boolean(), seconds }),
  after_registration_time: seconds,
});

/**
 * What svc-authd answers: it is the only writer of `etc/client.keys`. A change is on disk when the call is answered, and
 * svc-db hears of it within moments. Errors: `duplicate_id`, `duplicate_ip`, `duplicate_name` (also the manager's own
 * name), `bad_id`, `bad_name`, `bad_ip`, `bad_key`, `bad_groups`, `unknown_agent`, `write_failed`. In a cluster also
 * `cluster_unavailable`: nothing can be decided now, or whether it was is not known yet; what was not answered is taken back.
 */
export const authdContract = defineContract('svc-authd', {
  ...commonMethods,

  /** Adds an agent; without `id` and `key` they are made. Without `force` the configured rules apply. */
  add: {
    params: z.object({
      name: z.string().min(1).max(256),
      ip: z.string().min(1).max(64).default('any'),
      id: id.optional(),
      key: z.string().min(1).max(256).optional(),
      /** Groups that exist, in the order of their priority. */
      groups: z.array(z.string().max(255)).max(128).optional(),
      /** SHA-1 of id, name and key the agent has, in hex. */
      keyHash: z.string().max(64).optional(),
      force: force.optional(),
    }),
    result: agentWithKey,
  },

  /** Removes agents, all or none (in a cluster thousands at a time). `purge` also leaves no line of them in the file. */
  remove: {
    params: z.object({ ids: z.array(id).min(1).max(MAX_REMOVED_PER_CALL), purge: z.boolean().default(false) }),
    result: z.object({
      removed: z.array(z.object({ id: z.string(), name: z.string() })),
      /** Ids that no agent has. */
      unknown: z.array(z.string()),
    }),
  },

  /** One agent and its key. Error `unknown_agent`. */
  get: { params: z.object({ id }), result: agentWithKey },

  /** Agents of the key file in its order, without their keys. */
  list: {
    params: z.object({
      offset: z.number().int().min(0).default(0),
      limit: z.number().int().min(1).max(MAX_KEYS_PER_PAGE).default(MAX_KEYS_PER_PAGE),
    }),
    result: z.object({ agents: z.array(agentWithKey.omit({ key: true })), total: z.number().int() }),
  },

  /** Names that several hosts use and took from each other within the last hour. */
  conflicts: {
    params: z.object({}),
    result: z.object({
      conflicts: z.array(
        z.object({
          name: z.string(),
          /** The agent that has the name now; null when there is none. */
          id: z.string().nullable(),
          /** Addresses that enrolled with it, the present owner's first. */
          sources: z.array(z.string()),
          /** How often it changed hands. */
          replacements: z.number().int(),
          /** Enrolments refused because of it. */
          refused: z.number().int(),
          /** Epoch milliseconds. */
          last: z.number(),
        }),
      ),
    }),
  },
});
