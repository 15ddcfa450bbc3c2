import * as z from 'zod';
import { defineContract } from '../contract.js';
import { commonMethods } from './common.js';

/** What svc-agentd answers. */
export const agentdContract = defineContract('svc-agentd', {
  ...commonMethods,

  /** The connection and the buffer (agents-and-groups.md 5.2, `getstate`). Times are local, empty before the first. */
  getstate: {
    params: z.object({}),
    result: z.object({
      status: z.enum(['pending', 'connected', 'disconnected']),
      last_keepalive: z.string(),
      last_ack: z.string(),
      msg_count: z.number().int(),
      msg_sent: z.number().int(),
      msg_buffer: z.number().int(),
      buffer_enabled: z.boolean(),
    }),
  },
});

/** The state as `getstate` tells it. */
export type AgentStateReport = z.output<(typeof agentdContract)['methods']['getstate']['result']>;
