import { z } from 'zod';

/** Methods every daemon answers: spread them into its contract. */
export const commonMethods = {
  /** Is it alive: answered without touching any state. */
  ping: {
    params: z.object({}),
    result: z.object({ daemon: z.string(), pid: z.number().int(), version: z.string() }),
  },
  /** Counters of the daemon, in groups of its own. */
  stats: { params: z.object({}), result: z.record(z.string(), z.unknown()) },
  /** The configuration section in force, typed as daemons-and-config.md 2 shows it; error `unknown_section`. */
  config: { params: z.object({ section: z.string().min(1).max(64) }), result: z.record(z.string(), z.unknown()) },
  /** Re-reads configuration in place; answers the sections that changed but need a restart. */
  reload: { params: z.object({}), result: z.object({ restartNeeded: z.array(z.string()) }) },
};
