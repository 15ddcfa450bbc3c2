import { shownNumber } from '../../client/shown.js';
import { hrefOf } from '../../router/location.js';
import { TEXTS } from '../../texts.js';
import { type AgentsOverview, STATUSES } from './agent.js';

/** How many agents are in which state; each number leads to those agents. */
export function AgentSummary({ overview }: { readonly overview: AgentsOverview }) {
  const { connection, configuration } = overview.agent_status;
  return (
    <ul class="numbers" aria-label={TEXTS.agents.summary}>
      <Count title={TEXTS.agents.everything} count={connection.total} href={hrefOf(['agents'])} />
      {STATUSES.map((status) => (
        <Count
          key={status}
          title={TEXTS.agents.status[status]}
          count={connection[status]}
          href={hrefOf(['agents'], { status })}
        />
      ))}
      <Count
        title={`${TEXTS.agents.config}: ${TEXTS.agents.notSynced}`}
        count={configuration.not_synced}
        href={hrefOf(['agents'], { group_config_status: 'not synced' })}
      />
    </ul>
  );
}

function Count({ title, count, href }: { readonly title: string; readonly count: number; readonly href: string }) {
  return (
    <li>
      <a href={href}>
        <strong>{shownNumber(count)}</strong> {title}
      </a>
    </li>
  );
}
