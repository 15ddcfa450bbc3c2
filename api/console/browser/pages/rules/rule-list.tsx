import { useQuery } from '../../client/use-query.js';
import type { Column } from '../../parts/data-table.js';
import { Field } from '../../parts/field.js';
import { PagedList } from '../../parts/paged-list.js';
import { SearchField } from '../../parts/search-field.js';
import { SelectField } from '../../parts/select-field.js';
import { LevelBadge, StateBadge } from '../../parts/small.js';
import { hrefOf } from '../../router/location.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import { FileLink } from './file-link.js';
import { pathOf, type Requirement, REQUIREMENTS, type Rule } from './rule.js';

const T = TEXTS.rules;

const COLUMNS: readonly Column<Rule>[] = [
  {
    key: 'id',
    title: T.columns.id,
    sort: 'id',
    show: ({ id }) => <a href={hrefOf(['rules', String(id)])}>{id}</a>,
  },
  { key: 'level', title: T.columns.level, sort: 'level', show: ({ level }) => <LevelBadge level={level} /> },
  {
    key: 'description',
    title: T.columns.description,
    sort: 'description',
    show: ({ description, status }) => (
      <>
        {description} {status === 'disabled' && <StateBadge state={T.disabled} tone="warn" />}
      </>
    ),
  },
  { key: 'groups', title: T.columns.groups, isExtra: true, show: ({ groups }) => groups.join(', ') },
  {
    key: 'file',
    title: T.columns.file,
    sort: 'filename',
    isExtra: true,
    show: (rule) => <FileLink isShort path={pathOf(rule)} />,
  },
];

/** Filters of the URL, by the names of `GET /rules`. */
const FILTERS = ['search', 'level', 'group', 'filename', 'mitre', 'relative_dirname'] as const;

/** Rules by what they look for. */
export function RuleList() {
  const [place, change] = useParams();
  const filter = (changes: Record<string, string | undefined>) => change({ ...changes, offset: undefined }, true);
  const value = (name: string) => place.get(name) ?? '';
  const requirement = value('requirement');
  const level = value('level');
  const isLevel = level === '' || /^\d{1,2}(-\d{1,2})?$/.test(level);
  const params = {
    ...Object.fromEntries(FILTERS.map((name) => [name, value(name)])),
    level: isLevel ? level : '',
    ...(requirement === ''
      ? {}
      : { [requirement.replaceAll('_', '-').replace('pci-dss', 'pci_dss')]: value('number') }),
  };
  return (
    <>
      <div class="row filters">
        <div class="grow">
          <SearchField label={T.searchRules} value={value('search')} onSearch={(search) => filter({ search })} />
        </div>
        <Field label={T.level} error={isLevel ? undefined : T.levelHint}>
          {(attributes) => (
            <input
              {...attributes}
              class="short"
              placeholder="0-16"
              value={level}
              onChange={(event) => filter({ level: event.currentTarget.value.trim() })}
            />
          )}
        </Field>
        <GroupField value={value('group')} onChange={(group) => filter({ group })} />
        <SearchField label={T.file} value={value('filename')} onSearch={(filename) => filter({ filename })} />
        <SearchField label={T.technique} value={value('mitre')} onSearch={(mitre) => filter({ mitre })} />
        <SelectField
          label={T.requirement}
          value={requirement}
          options={[['', T.any], ...(Object.entries(REQUIREMENTS) as [Requirement, string][])]}
          onChange={(name) => filter({ requirement: name, number: undefined })}
        />
        {requirement !== '' && (
          <SearchField label={T.requirementValue} value={value('number')} onSearch={(number) => filter({ number })} />
        )}
        <label class="check">
          <input
            type="checkbox"
            checked={value('relative_dirname') !== ''}
            onChange={(event) => filter({ relative_dirname: event.currentTarget.checked ? 'etc/rules' : undefined })}
          />{' '}
          {T.ownOnly}
        </label>
      </div>
      <PagedList<Rule>
        label={T.rules}
        path="/rules"
        params={params}
        columns={COLUMNS}
        rowKey={(rule) => `${String(rule.id)} ${pathOf(rule)}`}
        sort="+id"
        empty={T.noRules}
      />
    </>
  );
}

/** Groups that there are are offered; there are hundreds, so it is no list to choose from alone. */
function GroupField({ value, onChange }: { readonly value: string; readonly onChange: (value: string) => void }) {
  const groups = useQuery('rule groups', (api, signal) => api.list<string>('/rules/groups', { limit: 1000 }, signal));
  return (
    <Field label={T.group}>
      {(attributes) => (
        <>
          <input
            {...attributes}
            list="rule-groups"
            value={value}
            onChange={(event) => onChange(event.currentTarget.value.trim())}
          />
          <datalist id="rule-groups">
            {groups.data?.affected_items.map((group) => (
              <option key={group} value={group} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
