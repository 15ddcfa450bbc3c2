import * as z from 'zod';
import { defineContract } from '../contract.js';
import { agentStatistics } from './agent-statistics.js';
import { commonMethods } from './common.js';

/** Agents one call may send to. */
export const MAX_AGENTS_PER_SEND = 100_000;
/** Bytes of a message to an agent, less than a message of the channel holds. */
const MAX_TEXT = 65_000;
/** Characters of the name of what is sent. */
const MAX_NAME = 128;
/** Longest wait for an agent's answer, milliseconds: the largest `remoted.response_timeout`. */
const MAX_ANSWER_WAIT_MS = 3_600_000;

const id = z.string().regex(/^\d{3,8}$/, 'is no agent id: 3 to 8 digits');
/** Pieces of packages go to old agents as they are. */
const bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array && value.length <= MAX_TEXT, 'is no bytes');

/** What svc-remoted answers. */
export const remotedContract = defineContract('svc-remoted', {
  ...commonMethods,

  /** Reads `etc/client.keys` now: what was written before the call is in force when it is answered. */
  'keys.reload': { params: z.object({}), result: z.object({ agents: z.number().int() }) },

  /**
   * Sends a control message (agents-and-groups.md 4.5): `force_reconnect`, `syscheck restart`, `execd {...}`, without its
   * header. Sent is no proof that it arrived. `failed` codes: `unknown_agent`, `disconnected` (not heard for
   * agents_disconnection_time), `closed` (no way to it), `full` (it does not read). Error `bad_message`. With `once`, a name for
   * what is sent, an agent that it was sent to already counts as sent: another node whose answer was lost asks again.
   */
  'agents.send': {
    params: z.object({
      ids: z.union([z.array(id).min(1).max(MAX_AGENTS_PER_SEND), z.literal('all')]),
      message: z.string().min(1).max(MAX_TEXT),
      once: z.string().min(1).max(MAX_NAME).optional(),
    }),
    result: z.object({
      sent: z.number().int(),
      failed: z.array(z.object({ id: z.string(), code: z.string(), message: z.string() })),
    }),
  },

  /**
   * Asks a part of an agent and waits for what it says: `ok {...}`, `err ...` or JSON. The texts of 4.5 for what went
   * wrong (`err Cannot send request`, `err Maximum attempts exceeded`, `err Response timeout`) are answers, too. Errors
   * `unknown_agent`, `disconnected`, `closed`, `too_many_requests`, `timeout` (`deadlineMs` is over), `bad_message`.
   */
  'agents.request': {
    params: z.object({
      id,
      target: z.string().regex(/^[a-z_-]{1,32}$/, 'is no part of an agent'),
      payload: z.union([z.string().max(MAX_TEXT), bytes]),
      /** Milliseconds; the caller's own deadline must be longer. Default: `remoted.response_timeout`. */
      deadlineMs: z.number().int().min(1).max(MAX_ANSWER_WAIT_MS).optional(),
    }),
    result: z.object({ answer: z.string() }),
  },

  /** Statistics in the form of `getstats` (daemons-and-config.md 11.3). */
  'statistics.read': { params: z.object({}), result: z.record(z.string(), z.unknown()) },
  'statistics.agents': agentStatistics,
});
