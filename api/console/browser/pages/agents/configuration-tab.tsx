import { useQuery } from '../../client/use-query.js';
import { CodeView } from '../../parts/code-view.js';
import { Loaded } from '../../parts/loaded.js';
import { SelectField } from '../../parts/select-field.js';
import { hrefOf } from '../../router/location.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import { type Agent, MANAGER_ID } from './agent.js';

const T = TEXTS.agentTabs;

/** What an agent can be asked for (rest-api.md 6.4): component and configuration. */
const PARTS = [
  'agent/client',
  'agent/buffer',
  'agent/labels',
  'agent/internal',
  'com/active-response',
  'com/logging',
  'com/internal',
  'logcollector/localfile',
  'logcollector/socket',
  'logcollector/internal',
  'syscheck/syscheck',
  'syscheck/rootcheck',
  'syscheck/internal',
  'wmodules/wmodules',
] as const;

/** The configuration that an agent has in force, part by part: one order to the agent each. */
export function ConfigurationTab({ agent }: { readonly agent: Agent }) {
  const [place, change] = useParams();
  const wanted = place.get('part') ?? '';
  const part = PARTS.find((known) => known === wanted) ?? PARTS[0];
  const isAsked = agent.status === 'active' && agent.id !== MANAGER_ID;
  const query = useQuery(isAsked ? `agent-config ${agent.id} ${part}` : undefined, (api, signal) =>
    api.get<object>(`/agents/${agent.id}/config/${part}`, {}, signal),
  );
  if (agent.id === MANAGER_ID) {
    return <a href={hrefOf(['manager'], { tab: 'configuration' })}>{T.managerConfiguration}</a>;
  }
  if (!isAsked) return <p class="empty">{T.onlyActive}</p>;
  return (
    <div class="stack">
      <p class="hint">{T.inForce}</p>
      <div class="row">
        <SelectField
          label={T.part}
          value={part}
          options={PARTS.map((each) => [each, each])}
          onChange={(to) => change({ part: to }, true)}
        />
      </div>
      <Loaded query={query}>{(data) => <CodeView label={part} text={JSON.stringify(data, null, 2)} />}</Loaded>
    </div>
  );
}
