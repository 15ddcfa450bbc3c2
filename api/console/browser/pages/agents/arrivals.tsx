import { useState } from 'preact/hooks';
import { useQuery } from '../../client/use-query.js';
import { Loaded } from '../../parts/loaded.js';
import { Card } from '../../parts/page.js';
import { StateBadge } from '../../parts/small.js';
import { hrefOf } from '../../router/location.js';
import { TEXTS } from '../../texts.js';
import type { Agent } from './agent.js';

const T = TEXTS.enrol;
/** Milliseconds between two looks: somebody stands there and waits. */
const LOOK_MS = 10_000;
const MOST = 10;

/** Agents that have come since the page was opened, the newest first. */
export function Arrivals() {
  const [known, setKnown] = useState<number>();
  const query = useQuery(
    'arrivals',
    async (api, signal) => {
      const asked = { sort: '-id', limit: MOST, q: 'id!=000', select: 'id,name,status,group' };
      const { affected_items: agents } = await api.list<Agent>('/agents', asked, signal);
      return agents;
    },
    LOOK_MS,
  );
  // Ids only grow: who has a larger one than all there were is new.
  const newest = Number(query.data?.[0]?.id ?? 0);
  if (known === undefined && query.data !== undefined) setKnown(newest);
  const arrived = known === undefined ? [] : (query.data ?? []).filter(({ id }) => Number(id) > known);
  return (
    <Card title={arrived.length === 0 ? T.watch : T.arrived}>
      <div aria-live="polite">
        <Loaded query={query}>
          {() => (
            <ul class="bare">
              {arrived.map((agent) => (
                <li key={agent.id}>
                  <a href={hrefOf(['agents', agent.id])}>{TEXTS.agents.agent(agent.name, agent.id)}</a>{' '}
                  <StateBadge
                    state={agent.status === 'active' ? T.connected : T.notConnected}
                    tone={agent.status === 'active' ? 'good' : 'warn'}
                  />
                </li>
              ))}
            </ul>
          )}
        </Loaded>
      </div>
    </Card>
  );
}
