import { labelNames } from '../../lib/agentlink/keepalive.js';
import type { dbContract } from '../../lib/bus/contracts/db.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import { type Agent, linkOf } from './agent-link.js';
import { shownLabels, tableId } from './agent-report.js';

/** Agents of one call: what svc-db answers for at once. */
const AGENTS_PER_CALL = 1000;

/**
 * Gives agents the labels they told an earlier process, until their next keepalive: events that come before it, as they
 * do after a crash, carry the same labels as those before.
 * @throws BusError of svc-db; what was restored stays
 */
export async function restoreLabels(
  db: Pick<RequestClient<typeof dbContract>, 'call'>,
  agents: Iterable<Agent>,
): Promise<void> {
  const byId = new Map<string, Agent>();
  for (const agent of agents) if (agent.state?.keepalive === undefined) byId.set(tableId(agent.id), agent);
  const ids = [...byId.keys()];
  for (let at = 0; at < ids.length; at += AGENTS_PER_CALL) {
    const answer = await db.call('agents.labels', { ids: ids.slice(at, at + AGENTS_PER_CALL) });
    for (const { id, labels } of answer.agents) {
      const agent = byId.get(id);
      // An agent that was heard meanwhile knows better.
      if (agent === undefined || agent.removed || agent.state?.keepalive !== undefined) continue;
      const shown = shownLabels(labelNames(new Map(labels)));
      if (shown !== undefined) linkOf(agent).labels = shown;
    }
  }
}
