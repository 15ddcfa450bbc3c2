import { StateBadge } from '../../parts/small.js';
import { TEXTS } from '../../texts.js';
import { type Agent, isSynced, toneOf, whyOf } from './agent.js';

/** Whether an agent is connected; why not, where the manager knows. */
export function AgentState({ agent }: { readonly agent: Agent }) {
  const why = whyOf(agent);
  return (
    <span title={why}>
      <StateBadge state={TEXTS.agents.status[agent.status]} tone={toneOf(agent.status)} />
    </span>
  );
}

/** Whether an agent has the files of its groups. */
export function SyncState({ agent }: { readonly agent: Agent }) {
  return isSynced(agent) ? (
    <StateBadge state={TEXTS.agents.synced} tone="good" />
  ) : (
    <StateBadge state={TEXTS.agents.notSynced} tone="warn" />
  );
}
