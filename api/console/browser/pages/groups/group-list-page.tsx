import { useState } from 'preact/hooks';
import { useConsole } from '../../client/console-context.js';
import { shownNumber } from '../../client/shown.js';
import type { Group } from '../../client/use-groups.js';
import type { Column } from '../../parts/data-table.js';
import { Page } from '../../parts/page.js';
import { PagedList } from '../../parts/paged-list.js';
import { SearchField } from '../../parts/search-field.js';
import { hrefOf } from '../../router/location.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import { CreateGroup } from './create-group.js';
import { RemoveGroup } from './remove-group.js';

const T = TEXTS.groups;

/** All groups that the user may see. */
export function GroupListPage() {
  const { session } = useConsole();
  const [place, change] = useParams();
  const [version, setVersion] = useState(0);
  const [isCreating, setCreating] = useState(false);
  const [removing, setRemoving] = useState<Group>();
  const search = place.get('search') ?? '';
  const changed = () => setVersion((before) => before + 1);
  const columns = columnsOf(session.may('group:delete') ? setRemoving : undefined);
  return (
    <Page
      title={TEXTS.nav.groups}
      actions={
        session.may('group:create') && (
          <button type="button" class="primary" onClick={() => setCreating(true)}>
            {T.create}
          </button>
        )
      }
    >
      <div class="row" role="search">
        <SearchField
          label={TEXTS.common.search}
          value={search}
          onSearch={(to) => change({ search: to, offset: undefined }, true)}
        />
      </div>
      <div class="card">
        <PagedList<Group>
          label={TEXTS.nav.groups}
          path="/groups"
          params={{ search }}
          columns={columns}
          rowKey={({ name }) => name}
          sort="+name"
          version={version}
          empty={T.empty}
        />
      </div>
      {isCreating && <CreateGroup onClose={() => setCreating(false)} />}
      {removing !== undefined && (
        <RemoveGroup
          name={removing.name}
          members={removing.count}
          onClose={() => setRemoving(undefined)}
          onDone={changed}
        />
      )}
    </Page>
  );
}

/** @param onRemove undefined for who may remove none */
function columnsOf(onRemove: ((group: Group) => void) | undefined): readonly Column<Group>[] {
  return [
    {
      key: 'name',
      title: T.name,
      sort: 'name',
      show: ({ name }) => <a href={hrefOf(['groups', name])}>{name}</a>,
    },
    {
      key: 'count',
      title: T.members,
      sort: 'count',
      isNumber: true,
      show: ({ name, count }) => <a href={hrefOf(['agents'], { group: name })}>{shownNumber(count)}</a>,
    },
    { key: 'sum', title: T.sum, isExtra: true, show: ({ mergedSum }) => <code>{mergedSum ?? '–'}</code> },
    ...(onRemove !== undefined
      ? [
          {
            key: 'remove',
            title: T.remove,
            show: (group: Group) =>
              group.name !== 'default' && (
                <button
                  type="button"
                  class="link"
                  aria-label={T.removeGroup(group.name)}
                  onClick={() => onRemove(group)}
                >
                  {T.remove}
                </button>
              ),
          },
        ]
      : []),
  ];
}
