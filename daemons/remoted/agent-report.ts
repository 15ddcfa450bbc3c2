import { hash } from 'node:crypto';
import { formatAgentId } from '../../lib/agentlink/agent-identity.js';
import { type Keepalive, labelNames } from '../../lib/agentlink/keepalive.js';
import type { AgentChanges } from '../../lib/bus/contracts/db-agents.js';
import { isUserLabel } from '../../lib/events/agent-labels.js';
import { type AgentOs, parseUname } from './link/uname-line.js';
import { MAX_LABELS } from './remoted-limits.js';

/** The manager as agents' rows show it. */
export type ManagerIdentity = { readonly host: string; readonly node: string };

/** What the table of agents takes: an agent that tells more is cut, so that it does not spoil the call of all others. */
const WORD_CHARS = 256;
const SUM_CHARS = 128;
const ADDRESS_CHARS = 64;
const UNAME_CHARS = 4096;
const LABEL_KEY_CHARS = 1024;

/** What the engine takes for the address of an agent. */
const ADDRESS_LABEL = '_agent_ip';

/** The id as svc-db has it: at least three digits. */
export function tableId(id: string): string {
  return formatAgentId(Number(id));
}

/** What tells a keepalive from the one before it. */
export function keepaliveDigest(text: string): string {
  return hash('md5', text, 'base64');
}

/** Labels as events carry them, of what a keepalive tells; undefined when there are none. */
export function eventLabels({ labels, agentIp }: Keepalive): ReadonlyMap<string, string> | undefined {
  const named = labelNames(labels);
  if (agentIp !== undefined) named.set(ADDRESS_LABEL, agentIp);
  return shownLabels(named);
}

/**
 * The labels that matter to events: those of the user, and the address the agent has told, which its alerts show.
 * @param named without quotes, hidden ones with `!` before them
 */
export function shownLabels(named: ReadonlyMap<string, string>): ReadonlyMap<string, string> | undefined {
  const kept = [...named].filter(
    ([name]) => name === ADDRESS_LABEL || isUserLabel(name.startsWith('!') ? name.slice(1) : name),
  );
  // The address was put last; it stays when there are too many.
  return kept.length === 0 ? undefined : new Map(kept.slice(-MAX_LABELS));
}

/**
 * What a keepalive changes in the table of agents (agents-and-groups.md 4.3): values it does not tell become empty.
 * Whether the agent has the configuration of its groups follows in svc-db.
 */
export function keepaliveChanges(keepalive: Keepalive, manager: ManagerIdentity): AgentChanges {
  const { uname, version, configSum, mergedSum, agentIp } = keepalive;
  return {
    ...(agentIp === undefined ? {} : { ip: agentIp.slice(0, ADDRESS_CHARS) }),
    os: uname === undefined ? null : shortOs(parseUname(uname)),
    version: version?.slice(0, WORD_CHARS) ?? null,
    configSum: configSum?.slice(0, SUM_CHARS) ?? null,
    mergedSum: mergedSum?.slice(0, SUM_CHARS) ?? null,
    manager: manager.host.slice(0, WORD_CHARS),
    nodeName: manager.node.slice(0, WORD_CHARS),
    labels: tableLabels(keepalive, manager),
  };
}

/**
 * Changes that leave the checksum of the merged file as it is known.
 * @param waiting earlier ones that the table does not have yet
 */
export function withKnownSum({ mergedSum: _told, ...changes }: AgentChanges, waiting?: AgentChanges): AgentChanges {
  const known = waiting?.mergedSum;
  return known === undefined ? changes : { ...changes, mergedSum: known };
}

function shortOs(os: AgentOs): NonNullable<AgentChanges['os']> {
  return Object.fromEntries(
    Object.entries(os).map(([field, text]) => [field, text.slice(0, field === 'uname' ? UNAME_CHARS : WORD_CHARS)]),
  );
}

/** The agent's labels, and those the manager adds. */
function tableLabels({ labels, agentIp, version }: Keepalive, manager: ManagerIdentity): [string, string][] {
  const all = new Map([...labels].filter(([key]) => key.length <= LABEL_KEY_CHARS).slice(0, MAX_LABELS));
  all.set('#"_manager_hostname"', manager.host);
  if (agentIp !== undefined) all.set('#"_agent_ip"', agentIp);
  all.set('#"_node_name"', manager.node);
  if (version !== undefined) all.set('#"_wazuh_version"', version);
  return [...all];
}
