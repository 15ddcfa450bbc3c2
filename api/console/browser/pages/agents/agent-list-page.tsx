import { useState } from 'preact/hooks';
import { Failure } from '../../client/failure.js';
import { useQuery } from '../../client/use-query.js';
import { useSelection } from '../../client/use-selection.js';
import { Loaded } from '../../parts/loaded.js';
import { Page } from '../../parts/page.js';
import { PagedList } from '../../parts/paged-list.js';
import { hrefOf } from '../../router/location.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import { type Agent, type AgentsOverview, FILTERS, listParameters, MANAGER_ID } from './agent.js';
import { AgentActions } from './agent-actions.js';
import { AGENT_COLUMNS } from './agent-columns.js';
import { AgentFilters } from './agent-filters.js';
import { AgentSummary } from './agent-summary.js';

/** Milliseconds until the page is asked for again: states change with keepalives. */
const REFRESH_MS = 30_000;

/** All agents that the user may see. */
export function AgentListPage() {
  const [place] = useParams();
  const [version, setVersion] = useState(0);
  const overview = useQuery(
    'agents-overview',
    (api, signal) => api.get<AgentsOverview>('/overview/agents', {}, signal),
    REFRESH_MS,
  );
  const params = listParameters(place);
  const [selected, select, unselect] = useSelection(JSON.stringify(params));
  const isFiltered = FILTERS.some((name) => (place.get(name) ?? '') !== '');
  const changed = () => {
    setVersion((before) => before + 1);
    overview.reload();
  };
  return (
    <Page
      title={TEXTS.nav.agents}
      actions={
        <>
          <a class="button" href={hrefOf(['agents', MANAGER_ID])}>
            {TEXTS.agents.manager}
          </a>
          <a class="button" href={hrefOf(['agents', 'enrol'])}>
            {TEXTS.agents.enrol}
          </a>
        </>
      }
    >
      {!isDenied(overview.error) && <Loaded query={overview}>{(data) => <AgentSummary overview={data} />}</Loaded>}
      <AgentFilters overview={overview.data} />
      <div class="card">
        {selected.size > 0 && (
          <AgentActions
            ids={[...selected]}
            onUnselect={unselect}
            onDone={(areGone) => {
              if (areGone) unselect();
              changed();
            }}
          />
        )}
        <PagedList<Agent>
          label={TEXTS.nav.agents}
          path="/agents"
          params={params}
          columns={AGENT_COLUMNS}
          rowKey={({ id }) => id}
          rowName={({ name }) => TEXTS.agents.select(name)}
          sort="+id"
          everyMs={REFRESH_MS}
          version={version}
          selected={selected}
          onSelect={select}
          empty={isFiltered ? TEXTS.agents.none : TEXTS.agents.noneYet}
        />
      </div>
    </Page>
  );
}

/** Who may see agents and no groups has the list without the numbers. */
function isDenied(error: unknown): boolean {
  return error instanceof Failure && error.isDenied;
}
