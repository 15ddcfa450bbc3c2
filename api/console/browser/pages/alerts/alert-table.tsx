import { filterBy } from '../../client/alert-filters.js';
import type { Alert } from '../../client/alerts.js';
import { type Column, DataTable } from '../../parts/data-table.js';
import { LevelBadge, Time } from '../../parts/small.js';
import { hrefOf } from '../../router/location.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import { FilterValue } from './filter-value.js';

type AlertTableProps = {
  readonly label: string;
  readonly alerts: readonly Alert[];
  /** The one that is pointed out. */
  readonly current: string | undefined;
  readonly order?: 'asc' | 'desc';
  readonly onOrder?: (order: 'asc' | 'desc') => void;
  readonly empty?: string;
};

type Filter = (path: string, value: string) => void;

/** Alerts, a line each: the description opens one, every other value can be filtered by. */
export function AlertTable({ label, alerts, current, order, onOrder, empty }: AlertTableProps) {
  const [params, change] = useParams();
  const filter: Filter = (path, value) => {
    const changes = filterBy(params, path, value);
    if (changes !== undefined) change(changes);
  };
  const columns = columnsOf(Object.fromEntries(params), current, filter);
  return (
    <div class="alerts">
      <DataTable
        label={label}
        columns={columns}
        rows={alerts}
        rowKey={(alert) => alert.alert_id}
        selected={new Set(current === undefined ? [] : [current])}
        {...(empty === undefined ? {} : { empty })}
        {...(onOrder === undefined
          ? {}
          : {
              sort: order === 'asc' ? '+time' : '-time',
              onSort: (sort) => onOrder(sort.startsWith('+') ? 'asc' : 'desc'),
            })}
      />
    </div>
  );
}

function columnsOf(
  place: Readonly<Record<string, string>>,
  current: string | undefined,
  onFilter: Filter,
): Column<Alert>[] {
  const { columns: titles } = TEXTS.alerts;
  return [
    { key: 'time', title: titles.time, sort: 'time', show: (alert) => <Time at={alert.timestamp} isShort /> },
    {
      key: 'level',
      title: titles.level,
      show: ({ rule }) => (
        <FilterValue path="rule.level" value={rule?.level} onFilter={onFilter}>
          <LevelBadge level={rule?.level ?? 0} />
        </FilterValue>
      ),
    },
    {
      key: 'agent',
      title: titles.agent,
      show: ({ agent }) => (
        <FilterValue path="agent.id" value={agent?.id} onFilter={onFilter}>
          {agent?.name ?? agent?.id}
        </FilterValue>
      ),
    },
    {
      key: 'rule',
      title: titles.rule,
      show: ({ alert_id: id, rule }) => (
        <a
          data-alert={id}
          href={hrefOf(['alerts'], { ...place, alert: id })}
          aria-current={id === current ? 'true' : undefined}
        >
          {rule?.description ?? id}
        </a>
      ),
    },
    {
      key: 'id',
      title: titles.ruleId,
      isExtra: true,
      show: ({ rule }) => <FilterValue path="rule.id" value={rule?.id} onFilter={onFilter} />,
    },
    {
      key: 'source',
      title: titles.source,
      isExtra: true,
      show: (alert) => <Source alert={alert} onFilter={onFilter} />,
    },
  ];
}

/** Who it was, as far as the event says. */
function Source({ alert, onFilter }: { readonly alert: Alert; readonly onFilter: Filter }) {
  const { srcip, srcuser } = alert.data ?? {};
  if (typeof srcip !== 'string' && typeof srcuser !== 'string') {
    return <FilterValue path="location" value={alert.location} onFilter={onFilter} />;
  }
  return (
    <>
      {typeof srcuser === 'string' && <FilterValue path="data.srcuser" value={srcuser} onFilter={onFilter} />}{' '}
      {typeof srcip === 'string' && <FilterValue path="data.srcip" value={srcip} onFilter={onFilter} />}
    </>
  );
}
