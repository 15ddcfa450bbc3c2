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

/** Alerts, a line each: the description opens one, every other value can be filtered by. */
export function AlertTable({ label, alerts, current, order, onOrder, empty }: AlertTableProps) {
  const [params] = useParams();
  const columns: Column<Alert>[] = [
    {
      key: 'time',
      title: TEXTS.alerts.columns.time,
      sort: 'time',
      show: (alert) => <Time at={alert.timestamp} isShort />,
    },
    {
      key: 'level',
      title: TEXTS.alerts.columns.level,
      show: ({ rule }) => (
        <FilterValue path="rule.level" value={rule?.level}>
          <LevelBadge level={rule?.level ?? 0} />
        </FilterValue>
      ),
    },
    {
      key: 'agent',
      title: TEXTS.alerts.columns.agent,
      show: ({ agent }) => (
        <FilterValue path="agent.id" value={agent?.id}>
          {agent?.name ?? agent?.id}
        </FilterValue>
      ),
    },
    {
      key: 'rule',
      title: TEXTS.alerts.columns.rule,
      show: ({ alert_id: id, rule }) => (
        <a
          id={openerId(id)}
          href={hrefOf(['alerts'], { ...Object.fromEntries(params), alert: id })}
          aria-current={id === current ? 'true' : undefined}
        >
          {rule?.description ?? id}
        </a>
      ),
    },
    {
      key: 'id',
      title: TEXTS.alerts.columns.ruleId,
      isExtra: true,
      show: ({ rule }) => <FilterValue path="rule.id" value={rule?.id} />,
    },
    { key: 'source', title: TEXTS.alerts.columns.source, isExtra: true, show: (alert) => <Source alert={alert} /> },
  ];
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

/** Element that opened an alert, where the focus goes when it is closed. */
export function openerId(alert: string): string {
  return `alert-${alert}`;
}

/** Who it was, as far as the event says. */
function Source({ alert: { data, location } }: { readonly alert: Alert }) {
  const { srcip, srcuser } = data ?? {};
  if (typeof srcip !== 'string' && typeof srcuser !== 'string') return <FilterValue path="location" value={location} />;
  return (
    <>
      {typeof srcuser === 'string' && <FilterValue path="data.srcuser" value={srcuser} />}{' '}
      {typeof srcip === 'string' && <FilterValue path="data.srcip" value={srcip} />}
    </>
  );
}
