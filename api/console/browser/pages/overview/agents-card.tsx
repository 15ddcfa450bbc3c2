import { useQuery } from '../../client/use-query.js';
import { BarList } from '../../parts/bar-list.js';
import { Loaded } from '../../parts/loaded.js';
import { Card } from '../../parts/page.js';
import { hrefOf } from '../../router/location.js';
import { TEXTS } from '../../texts.js';

type Summary = {
  readonly connection: Readonly<Record<string, number>>;
  readonly configuration: Readonly<Record<string, number>>;
};

const STATES = ['active', 'disconnected', 'pending', 'never_connected'] as const;
/** Milliseconds until it is asked for again. */
const EVERY_MS = 60_000;

/** How many agents there are in each state. */
export function AgentsCard() {
  const query = useQuery(
    'agents summary',
    (api, signal) => api.get<Summary>('/agents/summary/status', {}, signal),
    EVERY_MS,
  );
  return (
    <Card title={TEXTS.overview.states}>
      <Loaded query={query}>
        {({ connection, configuration }) => (
          <>
            <BarList
              items={STATES.map((state) => ({
                key: state,
                label: TEXTS.overview.state[state],
                count: connection[state] ?? 0,
                href: hrefOf(['agents'], { status: state }),
              }))}
            />
            <p class="hint">{TEXTS.overview.synced(configuration['synced'] ?? 0, configuration['total'] ?? 0)}</p>
          </>
        )}
      </Loaded>
    </Card>
  );
}
