import { useConsole } from '../../client/console-context.js';
import { useQuery } from '../../client/use-query.js';
import { type Column, DataTable } from '../../parts/data-table.js';
import { Loaded } from '../../parts/loaded.js';
import { Card } from '../../parts/page.js';
import { LevelBadge, Time } from '../../parts/small.js';
import { hrefOf } from '../../router/location.js';
import { TEXTS } from '../../texts.js';

const T = TEXTS.agents;
const REFRESH_MS = 15_000;

/** What a short list shows of an alert. */
type BriefAlert = {
  readonly alert_id: string;
  readonly timestamp: string;
  readonly rule: { readonly id: string; readonly level: number; readonly description: string };
};

const FIELDS = 'timestamp,rule.id,rule.level,rule.description';

/** The latest alerts of an agent, with the way to all of them. */
export function AgentAlerts({ id, limit }: { readonly id: string; readonly limit: number }) {
  const { session } = useConsole();
  const asked = { agents_list: id, from: 'now-24h', limit, select: FIELDS, count: false };
  const mayRead = session.may('alerts:read');
  const query = useQuery(
    mayRead ? `agent-alerts ${id} ${String(limit)}` : undefined,
    (api, signal) => api.list<BriefAlert>('/alerts', asked, signal),
    REFRESH_MS,
  );
  if (!mayRead) return null;
  const columns: readonly Column<BriefAlert>[] = [
    { key: 'time', title: T.time, isShort: true, show: ({ timestamp }) => <Time at={timestamp} /> },
    { key: 'level', title: T.level, show: ({ rule }) => <LevelBadge level={rule.level} /> },
    {
      key: 'description',
      title: T.description,
      show: ({ alert_id: alert, rule }) => (
        <a href={hrefOf(['alerts'], { agents_list: id, alert })}>{rule.description}</a>
      ),
    },
    {
      key: 'rule',
      title: T.rule,
      isExtra: true,
      show: ({ rule }) => <a href={hrefOf(['rules', rule.id])}>{rule.id}</a>,
    },
  ];
  return (
    <Card
      wide
      title={T.latest}
      actions={
        <a class="button" href={hrefOf(['alerts'], { agents_list: id })}>
          {T.allAlerts}
        </a>
      }
    >
      <Loaded query={query}>
        {({ affected_items: rows }) => (
          <DataTable
            label={T.alerts}
            columns={columns}
            rows={rows}
            rowKey={({ alert_id: alert }) => alert}
            empty={T.noAlerts}
          />
        )}
      </Loaded>
    </Card>
  );
}
