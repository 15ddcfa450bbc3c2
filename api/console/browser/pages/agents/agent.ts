import { shownNumber } from '../../client/shown.js';
import { TEXTS } from '../../texts.js';

/** An agent as the API shows it (rest-api.md 6.2); what is not known is absent. */
export type Agent = {
  readonly id: string;
  readonly name: string;
  readonly ip?: string;
  readonly registerIP?: string;
  readonly status: AgentStatus;
  readonly status_code?: number;
  readonly os?: {
    readonly name?: string;
    readonly version?: string;
    readonly platform?: string;
    readonly codename?: string;
    readonly arch?: string;
    readonly uname?: string;
  };
  readonly version?: string;
  readonly node_name?: string;
  readonly group?: readonly string[];
  readonly group_config_status?: string;
  readonly dateAdd?: string;
  readonly lastKeepAlive?: string;
  readonly disconnection_time?: string;
};

export type AgentStatus = 'active' | 'disconnected' | 'pending' | 'never_connected';

export const STATUSES: readonly AgentStatus[] = ['active', 'disconnected', 'pending', 'never_connected'];
const TONES = { active: 'good', disconnected: 'bad', pending: 'warn', never_connected: 'plain' } as const;

/** The manager, which is an agent of its own. */
export const MANAGER_ID = '000';
/** The manager is always there; its last keepalive is the end of all time. */
const ALWAYS = '9999-';

export function toneOf(status: AgentStatus): 'good' | 'bad' | 'warn' | 'plain' {
  return TONES[status];
}

/** `Debian GNU/Linux 12 (bookworm)`, or nothing. */
export function systemOf({ os }: Agent): string {
  return [os?.name, os?.version].filter(Boolean).join(' ');
}

/** When it was last heard; undefined for one that never was, and for the manager. */
export function lastSeen({ lastKeepAlive }: Agent): string | undefined {
  return lastKeepAlive?.startsWith(ALWAYS) === true ? undefined : lastKeepAlive;
}

export function isSynced({ group_config_status: status }: Agent): boolean {
  return status === 'synced';
}

/** Why it is not connected, when the manager knows. */
export function whyOf({ status_code: code = 0 }: Agent): string | undefined {
  return (TEXTS.agents.statusCode as Readonly<Record<number, string>>)[code];
}

/** Agents in numbers (rest-api.md 6.1, `/overview/agents`). */
export type AgentsOverview = {
  readonly groups: readonly { readonly name: string; readonly count: number }[];
  readonly agent_os: readonly {
    readonly os: { readonly name: string; readonly platform: string; readonly version: string };
    readonly count: number;
  }[];
  readonly agent_version: readonly { readonly version: string; readonly count: number }[];
  readonly agent_status: {
    readonly connection: Readonly<Record<AgentStatus | 'total', number>>;
    readonly configuration: { readonly synced: number; readonly not_synced: number; readonly total: number };
  };
};

/** Parameters of a place that say which agents are shown, by their names in the API. */
export const FILTERS = ['status', 'group', 'os.name', 'version', 'group_config_status', 'search', 'q'] as const;

/** What the list asks for, from the parameters of the place; the manager itself has a place of its own. */
export function listParameters(place: URLSearchParams): Record<string, string> {
  const asked: Record<string, string> = {};
  for (const name of FILTERS) {
    const value = place.get(name);
    if (value !== null && value !== '') asked[name] = value;
  }
  const { q } = asked;
  return { ...asked, q: q === undefined ? `id!=${MANAGER_ID}` : `(${q});id!=${MANAGER_ID}` };
}

/** What the API counts those under of which it is not known. */
const UNKNOWN = 'N/A';

/** Names of systems and versions there are, the commonest first. */
export function choices(items: readonly { readonly value: string; readonly count: number }[]): [string, string][] {
  const counts = new Map<string, number>();
  for (const { value, count } of items) if (value !== UNKNOWN) counts.set(value, (counts.get(value) ?? 0) + count);
  return [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([value, count]) => [value, `${value} (${shownNumber(count)})`]);
}
