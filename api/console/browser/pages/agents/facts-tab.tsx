import { useState } from 'preact/hooks';
import { useConsole } from '../../client/console-context.js';
import { useGroupNames } from '../../client/use-groups.js';
import { Confirm } from '../../parts/dialog.js';
import { Card } from '../../parts/page.js';
import { SelectField } from '../../parts/select-field.js';
import { Facts, Time } from '../../parts/small.js';
import { hrefOf } from '../../router/location.js';
import { TEXTS } from '../../texts.js';
import { type Agent, lastSeen, MANAGER_ID, systemOf, whyOf } from './agent.js';
import { AgentState, SyncState } from './agent-state.js';
import { AgentAlerts } from './alerts-tab.js';

const T = TEXTS.agents;

type FactsTabProps = { readonly agent: Agent; readonly onChange: () => void };

/** What the manager knows of an agent, its groups, and what happened on it lately. */
export function FactsTab({ agent, onChange }: FactsTabProps) {
  const { os } = agent;
  const why = whyOf(agent);
  return (
    <div class="grid">
      <Card title={T.facts}>
        <Facts
          facts={[
            [
              T.state,
              <>
                <AgentState agent={agent} /> {why}
              </>,
            ],
            [T.lastSeen, <Time at={lastSeen(agent)} />],
            [T.address, agent.ip],
            [T.registered, agent.registerIP],
            [T.os, systemOf(agent) || '–'],
            [T.kernel, os?.uname ?? '–'],
            [T.version, agent.version ?? '–'],
            [T.added, <Time at={agent.dateAdd} />],
            [T.node, agent.node_name],
          ]}
        />
      </Card>
      {agent.id !== MANAGER_ID && <AgentGroups agent={agent} onChange={onChange} />}
      <AgentAlerts id={agent.id} limit={10} />
    </div>
  );
}

/** The groups of an agent, and whether it has their files. */
function AgentGroups({ agent, onChange }: FactsTabProps) {
  const { api, session, notices } = useConsole();
  const [leaving, setLeaving] = useState<string>();
  const mayChange = session.may('agent:modify_group') && session.may('group:modify_assignments');
  const groups = agent.group ?? [];
  return (
    <Card title={T.groups} actions={<SyncState agent={agent} />}>
      <p class="hint">{groups.length === 0 ? T.inNoGroup : T.inGroups}</p>
      <ol class="chips">
        {groups.map((group) => (
          <li key={group}>
            <a href={hrefOf(['groups', group])}>{group}</a>
            {mayChange && (
              <button type="button" class="quiet" aria-label={T.leaveGroup(group)} onClick={() => setLeaving(group)}>
                ✕
              </button>
            )}
          </li>
        ))}
      </ol>
      {mayChange && <AddGroup agent={agent} onChange={onChange} />}
      {leaving !== undefined && (
        <Confirm
          title={T.leaveTitle(agent.name, leaving)}
          action={T.regroupLeave}
          onClose={() => setLeaving(undefined)}
          onConfirm={async () => {
            await api.send('DELETE', `/agents/${agent.id}/group/${encodeURIComponent(leaving)}`);
            notices.done(T.regrouped(1, leaving));
            onChange();
          }}
        >
          <p>{T.leaveText}</p>
        </Confirm>
      )}
    </Card>
  );
}

function AddGroup({ agent, onChange }: FactsTabProps) {
  const { api, notices } = useConsole();
  const names = useGroupNames().filter((name) => agent.group?.includes(name) !== true);
  const [chosen, setChosen] = useState('');
  const add = async () => {
    try {
      await api.send('PUT', `/agents/${agent.id}/group/${encodeURIComponent(chosen)}`);
      notices.done(T.regrouped(1, chosen));
      setChosen('');
      onChange();
    } catch (error) {
      notices.failed(error);
    }
  };
  if (names.length === 0) return null;
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      <SelectField
        label={T.addGroup}
        value={chosen}
        options={[['', '–'], ...names.map((name) => [name, name] as const)]}
        onChange={setChosen}
      />
      <button disabled={chosen === ''}>{T.regroupAdd}</button>
    </form>
  );
}
