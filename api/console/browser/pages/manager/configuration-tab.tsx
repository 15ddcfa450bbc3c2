import { useQuery } from '../../client/use-query.js';
import { CodeView } from '../../parts/code-view.js';
import type { Column } from '../../parts/data-table.js';
import { Loaded } from '../../parts/loaded.js';
import { PagedList } from '../../parts/paged-list.js';
import { SearchField } from '../../parts/search-field.js';
import { SelectField } from '../../parts/select-field.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import { MainFile } from './main-file.js';
import { useScope } from './scope.js';

const T = TEXTS.manager;
const VIEWS = ['differences', 'file', 'inForce'] as const;

/** What of a manager is in force, part by part (rest-api.md 6.4). */
const PARTS = [
  'analysis/global',
  'analysis/active_response',
  'analysis/alerts',
  'analysis/command',
  'analysis/internal',
  'analysis/rule_test',
  'auth/auth',
  'com/active-response',
  'com/logging',
  'com/internal',
  'com/cluster',
  'csyslog/csyslog',
  'integrator/integration',
  'logcollector/localfile',
  'logcollector/internal',
  'mail/global',
  'mail/alerts',
  'monitor/global',
  'monitor/internal',
  'monitor/reports',
  'request/global',
  'request/remote',
  'request/internal',
  'syscheck/syscheck',
  'syscheck/rootcheck',
  'syscheck/internal',
  'svc-db/wdb',
  'svc-db/internal',
  'wmodules/wmodules',
] as const;

/** The configuration: where it is not the default, as it is written, and as daemons have it. */
export function ConfigurationTab() {
  const [place, change] = useParams();
  const view = VIEWS.find((known) => known === place.get('view')) ?? 'differences';
  return (
    <>
      <div class="row">
        <SelectField
          label={T.view}
          value={view}
          options={VIEWS.map((each) => [each, T.views[each]] as const)}
          onChange={(to) => change({ view: to, offset: undefined, search: undefined }, true)}
        />
      </div>
      {view === 'differences' && <Differences />}
      {view === 'file' && <MainFile />}
      {view === 'inForce' && <InForce />}
    </>
  );
}

type Difference = {
  readonly source: string;
  readonly option: string;
  readonly value?: unknown;
  readonly default?: unknown;
};

const COLUMNS: readonly Column<Difference>[] = [
  { key: 'option', title: T.option, sort: 'option', show: ({ option }) => <span class="mono">{option}</span> },
  { key: 'value', title: T.value, show: ({ value }) => <Value value={value} /> },
  { key: 'default', title: T.default, show: ({ default: initial }) => <Value value={initial} /> },
  {
    key: 'source',
    title: T.source,
    sort: 'source',
    isExtra: true,
    show: ({ source }) => <span class="mono">{source}</span>,
  },
];

function Differences() {
  const { path } = useScope();
  const [place, change] = useParams();
  const search = place.get('search') ?? '';
  return (
    <>
      <p class="hint">{T.differencesHint}</p>
      <SearchField
        label={T.search}
        value={search}
        onSearch={(words) => change({ search: words, offset: undefined }, true)}
      />
      <PagedList<Difference>
        label={T.differencesOf}
        path={path('configuration/differences')}
        params={{ search }}
        columns={COLUMNS}
        rowKey={({ source, option }) => `${source} ${option}`}
        sort="+source,option"
        size={50}
        empty={T.noDifferences}
      />
    </>
  );
}

function Value({ value }: { readonly value: unknown }) {
  if (value === undefined || value === null) return <span class="hint">{T.nothing}</span>;
  return <span class="mono value">{typeof value === 'string' ? value : JSON.stringify(value)}</span>;
}

function InForce() {
  const { path } = useScope();
  const [place, change] = useParams();
  const part = PARTS.find((known) => known === place.get('part')) ?? PARTS[0];
  const address = path(`configuration/${part}`);
  const query = useQuery(address, (api, signal) => api.list<object>(address, {}, signal));
  return (
    <>
      <div class="row">
        <SelectField
          label={T.part}
          value={part}
          options={PARTS.map((each) => [each, each] as const)}
          onChange={(to) => change({ part: to }, true)}
        />
      </div>
      <Loaded query={query}>
        {({ affected_items: [item], failed_items: [failed] }) =>
          item === undefined ? (
            <p class="failed">{failed?.error.message ?? TEXTS.common.nothing}</p>
          ) : (
            <CodeView label={part} text={JSON.stringify(item, null, 2)} />
          )
        }
      </Loaded>
    </>
  );
}
