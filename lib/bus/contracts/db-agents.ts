import * as z from 'zod';
import { QueryError, type QueryErrorCode } from '../../query/query-error.js';
import { BusError } from '../bus-error.js';
import { groupName, MAX_GROUPS_PER_AGENT } from './db-groups.js';
import { itemPage } from './db-lists.js';
import { itemList } from './item-list.js';

export const AGENT_STATUSES = ['active', 'pending', 'never_connected', 'disconnected'] as const;
export type AgentStatus = (typeof AGENT_STATUSES)[number];

/** Items of one page of `agents.list`; a page that would be larger than a message is cut shorter. */
export const MAX_AGENTS_PER_PAGE = 10_000;
/** Agents one call may change or ask for by id. */
export const MAX_AGENTS_PER_CALL = 100_000;
/** Keepalives in one call: some seconds' worth of a large manager. */
const MAX_KEEPALIVES_PER_CALL = 10_000;
/** Last keepalive of agent 000: the end of the year 9999. */
export const MANAGER_KEEPALIVE = 253_402_300_799;
/** Characters of an id or a name in a scope. */
export const MAX_SCOPE_VALUE = 256;
/** Values of one list filter: stops requests that cost time without being of use. */
const MAX_FILTER_VALUES = 1000;

/** `001`: digits, padded to three; at most eight (agents-and-groups.md 1.1). */
const agentId = z.string().regex(/^\d{3,8}$/, 'is no agent id: 3 to 8 digits');
const agentIds = z.array(agentId).max(MAX_AGENTS_PER_CALL);
/** Epoch seconds. */
const time = z.number().int().min(0).max(MANAGER_KEEPALIVE);
const word = z.string().max(256);
const sum = z.string().max(128);
const registerIP = z.string().min(1).max(64);
const statusCode = z.number().int().min(0).max(5);
const groupList = z.array(groupName).max(MAX_GROUPS_PER_AGENT);

/** Keys keep prefix and quotes: `"site"`, `!"rack"`, `#"_agent_ip"` (agents-and-groups.md 4.3). */
export const agentLabels = z.array(z.tuple([z.string().min(1).max(1024), z.string().max(65_536)])).max(4096);

/** All text; absent ones are not known. */
export const agentOs = z.object({
  arch: word.optional(),
  build: word.optional(),
  codename: word.optional(),
  major: word.optional(),
  minor: word.optional(),
  name: word.optional(),
  platform: word.optional(),
  /** As long as a keepalive's first line may be. */
  uname: z.string().max(4096).optional(),
  version: word.optional(),
});

/**
 * What is known from keepalives; null clears a value, an absent member leaves it. `group_config_status` follows from
 * `mergedSum`, the groups and what `groups.sums` told.
 */
const changes = z.object({
  name: z.string().min(1).max(128).optional(),
  ip: z.string().max(64).nullable().optional(),
  registerIP: registerIP.optional(),
  /** Replaces all nine values. */
  os: agentOs.nullable().optional(),
  version: word.nullable().optional(),
  configSum: sum.nullable().optional(),
  mergedSum: sum.nullable().optional(),
  manager: word.nullable().optional(),
  nodeName: word.optional(),
  status: z.enum(AGENT_STATUSES).optional(),
  statusCode: statusCode.optional(),
  lastKeepAlive: time.optional(),
  /** 0 is none. */
  disconnectionTime: time.optional(),
  /** Replaces all. */
  labels: agentLabels.optional(),
});
export type AgentChanges = z.input<typeof changes>;

/** One value, or several of which one must hold; `all` among them disables the filter. */
const filter = z.union([z.string().max(256), z.array(z.string().max(256)).max(MAX_FILTER_VALUES)]).optional();

/** Which agents a caller may see (rest-api.md 5.1): the last step that concerns an agent decides. */
export const agentScope = z.object({
  start: z.enum(['all', 'none']),
  steps: z
    .array(
      z.object({
        effect: z.enum(['allow', 'deny']),
        kind: z.enum(['all', 'id', 'group']),
        /** Agent id or group name; absent for `all`. */
        value: z.string().max(MAX_SCOPE_VALUE).optional(),
      }),
    )
    .max(100_000),
});
export type AgentScope = z.input<typeof agentScope>;

/** Filters by what a field is, whatever the case; `group` by membership. */
export const EQUALITY_FILTERS = [
  'status',
  'os.platform',
  'os.version',
  'os.name',
  'manager',
  'version',
  'group',
  'node_name',
  'name',
  'ip',
  'registerIP',
  'group_config_status',
] as const;

/** Filters of agent lists (rest-api.md 6.2), named as there; all must hold. Text compares without case. */
const agentFilter = z.object({
  ids: agentIds.optional(),
  scope: agentScope.optional(),
  status: filter,
  /** Seconds or `7d`: last keepalive older, or never connected and registered before then; 0 has no effect. */
  older_than: z
    .string()
    .regex(/^\d{1,9}[dhms]?$/)
    .optional(),
  'os.platform': filter,
  'os.version': filter,
  'os.name': filter,
  manager: filter,
  /** `4.14.0`, `v4.14.0` and `wazuh 4.14.0` are the same. */
  version: filter,
  /** Membership. */
  group: filter,
  node_name: filter,
  name: filter,
  ip: filter,
  registerIP: filter,
  group_config_status: filter,
  q: z.string().max(65_536).optional(),
  search: z.string().max(1024).optional(),
  /** Without any group, and not 000. */
  no_group: z.boolean().optional(),
  /** Version known and another than the manager's. */
  outdated: z.boolean().optional(),
});
export type AgentFilter = z.output<typeof agentFilter>;

const fieldNames = z.array(z.string().max(64)).min(1).max(64);
const page = {
  offset: z.number().int().min(0).default(0),
  limit: z.number().int().min(0).max(MAX_AGENTS_PER_PAGE).default(500),
};

/** `GET /agents` items, agents-and-groups.md 10.1: only fields that have a value. */
const items = itemList;

const agentName = z.object({ id: z.string(), name: z.string(), ip: z.string(), registerIP: z.string() });
export type NamedAgent = z.output<typeof agentName>;

/** Numbers of agents. */
const states = z.object({
  connection: z.object({
    active: z.number().int(),
    disconnected: z.number().int(),
    never_connected: z.number().int(),
    pending: z.number().int(),
    total: z.number().int(),
  }),
  configuration: z.object({ synced: z.number().int(), not_synced: z.number().int(), total: z.number().int() }),
});

/** A change of one agent that was not made; codes as of the methods' errors. */
const failedAgents = z.array(z.object({ id: z.string(), code: z.string(), message: z.string() }));

/**
 * Agents (agents-and-groups.md 10). A change is on disk when the call is answered; an error means that nothing was
 * changed. Errors: `unknown_agent`, `manager` (not to be done to 000), `agent_exists`, `unknown_group`,
 * `too_many_groups`, `disk_full`; for lists `query_1403` and the like, see {@link queryErrorOf}.
 */
export const agentMethods = {
  /** New agent, never connected. `replaces` are removed in the same transaction. Without `groups`: `default`. */
  'agents.register': {
    params: z.object({
      id: agentId,
      name: z.string().min(1).max(128),
      /** `any`, an address or a network with `/n`. */
      registerIP: registerIP.default('any'),
      dateAdd: time,
      groups: groupList.optional(),
      replaces: agentIds.max(100).default([]),
    }),
    result: z.object({ removed: z.array(agentName) }),
  },
  /** Errors `unknown_agent`. */
  'agents.update': { params: z.object({ id: agentId, changes }), result: z.object({}) },
  /** With labels and membership. 000 is refused (`manager`), and then none is removed. */
  'agents.remove': {
    params: z.object({ ids: agentIds }),
    result: z.object({ removed: z.array(agentName), unknown: z.array(z.string()) }),
  },
  /**
   * Agents that were removed, for svc-analysisd, which forgets what they did: behind a number of a removal, in their order;
   * those up to `after` are asked for no more, and are not kept.
   */
  'agents.removed': {
    params: z.object({
      after: z.number().int().min(0),
      limit: z.number().int().min(1).max(MAX_AGENTS_PER_PAGE).default(MAX_AGENTS_PER_PAGE),
    }),
    result: z.object({ removed: z.array(z.object({ sequence: z.number().int(), id: z.string() })) }),
  },
  'agents.get': {
    params: z.object({ ids: agentIds.max(MAX_AGENTS_PER_PAGE), select: fieldNames.optional() }),
    result: z.object({ items, unknown: z.array(z.string()) }),
  },
  /** Agents that have all of the given; `registerIP` is an address that may have been registered with a mask. */
  'agents.find': {
    params: z.object({
      name: z.string().max(256).optional(),
      ip: z.string().max(64).optional(),
      registerIP: z.string().max(64).optional(),
    }),
    result: z.object({ items }),
  },
  /** A page, and how many agents there are on all pages. Fewer items than asked for: go on at offset + items. */
  'agents.list': {
    params: agentFilter.extend({
      ...page,
      sort: z.string().max(1024).optional(),
      select: fieldNames.optional(),
      distinct: z.boolean().optional(),
    }),
    result: itemPage,
  },
  /** Ids that hold, ascending. */
  'agents.ids': { params: agentFilter, result: z.object({ ids: z.array(z.string()) }) },
  /** The same by the node of the cluster where each agent is, as `node_name` has it. */
  'agents.by_node': {
    params: agentFilter,
    result: z.object({ nodes: z.array(z.object({ node: z.string(), ids: z.array(z.string()) })) }),
  },
  'agents.labels': {
    params: z.object({ ids: agentIds.max(1000) }),
    result: z.object({
      agents: z.array(z.object({ id: z.string(), labels: agentLabels })),
      unknown: z.array(z.string()),
    }),
  },
  /** Counts without 000. */
  'agents.summary': {
    params: agentFilter,
    result: states.extend({
      /** By platform, and by group. */
      os: z.record(z.string(), z.number().int()),
      groups: z.record(z.string(), z.number().int()),
    }),
  },
  /**
   * All that `GET /overview/agents` shows of the agents of a scope, without 000: counts by node, by name, platform and
   * version of the system, and by version, of each the first {@link MAX_AGENTS_PER_PAGE} groups as `agents.count_by`
   * answers them, by group, and the agent registered last.
   */
  'agents.overview': {
    params: z.object({ scope: agentScope.optional() }),
    result: states.extend({
      nodes: itemPage,
      systems: itemPage,
      versions: itemPage,
      groups: z.record(z.string(), z.number().int()),
      last: items,
    }),
  },
  /** Groups of equal values: the fields nested, `N/A` for a missing value, and `count`; 000 counts as any other. */
  'agents.count_by': {
    params: agentFilter.extend({ ...page, fields: fieldNames.optional(), sort: z.string().max(1024).optional() }),
    result: itemPage,
  },
  /**
   * Group membership (agents-and-groups.md 10.5). An agent without any group after `remove` gets `default`.
   * `failed`: `unknown_agent`, `manager`, `too_many_groups`, `not_member` (remove), `already_member` (append of nothing new).
   * In a cluster very many are changed in several steps: those of a step that was not made, and those after it, are `failed`
   * with its error.
   */
  'agents.membership': {
    params: z.object({
      mode: z.enum(['append', 'override', 'empty_only', 'remove']),
      agents: z.array(z.object({ id: agentId, groups: groupList })).max(MAX_AGENTS_PER_CALL),
    }),
    result: z.object({
      changed: z.array(z.object({ id: z.string(), groups: z.array(z.string()) })),
      failed: failedAgents,
    }),
  },
  /**
   * Who is in which groups, without 000, ascending by id: all agents, or those that changed after `since`. A mark that is
   * not known any more (svc-db was restarted, or too much has changed since) is answered with all of them, `full`.
   *
   * `more`: ask again with the same `since` and `after` the last id. What changes between two pages is part of the next
   * question, if that is asked with `epoch` and `version` of the **first** page; a page whose `epoch` or `full` is
   * another than the first one's means that all of it has to be asked for anew. daemons/remoted/push/read-memberships.ts does all this.
   */
  'agents.memberships': {
    params: z.object({
      since: z.object({ epoch: z.string().max(64), version: z.number().int().min(0) }).optional(),
      after: agentId.optional(),
      limit: z.number().int().min(1).max(MAX_AGENTS_PER_PAGE).default(MAX_AGENTS_PER_PAGE),
    }),
    result: z.object({
      epoch: z.string(),
      version: z.number().int(),
      full: z.boolean(),
      more: z.boolean(),
      /** By priority; empty: the agent is gone, or has no group until its first keepalive. */
      agents: z.array(z.object({ id: z.string(), groups: z.array(z.string()) })),
    }),
  },
  /**
   * Keepalives of some moment: last keepalive, active, status code and disconnection time 0, and what else changed. An
   * agent without groups gets `default`. Times alone are answered from memory and are on disk within 5 s.
   */
  'agents.keepalives': {
    params: z.object({
      agents: z.array(z.object({ id: agentId, at: time, changes: changes.optional() })).max(MAX_KEEPALIVES_PER_CALL),
    }),
    result: z.object({
      unknown: z.array(z.string()),
      /** Agents that were given `default` just now. */
      assigned: z.array(z.string()),
      /** Agents that another node of the cluster had, of which this call does not say all: they are to be told whole. */
      incomplete: z.array(z.string()).default([]),
    }),
  },
  /** Connection status of several: startup, shutdown, refusals. */
  'agents.status': {
    params: z.object({
      agents: z
        .array(
          z.object({
            id: agentId,
            status: z.enum(AGENT_STATUSES).optional(),
            statusCode: statusCode.optional(),
            /** Last keepalive. */
            at: time.optional(),
            disconnectionTime: time.optional(),
            version: word.nullable().optional(),
          }),
        )
        .max(MAX_KEEPALIVES_PER_CALL),
    }),
    result: z.object({ unknown: z.array(z.string()) }),
  },
  /** Start of svc-remoted: active and pending agents become disconnected with code 5; in a cluster those of this node. */
  'agents.reset_connections': { params: z.object({ at: time }), result: z.object({ ids: z.array(z.string()) }) },
  /**
   * Active and pending agents whose last keepalive is before `before` become disconnected with code 4. In a cluster those of
   * this node, and none while it does not know whether they are connected elsewhere by now.
   */
  'agents.disconnect_stale': {
    params: z.object({ before: time, at: time }),
    result: z.object({
      agents: z.array(agentName.extend({ lastKeepAlive: z.number().int() })),
      /** Whether it is known who is connected elsewhere. */
      judged: z.boolean().default(true),
    }),
  },
};

/** The answer for a list parameter that cannot be applied. */
export function queryFailure(error: QueryError): BusError {
  return new BusError(`query_${error.code}`, error.extra ?? error.remediationExtra ?? '', { cause: error });
}

/** The error of lib/query that svc-db answered; undefined for any other. Its texts go behind those of the API's code. */
export function queryErrorOf(error: unknown): QueryError | undefined {
  const code = error instanceof BusError ? /^query_(\d{4})$/.exec(error.code)?.[1] : undefined;
  if (!(error instanceof BusError) || code === undefined) return undefined;
  return new QueryError(Number(code) as QueryErrorCode, error.message === '' ? {} : { extra: error.message });
}
