import { useQuery } from '../../client/use-query.js';
import { DataTable } from '../../parts/data-table.js';
import { Loaded } from '../../parts/loaded.js';
import { Card } from '../../parts/page.js';
import { Facts, StateBadge } from '../../parts/small.js';
import { TEXTS } from '../../texts.js';
import { RestartButton } from './restart-button.js';
import { useScope } from './scope.js';

const T = TEXTS.manager;
const EVERY_MS = 10_000;

type Info = {
  readonly version: string;
  readonly path: string;
  readonly max_agents: string;
  readonly tz_name: string;
  readonly tz_offset: string;
  readonly uuid: string | null;
};

/** Which daemons run, and who this manager is. */
export function DaemonsTab() {
  const { node, path } = useScope();
  const states = useQuery(
    path('status'),
    (api, signal) => api.list<Readonly<Record<string, string>>>(path('status'), {}, signal),
    EVERY_MS,
  );
  const info = useQuery(path('info'), (api, signal) => api.list<Info>(path('info'), {}, signal));
  return (
    <>
      <Card title={node ?? T.about} actions={<RestartButton />}>
        <Loaded query={info}>
          {({ affected_items: [item] }) =>
            item !== undefined && (
              <Facts
                facts={[
                  [T.info.version, item.version],
                  [T.info.path, <span class="mono">{item.path}</span>],
                  [T.info.zone, `${item.tz_name} ${item.tz_offset}`],
                  [T.info.agents, item.max_agents],
                  [T.info.uuid, <span class="mono">{item.uuid ?? '–'}</span>],
                ]}
              />
            )
          }
        </Loaded>
      </Card>
      <Card title={T.daemons}>
        <Loaded query={states}>
          {({ affected_items: [item = {}] }) => (
            <DataTable<[string, string]>
              label={T.states}
              columns={[
                { key: 'daemon', title: T.daemon, show: ([name]) => <span class="mono">{name}</span> },
                {
                  key: 'state',
                  title: T.state,
                  show: ([, state]) => <StateBadge state={state} tone={toneOf(state)} />,
                },
              ]}
              rows={Object.entries(item)}
              rowKey={([name]) => name}
            />
          )}
        </Loaded>
      </Card>
    </>
  );
}

/** A daemon that is stopped may be one that nobody wants: it is not said to be bad. */
function toneOf(state: string): 'good' | 'bad' | 'warn' | 'plain' {
  if (state === 'running') return 'good';
  if (state === 'failed') return 'bad';
  return state === 'stopped' ? 'plain' : 'warn';
}
