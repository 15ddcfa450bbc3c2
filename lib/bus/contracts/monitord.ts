import * as z from 'zod';
import { LOG_LEVELS } from '../../manager/manager-log.js';
import { defineContract } from '../contract.js';
import { commonMethods } from './common.js';

const logLevel = z.enum(LOG_LEVELS);
/** Tree of texts as `renderConfiguration` makes it. */
const rendered = z.record(z.string(), z.unknown());

/** What svc-monitord answers. */
export const monitordContract = defineContract('svc-monitord', {
  ...commonMethods,

  /** State of the eleven daemons of a manager (product.md 2.5). */
  status: { params: z.object({}), result: z.record(z.string(), z.string()) },

  /** Item of `GET /manager/info`. */
  info: {
    params: z.object({}),
    result: z.object({
      path: z.string(),
      version: z.string(),
      type: z.literal('server'),
      max_agents: z.string(),
      openssl_support: z.string(),
      tz_offset: z.string(),
      tz_name: z.string(),
      /** null on cluster workers. */
      uuid: z.string().nullable(),
    }),
  },

  /**
   * Item of `GET /manager/configuration`, made from the file as it is now. Errors, with the API's text as message:
   * `unreadable` (1101), `invalid_section` (1102), `invalid_field` (1103), `absent_section` (1106).
   */
  configuration: {
    params: z.object({
      section: z.string().max(64).optional(),
      field: z.string().max(256).optional(),
      distinct: z.boolean().optional(),
      /** Whether the caller may see secrets: it holds the update_config permission. */
      secrets: z.boolean(),
    }),
    result: rendered,
  },

  /** `raw=true`: the text of the file. Error `unreadable` (1101). */
  raw_configuration: { params: z.object({ secrets: z.boolean() }), result: z.object({ text: z.string() }) },

  /** Entries of the last 2000 lines of the manager log, newest first. Error `no_log_file` (1020). */
  logs: {
    params: z.object({ level: logLevel.optional(), tag: z.string().max(256).optional() }),
    result: z.object({
      items: z.array(
        z.object({
          /** `2025-06-01T06:00:00Z` */
          timestamp: z.string(),
          tag: z.string(),
          level: logLevel,
          /** As in the file, with its leading blank. */
          description: z.string(),
        }),
      ),
    }),
  },

  /** Counts of the same lines by tag, sorted by tag. Error `no_log_file` (1020). */
  logs_summary: {
    params: z.object({}),
    result: z.array(
      z.object({
        tag: z.string(),
        counts: z.object({
          all: z.number().int(),
          info: z.number().int(),
          error: z.number().int(),
          critical: z.number().int(),
          warning: z.number().int(),
          debug: z.number().int(),
        }),
      }),
    ),
  },

  /** What became of alerts, in the form of `getstats` (daemons-and-config.md 11.3). */
  'statistics.read': { params: z.object({}), result: z.record(z.string(), z.unknown()) },
});
