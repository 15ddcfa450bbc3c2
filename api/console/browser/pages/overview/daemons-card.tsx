import type { List } from '../../client/api-client.js';
import { type Nodes, useNodes } from '../../client/use-nodes.js';
import { useQuery } from '../../client/use-query.js';
import { Loaded } from '../../parts/loaded.js';
import { Card } from '../../parts/page.js';
import { StateBadge } from '../../parts/small.js';
import { hrefOf } from '../../router/location.js';
import { TEXTS } from '../../texts.js';

/** Milliseconds until it is asked for again. */
const EVERY_MS = 30_000;

/** Which daemons run; those that do not stand first. */
export function DaemonsCard() {
  const query = useQuery(
    'manager status',
    (api, signal) => api.get<List<Readonly<Record<string, string>>>>('/manager/status', {}, signal),
    EVERY_MS,
  );
  const nodes = useNodes();
  return (
    <Card
      title={TEXTS.overview.daemons}
      actions={<a href={hrefOf(['manager'], { tab: 'daemons' })}>{TEXTS.overview.all}</a>}
    >
      {nodes !== undefined && <NodeStates {...nodes} />}
      <Loaded query={query}>
        {({ affected_items: [states = {}] }) => (
          <ul class="states">
            {Object.entries(states)
              .sort(([, one], [, other]) => Number(one === RUNNING) - Number(other === RUNNING))
              .map(([daemon, state]) => (
                <li key={daemon}>
                  <span>{daemon}</span>
                  <StateBadge state={state} tone={state === RUNNING ? 'good' : 'warn'} />
                </li>
              ))}
          </ul>
        )}
      </Loaded>
    </Card>
  );
}

/** Which nodes of a cluster are heard, and whose daemons stand below. */
function NodeStates({ own, all }: Nodes) {
  return (
    <>
      <ul class="states" aria-label={TEXTS.overview.nodes}>
        {all.map(({ name, isMaster, isHeard }) => (
          <li key={name}>
            <a href={hrefOf(['manager'], { node: name })}>{name}</a>
            <StateBadge
              state={isHeard ? (isMaster ? TEXTS.overview.master : TEXTS.overview.heard) : TEXTS.overview.notHeard}
              tone={isHeard ? 'good' : 'bad'}
            />
          </li>
        ))}
      </ul>
      <p class="hint">{TEXTS.overview.daemonsOf(own)}</p>
    </>
  );
}

const RUNNING = 'running';
