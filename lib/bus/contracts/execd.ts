import * as z from 'zod';
import { defineContract } from '../contract.js';
import { commonMethods } from './common.js';

/** Bytes of one message with its alert (rules-and-alerts.md 8.3). */
export const MAX_RESPONSE_BYTES = 65_536;

/** What svc-execd answers. */
export const execdContract = defineContract('svc-execd', {
  ...commonMethods,

  /**
   * Runs an active response on this host. Answered when it is stored, so that it is carried out whatever happens to the
   * process, and not when its script has ended. Errors: `bad_message` (1315, 1316), `unknown_command` (1311), `not_found`
   * (none of its programs is there or can be trusted), `disabled` (1350), `white_listed`, `too_many`.
   */
  'responses.run': {
    /** JSON of daemons-and-config.md 5.2. */
    params: z.object({ message: z.string().min(1).max(MAX_RESPONSE_BYTES) }),
    result: z.object({}),
  },

  /** What became of alerts, in the form of `getstats` (daemons-and-config.md 11.3). */
  'statistics.read': { params: z.object({}), result: z.record(z.string(), z.unknown()) },
});
