import { useState } from 'preact/hooks';
import { useConsole } from '../../client/console-context.js';
import { sendInParts } from '../../client/send-in-parts.js';
import { tellFailed } from '../../client/tell-failed.js';
import { useQuery } from '../../client/use-query.js';
import { Confirm } from '../../parts/dialog.js';
import { Loaded } from '../../parts/loaded.js';
import { SearchField } from '../../parts/search-field.js';
import { TEXTS } from '../../texts.js';
import type { Agent } from '../agents/agent.js';

const T = TEXTS.groups;
/** Agents to choose from: who wants others looks for them. */
const MOST = 12;

type AddMembersProps = { readonly name: string; readonly onClose: () => void; readonly onDone: () => void };

/** Chooses agents that are not in a group, and puts them into it. */
export function AddMembers({ name, onClose, onDone }: AddMembersProps) {
  const { api, notices } = useConsole();
  const [search, setSearch] = useState('');
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const asked = { search, limit: MOST, q: `id!=000;group!=${name}`, select: 'id,name,group' };
  const query = useQuery(`addable ${name} ${search}`, (client, signal) => client.list<Agent>('/agents', asked, signal));
  return (
    <Confirm
      title={T.add}
      action={T.add}
      isReady={chosen.length > 0}
      onClose={onClose}
      onConfirm={async () => {
        const result = await sendInParts(api, 'PUT', '/agents/group', ['agents_list', chosen], { group_id: name });
        notices.done(T.added(result.total_affected_items));
        tellFailed(notices, result);
        onDone();
      }}
    >
      <SearchField label={TEXTS.common.search} hint={T.addHint} value={search} onSearch={setSearch} />
      <Loaded query={query}>
        {({ affected_items: agents }) => (
          <ul class="bare">
            {agents.map(({ id, name: each }) => (
              <li key={id}>
                <label class="check">
                  <input
                    type="checkbox"
                    checked={chosen.includes(id)}
                    onChange={(event) =>
                      setChosen(event.currentTarget.checked ? [...chosen, id] : chosen.filter((other) => other !== id))
                    }
                  />{' '}
                  {TEXTS.agents.agent(each, id)}
                </label>
              </li>
            ))}
            {agents.length === 0 && <li class="empty">{TEXTS.agents.none}</li>}
          </ul>
        )}
      </Loaded>
      <p role="status">{TEXTS.agents.selected(chosen.length)}</p>
    </Confirm>
  );
}
