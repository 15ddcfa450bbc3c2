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
  const groups = overview?.groups.map(({ name, count }) => ({ value: name, count })) ?? [];
  const systems = overview?.agent_os.map(({ os, count }) => ({ value: os.name, count })) ?? [];
  const versions = overview?.agent_version.map(({ version, count }) => ({ value: version, count })) ?? [];
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
      <SelectField label={T.group} value={value('group')} options={[ALL, ...choices(groups)]} onChange={set('group')} />
      <SelectField
        label={T.os}
        value={value('os.name')}
        options={[ALL, ...choices(systems)]}
        onChange={set('os.name')}
      />
      <SelectField
        label={T.version}
        value={value('version')}
        options={[ALL, ...choices(versions)]}
        onChange={set('version')}
      />
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
