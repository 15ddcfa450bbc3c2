import { useMemo } from 'preact/hooks';
import { SearchField } from '../../parts/search-field.js';
import { SelectField } from '../../parts/select-field.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import { type AgentsOverview, choices, FILTERS, STATUSES } from './agent.js';

const T = TEXTS.agents;
const ALL = ['', T.everything] as const;

/** Which agents are shown; it is all in the URL, by the names of the API. */
export function AgentFilters({ overview }: { readonly overview: AgentsOverview | undefined }) {
  const [place, change] = useParams();
  const value = (name: string) => place.get(name) ?? '';
  const set = (name: string) => (to: string) => change({ [name]: to, offset: undefined }, true);
  // There may be a thousand groups, and this is drawn anew with every key that is typed.
  const { groups, systems, versions } = useMemo(() => optionsOf(overview), [overview]);
  const isFiltered = FILTERS.some((name) => value(name) !== '');
  return (
    <form class="row filters" role="search" aria-label={T.filters} onSubmit={(event) => event.preventDefault()}>
      <SearchField label={T.search} value={value('search')} onSearch={set('search')} />
      <SelectField
        label={T.state}
        value={value('status')}
        options={[ALL, ...STATUSES.map((status) => [status, T.status[status]] as const)]}
        onChange={set('status')}
      />
      <SelectField label={T.group} value={value('group')} options={groups} onChange={set('group')} />
      <SelectField label={T.os} value={value('os.name')} options={systems} onChange={set('os.name')} />
      <SelectField label={T.version} value={value('version')} options={versions} onChange={set('version')} />
      <SelectField
        label={T.config}
        value={value('group_config_status')}
        options={[ALL, ['synced', T.synced], ['not synced', T.notSynced]]}
        onChange={set('group_config_status')}
      />
      <SearchField label={T.q} example={T.qExample} value={value('q')} onSearch={set('q')} />
      {isFiltered && (
        <button
          type="button"
          onClick={() => change({ ...Object.fromEntries(FILTERS.map((name) => [name, undefined])), offset: undefined })}
        >
          {T.clear}
        </button>
      )}
    </form>
  );
}

function optionsOf(overview: AgentsOverview | undefined) {
  const { groups = [], agent_os: systems = [], agent_version: versions = [] } = overview ?? {};
  return {
    groups: [ALL, ...choices(groups.map(({ name, count }) => ({ value: name, count })))],
    systems: [ALL, ...choices(systems.map(({ os, count }) => ({ value: os.name, count })))],
    versions: [ALL, ...choices(versions.map(({ version, count }) => ({ value: version, count })))],
  };
}
