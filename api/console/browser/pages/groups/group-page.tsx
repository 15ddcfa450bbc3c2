import { useState } from 'preact/hooks';
import { onlyItem } from '../../client/api-client.js';
import { useConsole } from '../../client/console-context.js';
import type { Draft } from '../../client/draft.js';
import type { Group } from '../../client/use-groups.js';
import { useQuery } from '../../client/use-query.js';
import { LeaveGuard } from '../../parts/leave-guard.js';
import { Loaded } from '../../parts/loaded.js';
import { Page } from '../../parts/page.js';
import { Tabs } from '../../parts/tabs.js';
import { hrefOf } from '../../router/location.js';
import { go } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import { ConfigurationEditor } from './configuration-editor.js';
import { GroupFiles } from './group-files.js';
import { GroupMembers } from './group-members.js';
import { RemoveGroup } from './remove-group.js';
import { RestartGroup } from './restart-group.js';
import { RolloutState } from './rollout-state.js';

const T = TEXTS.groups;

/** One group: who is in it, what it has for them, and who has that already. */
export function GroupPage({ name }: { readonly name: string }) {
  const { session } = useConsole();
  const [version, setVersion] = useState(0);
  const [oldSum, setOldSum] = useState<string>();
  const [draft, setDraft] = useState<Draft>();
  const [isRemoving, setRemoving] = useState(false);
  const query = useQuery(`group ${name} ${String(version)}`, async (api, signal) =>
    onlyItem(await api.list<Group>('/groups', { groups_list: name }, signal)),
  );
  const changed = () => setVersion((before) => before + 1);
  const members = query.data?.count ?? 0;
  return (
    <Page
      title={name}
      actions={
        <>
          <AlertsLink name={name} />
          {session.may('agent:restart') && members > 0 && <RestartGroup name={name} members={members} />}
          {session.may('group:delete') && name !== 'default' && (
            <button type="button" class="danger" onClick={() => setRemoving(true)}>
              {T.remove}
            </button>
          )}
        </>
      }
    >
      <LeaveGuard isChanged={draft !== undefined} keepsAt={({ path }) => path[0] === 'groups' && path[1] === name} />
      <Loaded query={query}>{() => <RolloutState name={name} oldSum={oldSum} version={version} />}</Loaded>
      <Tabs
        label={T.tabs}
        ofParts={['search', 'file']}
        tabs={[
          {
            key: 'members',
            title: T.members,
            show: () => <GroupMembers name={name} version={version} onChange={changed} />,
          },
          {
            key: 'configuration',
            title: T.configuration,
            show: () => (
              <ConfigurationEditor
                name={name}
                members={members}
                draft={draft}
                onDraft={setDraft}
                onSaved={(sum) => {
                  setOldSum(sum);
                  changed();
                }}
              />
            ),
          },
          { key: 'files', title: T.files, show: () => <GroupFiles name={name} version={version} /> },
        ]}
      />
      {isRemoving && (
        <RemoveGroup
          name={name}
          members={members}
          onClose={() => setRemoving(false)}
          onDone={() => go(hrefOf(['groups']), { anyway: true })}
        />
      )}
    </Page>
  );
}

function AlertsLink({ name }: { readonly name: string }) {
  const { session } = useConsole();
  if (!session.may('alerts:read')) return null;
  return (
    <a class="button" href={hrefOf(['alerts'], { agent_groups: name })}>
      {T.alerts}
    </a>
  );
}
