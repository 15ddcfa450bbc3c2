import * as z from 'zod';

/** Agents one call may ask about. */
const MAX_AGENTS_PER_STATISTICS = 1000;

/**
 * What a daemon counted of agents since its start (daemons-and-config.md 11.3, "Per agent"), in the order they were asked for: an agent it never
 * heard of has zeros. Times are epoch seconds; `uptime` is when counting began.
 */
export const agentStatistics = {
  params: z.object({
    ids: z
      .array(z.string().regex(/^\d{3,8}$/, 'is no agent id: 3 to 8 digits'))
      .min(1)
      .max(MAX_AGENTS_PER_STATISTICS),
  }),
  result: z.object({
    timestamp: z.number().int(),
    uptime: z.number().int(),
    agents: z.array(z.object({ id: z.string(), metrics: z.record(z.string(), z.unknown()) })),
  }),
};
