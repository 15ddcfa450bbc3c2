import { useQuery } from '../../client/use-query.js';
import type { Column } from '../../parts/data-table.js';
import { PagedList } from '../../parts/paged-list.js';
import { SearchField } from '../../parts/search-field.js';
import { SelectField } from '../../parts/select-field.js';
import { StateBadge, Time } from '../../parts/small.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import { useScope } from './scope.js';

const T = TEXTS.manager;
const FOLLOW_MS = 10_000;
const LEVELS = ['critical', 'error', 'warning', 'info', 'debug', 'debug2'];

type Line = { readonly timestamp: string; readonly tag: string; readonly level: string; readonly description: string };

const COLUMNS: readonly Column<Line>[] = [
  { key: 'time', title: T.time, sort: 'timestamp', show: ({ timestamp }) => <Time at={timestamp} /> },
  { key: 'level', title: T.level, show: ({ level }) => <StateBadge state={level} tone={toneOf(level)} /> },
  { key: 'tag', title: T.tag, sort: 'tag', show: ({ tag }) => <span class="mono">{tag}</span> },
  { key: 'message', title: T.message, show: ({ description }) => <span class="mono">{description.trim()}</span> },
];

/** What the daemons said lately. */
export function LogTab() {
  const [place, change] = useParams();
  const { path } = useScope();
  const summary = useQuery(path('logs/summary'), (api, signal) =>
    api.list<Readonly<Record<string, unknown>>>(path('logs/summary'), {}, signal),
  );
  const tags = (summary.data?.affected_items ?? []).flatMap((item) => Object.keys(item));
  const value = (name: string) => place.get(name) ?? '';
  const filter = (changes: Record<string, string | undefined>) => change({ ...changes, offset: undefined }, true);
  const follows = value('follow') !== '';
  return (
    <>
      <div class="row filters">
        <div class="grow">
          <SearchField label={T.search} value={value('search')} onSearch={(search) => filter({ search })} />
        </div>
        <SelectField
          label={T.level}
          value={value('level')}
          options={[['', T.any], ...LEVELS.map((level) => [level, level] as const)]}
          onChange={(level) => filter({ level })}
        />
        <SelectField
          label={T.tag}
          value={value('tag')}
          options={[['', T.any], ...tags.map((tag) => [tag, tag] as const)]}
          onChange={(tag) => filter({ tag })}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={follows}
            onChange={(event) => change({ follow: event.currentTarget.checked ? '1' : undefined }, true)}
          />{' '}
          {T.follow}
        </label>
      </div>
      <PagedList<Line>
        label={T.log}
        path={path('logs')}
        params={{ search: value('search'), level: value('level'), tag: value('tag') }}
        columns={COLUMNS}
        rowKey={({ timestamp, tag, description }, index) => `${timestamp} ${tag} ${description} ${String(index)}`}
        sort="-timestamp"
        size={50}
        everyMs={follows ? FOLLOW_MS : 0}
        empty={T.noLog}
      />
    </>
  );
}

function toneOf(level: string): 'bad' | 'warn' | 'plain' {
  if (level === 'error' || level === 'critical') return 'bad';
  return level === 'warning' ? 'warn' : 'plain';
}
