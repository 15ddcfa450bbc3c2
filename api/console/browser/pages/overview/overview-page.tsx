import type { AlertHistogram } from '../../client/alerts.js';
import { useConsole } from '../../client/console-context.js';
import { shownNumber } from '../../client/shown.js';
import { useQuery } from '../../client/use-query.js';
import { AlertChart } from '../../parts/alert-chart.js';
import { Loaded } from '../../parts/loaded.js';
import { Missing } from '../../parts/missing.js';
import { Card, Page } from '../../parts/page.js';
import { TimeRange, useTimeSpan } from '../../parts/time-range.js';
import { hrefOf } from '../../router/location.js';
import { TEXTS } from '../../texts.js';
import { AgentsCard } from './agents-card.js';
import { DaemonsCard } from './daemons-card.js';
import { LatestCard } from './latest-card.js';
import { TopCard, TopRulesCard } from './top-card.js';

/** Milliseconds until what is happening is asked for again. */
const NOW_MS = 15_000;

/** What happened, and how everything is. */
export function OverviewPage() {
  const { from, to } = useTimeSpan();
  const texts = TEXTS.overview;
  // Who may see those of no agent is shown none by the API, which looks like peace.
  const maySee = useConsole().session.may('alerts:read');
  return (
    <Page title={TEXTS.nav.overview} actions={<TimeRange />}>
      <div class="grid">
        {maySee ? (
          <>
            <OverTimeCard />
            <LatestCard everyMs={to === undefined ? NOW_MS : 0} />
            <TopRulesCard title={texts.rules} />
            <TopCard title={texts.agents} field="agent.name" />
            <TopCard title={texts.sources} field="data.srcip" />
            <TopCard title={texts.tactics} field="rule.mitre.tactic" />
          </>
        ) : (
          <p class="failed wide">{TEXTS.alerts.mayNotSee}</p>
        )}
        <AgentsCard />
        <DaemonsCard />
      </div>
      {maySee && (
        <p>
          <a href={hrefOf(['alerts'], { from, to })}>{texts.toAlerts}</a>
        </p>
      )}
    </Page>
  );
}

function OverTimeCard() {
  const { from, to, choose } = useTimeSpan();
  const asked = { from, to, by: 'rule.level', series: 17 };
  const query = useQuery(
    `histogram ${JSON.stringify(asked)}`,
    (api, signal) => api.get<AlertHistogram>('/alerts/histogram', asked, signal),
    to === undefined ? NOW_MS : 0,
  );
  return (
    <Card title={TEXTS.alerts.chart} wide>
      <Loaded query={query}>
        {(histogram) => (
          <>
            <p>
              {TEXTS.alerts.count(
                histogram.total_is_exact
                  ? shownNumber(histogram.total_alerts)
                  : TEXTS.common.atLeast(histogram.total_alerts),
              )}
            </p>
            <Missing failed={histogram.failed_items} />
            <AlertChart histogram={histogram} height={200} onBrush={choose} />
          </>
        )}
      </Loaded>
    </Card>
  );
}
