import type { z } from 'zod';
import type { agentMethods } from '../../lib/bus/contracts/db-agents.js';
import { agentIdText, MANAGER_ID } from './agent-record.js';
import type { AgentSet } from './agent-set.js';

type Params = z.output<(typeof agentMethods)['agents.memberships']['params']>;
type Page = z.output<(typeof agentMethods)['agents.memberships']['result']>;

/** Bytes of a page, about: half of what the bus carries. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;
/** Id and frame of an agent, and what a name takes besides its characters. */
const AGENT_BYTES = 32;
const NAME_BYTES = 3;

/** Who is in which groups, of all agents or of those that changed (`agents.memberships`). */
export function membershipPage(agents: AgentSet, { since, after, limit }: Params): Page {
  const { epoch, version } = agents.memberships;
  const changed = since === undefined ? undefined : agents.memberships.since(since);
  const ids =
    changed === undefined ? agents.byId().map(({ id }) => id) : [...changed].sort((left, right) => left - right);
  const page: Page = { epoch, version, full: changed === undefined, more: false, agents: [] };
  let bytes = 0;
  for (let at = firstAfter(ids, Math.max(MANAGER_ID, Number(after ?? MANAGER_ID))); at < ids.length; at += 1) {
    const id = ids[at] ?? MANAGER_ID;
    const groups = agents.get(id)?.groupList.names ?? [];
    bytes += AGENT_BYTES;
    for (const name of groups) bytes += NAME_BYTES + name.length;
    if (page.agents.length === limit || (bytes > MAX_PAGE_BYTES && page.agents.length > 0)) {
      page.more = true;
      break;
    }
    page.agents.push({ id: agentIdText(id), groups: [...groups] });
  }
  return page;
}

/** First index in ascending ids whose id is greater. */
function firstAfter(ids: readonly number[], id: number): number {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ids[middle] ?? 0) > id) high = middle;
    else low = middle + 1;
  }
  return low;
}
