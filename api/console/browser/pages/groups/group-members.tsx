import { useState } from 'preact/hooks';
import { useConsole } from '../../client/console-context.js';
import { sendInParts } from '../../client/send-in-parts.js';
import { tellFailed } from '../../client/tell-failed.js';
import { useSelection } from '../../client/use-selection.js';
import { Confirm } from '../../parts/dialog.js';
import { PagedList } from '../../parts/paged-list.js';
import { SearchField } from '../../parts/search-field.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import type { Agent } from '../agents/agent.js';
import { MEMBER_COLUMNS } from '../agents/agent-columns.js';
import { AddMembers } from './add-members.js';

const T = TEXTS.groups;
const REFRESH_MS = 15_000;

type GroupMembersProps = { readonly name: string; readonly version: number; readonly onChange: () => void };

/** The agents of a group, each with whether it has the files; to be added and taken out. */
export function GroupMembers({ name, version, onChange }: GroupMembersProps) {
  const { session } = useConsole();
  const [place, change] = useParams();
  const search = place.get('search') ?? '';
  const [selected, select, unselect] = useSelection(search);
  const [deed, setDeed] = useState<'add' | 'take'>();
  const mayChange = session.may('agent:modify_group') && session.may('group:modify_assignments');
  const done = () => {
    unselect();
    onChange();
  };
  return (
    <div class="stack">
      <div class="row" role="search">
        <SearchField
          label={TEXTS.common.search}
          value={search}
          onSearch={(to) => change({ search: to, offset: undefined }, true)}
        />
        {mayChange && (
          <>
            <button type="button" onClick={() => setDeed('add')}>
              {T.add}
            </button>
            <button type="button" disabled={selected.size === 0} onClick={() => setDeed('take')}>
              {T.take}
            </button>
          </>
        )}
        {selected.size > 0 && <span role="status">{TEXTS.agents.selected(selected.size)}</span>}
      </div>
      <div class="card">
        <PagedList<Agent>
          label={T.members}
          path={`/groups/${encodeURIComponent(name)}/agents`}
          params={{ search }}
          columns={MEMBER_COLUMNS}
          rowKey={({ id }) => id}
          rowName={(agent) => TEXTS.agents.select(agent.name)}
          sort="+id"
          everyMs={REFRESH_MS}
          version={version}
          empty={T.noMembers}
          {...(mayChange ? { selected, onSelect: select } : {})}
        />
      </div>
      {deed === 'add' && <AddMembers name={name} onClose={() => setDeed(undefined)} onDone={done} />}
      {deed === 'take' && <TakeOut name={name} ids={[...selected]} onClose={() => setDeed(undefined)} onDone={done} />}
    </div>
  );
}

type TakeOutProps = {
  readonly name: string;
  readonly ids: readonly string[];
  readonly onClose: () => void;
  readonly onDone: () => void;
};

function TakeOut({ name, ids, onClose, onDone }: TakeOutProps) {
  const { api, notices } = useConsole();
  return (
    <Confirm
      title={T.takeTitle(TEXTS.agents.many(ids.length), name)}
      action={T.take}
      onClose={onClose}
      onConfirm={async () => {
        const result = await sendInParts(api, 'DELETE', '/agents/group', ['agents_list', ids], { group_id: name });
        notices.done(T.taken(result.total_affected_items));
        tellFailed(notices, result);
        onDone();
      }}
    >
      <p>{T.takeText}</p>
    </Confirm>
  );
}
