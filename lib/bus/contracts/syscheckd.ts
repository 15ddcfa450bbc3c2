import * as z from 'zod';
import { defineContract } from '../contract.js';
import { commonMethods } from './common.js';

/** Longest order, bytes: what one control message carries. */
const MAX_ORDER_BYTES = 65_536;

/** Scans of one kind: epoch seconds, null before the first. */
const scans = {
  /** Whether it is configured. */
  enabled: z.boolean(),
  running: z.boolean(),
  started: z.number().int().nullable(),
  /** Of the last one that was finished. */
  ended: z.number().int().nullable(),
  /** Finished since the daemon began. */
  count: z.number().int(),
};

/** What svc-syscheckd answers. */
export const syscheckdContract = defineContract('svc-syscheckd', {
  ...commonMethods,

  /**
   * What a manager sends behind `#!-` (integrity-and-inventory.md 1.2), as a byte string: `syscheck restart` or `restart`
   * begins a scan of the files and one for rootkits, as far as they are configured; `fim_file dbsync <verb> <json>` and
   * its like are answers of the synchronisation, of which a wrong one is counted and ignored. It answers when the order
   * is taken, not when it is carried out. Error `unrecognized` for any other text.
   */
  order: { params: z.object({ text: z.string().min(1).max(MAX_ORDER_BYTES) }), result: z.object({}) },

  /** Whether scans are running and when the last ones did. */
  'scan.status': {
    params: z.object({}),
    result: z.object({
      fim: z.object({
        ...scans,
        /** Files that are known. */
        files: z.number().int(),
      }),
      rootcheck: z.object(scans),
    }),
  },
});

/** State of the scans, as `scan.status` tells it. */
export type ScanStatus = z.output<(typeof syscheckdContract)['methods']['scan.status']['result']>;
