import { shownNumber } from '../../client/shown.js';
import { useQuery } from '../../client/use-query.js';
import { type Column, DataTable } from '../../parts/data-table.js';
import { Loaded } from '../../parts/loaded.js';
import { Card } from '../../parts/page.js';
import { Facts } from '../../parts/small.js';
import { TEXTS } from '../../texts.js';
import { type Agent, MANAGER_ID } from './agent.js';
import { flatten } from './flatten.js';

const T = TEXTS.agentTabs;

type ReadFile = {
  readonly location: string;
  readonly events: number;
  readonly bytes: number;
  readonly targets: readonly { readonly name: string; readonly drops: number }[];
};
type LogStatistics = { readonly global: { readonly files: readonly ReadFile[] } };
type DaemonStatistics = { readonly name: string; readonly agents: readonly { readonly metrics: unknown }[] };

/** What an agent counted, and what the manager counted of it. */
export function StatisticsTab({ agent }: { readonly agent: Agent }) {
  const isAsked = agent.status === 'active';
  return (
    <div class="grid">
      {!isAsked && <p class="empty">{T.onlyActive}</p>}
      {isAsked && agent.id !== MANAGER_ID && <Connection id={agent.id} />}
      {isAsked && <Counted id={agent.id} />}
      {isAsked && <Logs id={agent.id} />}
    </div>
  );
}

function Connection({ id }: { readonly id: string }) {
  const query = useQuery(`agent-stats ${id}`, (api, signal) =>
    api.list<object>(`/agents/${id}/stats/agent`, {}, signal),
  );
  return (
    <Card title={T.connection}>
      <Loaded query={query}>{({ affected_items: items }) => <Facts facts={flatten(items[0])} />}</Loaded>
    </Card>
  );
}

const LOG_COLUMNS: readonly Column<ReadFile>[] = [
  { key: 'location', title: T.location, show: ({ location }) => <code>{location}</code> },
  { key: 'events', title: T.count, isNumber: true, show: ({ events }) => shownNumber(events) },
  { key: 'bytes', title: T.bytes, isNumber: true, isExtra: true, show: ({ bytes }) => shownNumber(bytes) },
  {
    key: 'drops',
    title: T.drops,
    isNumber: true,
    show: ({ targets }) => shownNumber(targets.reduce((sum, { drops }) => sum + drops, 0)),
  },
];

function Logs({ id }: { readonly id: string }) {
  const query = useQuery(`log-stats ${id}`, (api, signal) =>
    api.list<LogStatistics>(`/agents/${id}/stats/logcollector`, {}, signal),
  );
  return (
    <Card wide title={T.log}>
      <Loaded query={query}>
        {({ affected_items: [statistics] }) => (
          <DataTable
            label={T.location}
            columns={LOG_COLUMNS}
            rows={statistics?.global.files ?? []}
            rowKey={({ location }) => location}
          />
        )}
      </Loaded>
    </Card>
  );
}

function Counted({ id }: { readonly id: string }) {
  const query = useQuery(`daemon-stats ${id}`, (api, signal) =>
    api.list<DaemonStatistics>(`/agents/${id}/daemons/stats`, {}, signal),
  );
  return (
    <Loaded query={query}>
      {({ affected_items: items }) =>
        items.map(({ name, agents }) => (
          <Card title={T.countedBy(name)} key={name}>
            <Facts
              facts={flatten(agents[0]?.metrics).map(([way, value]) => [
                way,
                typeof value === 'number' ? shownNumber(value) : value,
              ])}
            />
          </Card>
        ))
      }
    </Loaded>
  );
}
