import * as z from 'zod';
import { agentScope } from './db-agents.js';
import { filterText } from './db-lists.js';

/**
 * Fields of alerts that the store keeps apart from their texts: what is asked by them alone reads no text. `alerts.top` and the
 * series of `alerts.histogram` take these only; `q` and `filters` take any field, by its path in the alert.
 */
export const ALERT_FIELDS = [
  'rule.id',
  'rule.level',
  'rule.groups',
  'rule.mitre.id',
  'rule.mitre.tactic',
  'rule.mitre.technique',
  'rule.pci_dss',
  'rule.gdpr',
  'rule.hipaa',
  'rule.nist_800_53',
  'rule.tsc',
  'agent.id',
  'agent.name',
  'agent.ip',
  'manager.name',
  'cluster.name',
  'cluster.node',
  'decoder.name',
  'location',
  'predecoder.program_name',
  'predecoder.hostname',
  'data.srcip',
  'data.dstip',
  'data.srcuser',
  'data.dstuser',
  'data.user',
  'syscheck.path',
  'syscheck.event',
  'data.win.system.eventID',
  'data.win.system.channel',
  'data.win.system.providerName',
] as const;
export type AlertField = (typeof ALERT_FIELDS)[number];

/** Alerts of one page at most; a page that would be larger than {@link MAX_ALERT_PAGE_BYTES} is cut shorter, one always fits. */
export const MAX_ALERTS_PER_PAGE = 500;
/** Bytes of the texts of a page: a message of the bus has room for twice as much. */
export const MAX_ALERT_PAGE_BYTES = 8 * 1024 * 1024;
/** Buckets of a histogram at most: nobody sees more bars. */
export const MAX_HISTOGRAM_BUCKETS = 2000;
/** Series of a histogram at most, those with most alerts; what is in none of them is in `count` alone. */
export const MAX_HISTOGRAM_SERIES = 50;
/** Values of a top list at most. */
export const MAX_TOP_VALUES = 1000;
/** Longest wait of `alerts.follow` for a first alert, milliseconds; the caller's deadline must be longer. */
const MAX_FOLLOW_WAIT_MS = 25_000;
/** Longest time that a question is worked on, milliseconds; it is answered with what was found by then. */
export const MAX_ALERT_SEARCH_MS = 10_000;
/** Agents that a question may name. */
const MAX_NAMED_AGENTS = 100_000;
/** Fields of `filters`, and values of one. */
const MAX_FILTERS = 64;
const MAX_FILTER_VALUES = 1000;
/** Epoch milliseconds of the end of the year 9999. */
const MAX_TIME = 253_402_300_799_999;

const time = z.number().int().min(0).max(MAX_TIME);
const count = z.number().int().min(0);

/**
 * Id of an alert in the store: day and part of its file and the byte at which it begins there, `20261127-000-123456`. It stays
 * when the store is made anew. A cursor has the same form and stands between two alerts.
 */
const place = z.string().regex(/^\d{8}-\d{3}-\d{1,15}$/, 'is no place among the alerts');

/** Whose alerts; without either those of all agents, and those without one. */
const whose = {
  /** Ids of agents, `000` for the manager's own, whether there still are such. */
  agents: z.array(z.string().max(8)).max(MAX_NAMED_AGENTS).optional(),
  /** Those of agents that there are when it is asked, and that all of it holds for. */
  among: z
    .object({
      scope: agentScope.optional(),
      /** In one of these groups, whatever the case. */
      group: z.array(z.string().max(256)).min(1).max(MAX_FILTER_VALUES).optional(),
    })
    .optional(),
};

/** Which alerts a question is about; all that is given must hold. */
const scope = {
  /** Times of alerts, epoch milliseconds: from the first on, before the second. */
  from: time.optional(),
  to: time.optional(),
  /** The language of all lists (rest-api.md 4.4), over fields by their path in the alert, such as `rule.level>9;agent.name~web`. */
  q: z.string().max(65_536).optional(),
  /** One of the values is the field's, or one of its members, whatever the case. */
  filters: z
    .record(z.string().max(256), z.array(filterText).min(1).max(MAX_FILTER_VALUES))
    .refine((value) => Object.keys(value).length <= MAX_FILTERS, 'has too many fields')
    .optional(),
  /** Lowest level of the rule. */
  level: z.number().int().min(0).max(16).optional(),
  /**
   * Words that all occur in values of the alert, whatever the case; "several words" beside each other in one value; `word*`
   * begins one; `-` in front leaves out alerts in which it occurs. The alert's `id` and `timestamp` are not looked into.
   */
  search: z.string().max(1024).optional(),
  ...whose,
  /** Milliseconds that it may take. */
  withinMs: z.number().int().min(1).max(MAX_ALERT_SEARCH_MS).default(3000),
};

const alert = z.object({
  id: place,
  /** Epoch milliseconds. */
  time: z.number(),
  /** JSON of the alert, byte for byte as in alerts.json; with `select` only what was selected. */
  text: z.string(),
});
export type StoredAlert = z.output<typeof alert>;

/** How many alerts; `exact` is false where time or memory was not enough for all: there are at least so many. */
const total = z.object({ count, exact: z.boolean() });

/** Values of a field with numbers of alerts, most first. An alert with several values counts for each. */
const valueCounts = z.array(z.object({ value: z.union([z.string(), z.number(), z.boolean()]), count }));

/**
 * The alerts of this manager that are searched (daemons/db/alerts/). Errors: `disabled` when the store is off in the
 * configuration, `busy`, `bad_search` for a `search` that is none; `query_1407` and the like for `q`, see `queryErrorOf`.
 */
export const alertMethods = {
  /** Alerts in the order in which they were written, newest first unless `asc` is asked for. */
  'alerts.search': {
    params: z.object({
      ...scope,
      order: z.enum(['desc', 'asc']).default('desc'),
      limit: z.number().int().min(1).max(MAX_ALERTS_PER_PAGE).default(50),
      /** `cursor` of the page before. */
      cursor: place.optional(),
      select: z.array(z.string().max(256)).min(1).max(64).optional(),
      /** Whether all alerts are counted that the question finds, from the cursor's side on or not. */
      count: z.boolean().default(false),
    }),
    result: z.object({
      alerts: z.array(alert),
      /** Where the next page begins; null when there is none. A page that time was not enough for is shorter, and has one. */
      cursor: place.nullable(),
      /** Null when it was not asked for. */
      total: total.nullable(),
    }),
  },
  /** One alert by its id in the store, or by the member `id` of its JSON. Error `unknown_alert`: there is none, or no more, or the agent may not be seen. */
  'alerts.get': {
    params: z.object({
      id: z.union([place, z.string().regex(/^\d{1,12}\.\d{1,15}$/, 'is no id of an alert')]),
      ...whose,
    }),
    result: alert,
  },
  /** Numbers of alerts over time, in buckets that begin at multiples of `interval` since `from`. Empty buckets are there, too. */
  'alerts.histogram': {
    params: z.object({
      ...scope,
      from: time,
      to: time,
      /** Milliseconds of a bucket; without it a round one that makes `buckets` or fewer. */
      interval: z.number().int().min(1).optional(),
      buckets: z.number().int().min(1).max(MAX_HISTOGRAM_BUCKETS).default(60),
      by: z.enum(ALERT_FIELDS).optional(),
      series: z.number().int().min(1).max(MAX_HISTOGRAM_SERIES).default(10),
    }),
    result: z.object({
      interval: z.number().int(),
      buckets: z.array(z.object({ time: z.number(), count, by: valueCounts.optional() })),
      total,
    }),
  },
  /** The commonest values of a field. */
  'alerts.top': {
    params: z.object({
      ...scope,
      field: z.enum(ALERT_FIELDS),
      limit: z.number().int().min(1).max(MAX_TOP_VALUES).default(10),
    }),
    result: z.object({
      values: valueCounts,
      /** Alerts that the question finds, and those of them without the field. */
      total,
      missing: count,
    }),
  },
  /** Alerts behind a place in the order of writing; waits up to `waitMs` for the first. `end` is behind the newest. */
  'alerts.follow': {
    params: z.object({
      ...scope,
      after: z.union([place, z.literal('end')]),
      limit: z.number().int().min(1).max(MAX_ALERTS_PER_PAGE).default(100),
      waitMs: z.number().int().min(0).max(MAX_FOLLOW_WAIT_MS).default(0),
    }),
    /** `cursor` is `after` of the next call; null only while no alert was ever written. */
    result: z.object({ alerts: z.array(alert), cursor: place.nullable() }),
  },
  /** What the store has, and how far it is. */
  'alerts.stats': {
    params: z.object({}),
    result: z.object({
      /** Off in the configuration: everything else is 0 or null. */
      enabled: z.boolean(),
      alerts: count,
      /** Times of the oldest and the newest alert, epoch milliseconds. */
      oldest: z.number().nullable(),
      newest: z.number().nullable(),
      segments: count,
      /** On the disk. */
      bytes: count,
      /** Of alerts.json behind the store: 0 when everything can be found. */
      behind: count,
      /** Lines that are no alerts. */
      rejected: count,
      /** Of segments that are made anew out of the files of alerts, since they were damaged or gone. */
      rebuilding: count,
    }),
  },
};
