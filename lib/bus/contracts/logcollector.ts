import * as z from 'zod';
import { defineContract } from '../contract.js';
import { commonMethods } from './common.js';

const span = z.object({
  /** `2025-06-05 08:00:00`, local time. */
  start: z.string(),
  end: z.string(),
  files: z.array(
    z.object({
      location: z.string(),
      events: z.number().int(),
      bytes: z.number().int(),
      targets: z.array(z.object({ name: z.string(), drops: z.number().int() })),
    }),
  ),
});

/** What svc-logcollector answers. */
export const logcollectorContract = defineContract('svc-logcollector', {
  ...commonMethods,

  /** What was collected since the start and in the last interval (daemons-and-config.md 6.5, `getstate`). */
  getstate: { params: z.object({}), result: z.object({ global: span, interval: span }) },
});

/** Counters of one span, as `getstate` and the state file show them. */
export type CollectedSpan = z.output<typeof span>;
