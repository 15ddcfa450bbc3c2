import type { AlertList } from '../../client/alerts.js';
import { LOWEST_LEVEL } from '../../client/severity.js';
import { useQuery } from '../../client/use-query.js';
import { Loaded } from '../../parts/loaded.js';
import { Card } from '../../parts/page.js';
import { LevelBadge, Time } from '../../parts/small.js';
import { useTimeSpan } from '../../parts/time-range.js';
import { hrefOf } from '../../router/location.js';
import { TEXTS } from '../../texts.js';

/** Alerts that are shown. */
const MOST = 6;

/** The newest alerts that somebody should look at. @param everyMs milliseconds until they are asked for again; 0: never */
export function LatestCard({ everyMs }: { readonly everyMs: number }) {
  const { from, to } = useTimeSpan();
  const least = String(LOWEST_LEVEL.medium);
  const asked = { from, to, min_level: least, limit: MOST, count: false };
  const query = useQuery(
    `latest ${JSON.stringify(asked)}`,
    (api, signal) => api.get<AlertList>('/alerts', asked, signal),
    everyMs,
  );
  return (
    <Card
      title={TEXTS.overview.latest(least)}
      wide
      actions={<a href={hrefOf(['alerts'], { from, to, min_level: least })}>{TEXTS.overview.all}</a>}
    >
      <Loaded query={query}>
        {({ affected_items: alerts }) =>
          alerts.length === 0 ? (
            <p class="empty">{TEXTS.alerts.none}</p>
          ) : (
            <ol class="latest">
              {alerts.map(({ alert_id: id, timestamp, rule, agent }) => (
                <li key={id}>
                  <Time at={timestamp} isShort />
                  <LevelBadge level={rule?.level ?? 0} />
                  <a href={hrefOf(['alerts'], { from, to, min_level: least, alert: id })}>{rule?.description ?? id}</a>
                  <span class="hint">{agent?.name}</span>
                </li>
              ))}
            </ol>
          )
        }
      </Loaded>
    </Card>
  );
}
