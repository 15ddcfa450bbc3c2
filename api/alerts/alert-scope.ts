import type { CallParams } from '../../lib/bus/contract.js';
import type { dbContract } from '../../lib/bus/contracts/db.js';
import { type AgentsRequest, AgentView } from '../agents/agent-view.js';
import type { DbClient } from '../daemons/db-client.js';
import type { FailedItem } from '../http/envelope.js';
import { scopeAllowsAll } from '../rbac/permitted-agents.js';
import type { AlertTimes } from './alert-time.js';

/** Levels of rules. */
const MAX_LEVEL = 16;

/** Parameters that say which alerts are meant, besides `agents_list`, `from` and `to`. */
export type AlertFilters = {
  readonly q?: string;
  readonly search?: string;
  readonly level?: string;
  readonly min_level?: number;
  readonly rule_ids?: readonly string[];
  readonly rule_groups?: readonly string[];
  readonly decoders?: readonly string[];
  readonly mitre_ids?: readonly string[];
  readonly agent_names?: readonly string[];
  readonly agent_groups?: readonly string[];
  readonly location?: readonly string[];
  readonly srcip?: readonly string[];
  readonly dstip?: readonly string[];
  readonly srcuser?: readonly string[];
  readonly dstuser?: readonly string[];
};

/** The field of an alert that each filter is about. */
const FIELDS = {
  rule_ids: 'rule.id',
  rule_groups: 'rule.groups',
  decoders: 'decoder.name',
  mitre_ids: 'rule.mitre.id',
  agent_names: 'agent.name',
  location: 'location',
  srcip: 'data.srcip',
  dstip: 'data.dstip',
  srcuser: 'data.srcuser',
  dstuser: 'data.dstuser',
} as const satisfies Partial<Record<keyof AlertFilters, string>>;

/** Which alerts svc-db is asked for; agents are those that may be seen. */
export type AlertScope = Pick<
  CallParams<typeof dbContract, 'alerts.search'>,
  'from' | 'to' | 'q' | 'filters' | 'level' | 'search' | 'agents' | 'among'
>;

/** Whose alerts svc-db is asked for. */
export type AlertAgents = Pick<AlertScope, 'agents' | 'among'>;

/** What a request is about, and those of the agents it names whose alerts the caller may not see. */
export type ScopedAlerts = { readonly scope: AlertScope; readonly failed: readonly FailedItem[] };

/** @throws ApiError 4000 when agents are named and the caller may see alerts of none */
export async function scopedAlerts(
  db: DbClient,
  request: AgentsRequest,
  filters: AlertFilters,
  times: AlertTimes,
): Promise<ScopedAlerts> {
  const { agent_groups: group, ...others } = filters;
  const { agents, failed } = await permittedAgents(db, request, group);
  return { scope: { ...filterScope(others), ...times, ...agents }, failed };
}

/**
 * Agents whose alerts are shown; nothing is said of them where all are. Who may see all sees those of agents that were removed, too, and
 * what has no agent; others see those of agents that there are, or that a policy names. Which agents there are, and in which groups, svc-db
 * looks at whenever it is asked.
 * @param group groups of which the agents must be in one now
 * @throws ApiError 4000
 */
export async function permittedAgents(
  db: DbClient,
  request: AgentsRequest,
  group?: readonly string[],
): Promise<{ readonly agents: AlertAgents; readonly failed: readonly FailedItem[] }> {
  const { scope, named } = request.permitted.agents;
  const inGroup = group === undefined ? {} : { group: [...group] };
  if (named === undefined) {
    const among = { ...inGroup, ...(scopeAllowsAll(scope) ? {} : { scope }) };
    return { agents: Object.keys(among).length === 0 ? {} : { among }, failed: [] };
  }
  const among = group === undefined ? {} : { among: inGroup };
  if (scopeAllowsAll(scope)) return { agents: { agents: [...named], ...among }, failed: [] };
  const chosen = await new AgentView(db, request).choose();
  // Of an agent that was removed there may still be alerts. Which groups it was in nobody knows any more.
  const isOfGroups = scope.steps.some(({ kind, effect }) => kind === 'group' && effect !== 'allow');
  const gone = chosen.failed.filter(({ error }) => error.code === 1701).map(({ id }) => String(id));
  const removed = isOfGroups ? [] : gone;
  return {
    agents: { agents: [...chosen.agents.map(({ id }) => id), ...removed], ...among },
    failed: chosen.failed.filter(({ error }) => error.code !== 1701),
  };
}

function filterScope({ q, search, level, min_level: least, ...lists }: Omit<AlertFilters, 'agent_groups'>): AlertScope {
  const filters: Record<string, string[]> = {};
  for (const [name, field] of Object.entries(FIELDS)) {
    const values = lists[name as keyof typeof FIELDS];
    if (values !== undefined) filters[field] = [...values];
  }
  if (level !== undefined) filters['rule.level'] = levelsOf(level);
  return {
    // An empty query is none (rest-api.md 4.1).
    ...(q === undefined || q === '' ? {} : { q }),
    ...(search === undefined ? {} : { search }),
    ...(least === undefined ? {} : { level: least }),
    ...(Object.keys(filters).length === 0 ? {} : { filters }),
  };
}

/** Levels of a range as `GET /rules` takes it: `10`, or `7-12`. */
function levelsOf(range: string): string[] {
  const [first = '0', last = first] = range.split('-');
  const end = Math.min(MAX_LEVEL, Number(last));
  const levels: string[] = [];
  for (let level = Number(first); level <= end; level += 1) levels.push(String(level));
  // A level that there is not has no alerts.
  return levels.length === 0 ? [first] : levels;
}
