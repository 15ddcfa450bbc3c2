import { useEffect, useState } from 'preact/hooks';
import { Failure } from '../../client/failure.js';
import { useQuery } from '../../client/use-query.js';
import { Legend } from '../../parts/legend.js';
import { Failed, Loaded } from '../../parts/loaded.js';
import { Card } from '../../parts/page.js';
import { type Series, TimeChart } from '../../parts/time-chart.js';
import { TEXTS } from '../../texts.js';
import { type DaemonStats, hourTimes, ratesOf, readSample, type Sample, withSample } from './samples.js';
import { useScope } from './scope.js';

const T = TEXTS.manager;
const EVERY_MS = 10_000;
const COLOURS = ['--series-1', '--series-2', '--series-3'] as const;

/** What the manager does: now, today, and on average. */
export function StatisticsTab() {
  return (
    <>
      <Live />
      <div class="grid wide-cards">
        <Today />
        <Hourly />
        <Weekly />
      </div>
    </>
  );
}

function Live() {
  const { path } = useScope();
  const query = useQuery(
    path('daemons/stats'),
    (api, signal) => api.list<DaemonStats>(path('daemons/stats'), {}, signal),
    EVERY_MS,
  );
  const [samples, setSamples] = useState<readonly Sample[]>([]);
  useEffect(() => {
    const sample = query.data === undefined ? undefined : readSample(query.data.affected_items);
    if (sample !== undefined) setSamples((before) => withSample(before, sample));
  }, [query.data]);
  const times = samples.slice(1).map(({ at }) => at);
  const rate = (label: string, counter: Parameters<typeof ratesOf>[1]) => ({
    label,
    values: ratesOf(samples, counter),
  });
  const gauge = (label: string, name: keyof Sample['gauges']) => ({
    label,
    values: samples.slice(1).map(({ gauges }) => gauges[name]),
  });
  return (
    <>
      {query.error !== undefined && <Failed error={query.error} retry={query.reload} />}
      <p class="hint">{samples.length < 2 ? T.firstSample : T.sampled(EVERY_MS / 1000)}</p>
      <div class="grid wide-cards">
        <Chart
          title={T.charts.events}
          times={times}
          lines={[
            rate(T.charts.received, 'received'),
            rate(T.charts.processed, 'processed'),
            rate(T.charts.alerts, 'alerts'),
          ]}
        />
        <Chart
          title={T.charts.messages}
          times={times}
          lines={[rate(T.charts.messagesIn, 'messagesIn'), rate(T.charts.messagesOut, 'messagesOut')]}
        />
        <Chart
          title={T.charts.queues}
          times={times}
          lines={[gauge('svc-analysisd', 'queue'), gauge('svc-remoted', 'remotedQueue')]}
        />
        <Chart title={T.charts.agents} times={times} lines={[gauge(T.charts.sessions, 'sessions')]} />
      </div>
    </>
  );
}

type ChartProps = {
  readonly title: string;
  readonly times: readonly number[];
  readonly lines: readonly { readonly label: string; readonly values: readonly number[] }[];
  readonly kind?: 'lines' | 'stacked';
};

function Chart({ title, times, lines, kind = 'lines' }: ChartProps) {
  const series: Series[] = lines.map((line, index) => ({ ...line, colour: COLOURS[index] ?? COLOURS[0] }));
  return (
    <Card title={title}>
      <TimeChart label={title} times={times} series={series} height={150} kind={kind} />
      <Legend items={series.map(({ label, colour }) => ({ label, colour }))} />
    </Card>
  );
}

/** There is no file of the day: nothing has come yet. */
const NO_STATISTICS = 1308;

type HourItem = { readonly hour: number; readonly events: number; readonly totalAlerts: number };

function Today() {
  const { path } = useScope();
  const query = useQuery(path('stats'), (api, signal) => api.list<HourItem>(path('stats'), {}, signal));
  if (query.error instanceof Failure && query.error.code === NO_STATISTICS) {
    return (
      <Card title={T.charts.today}>
        <p class="empty">{T.noToday}</p>
      </Card>
    );
  }
  const of = (hours: readonly HourItem[], name: 'events' | 'totalAlerts') =>
    Array.from({ length: 24 }, (_, hour) => hours.find((item) => item.hour === hour)?.[name] ?? 0);
  return (
    <Loaded query={query}>
      {({ affected_items: hours }) => (
        <Chart
          title={T.charts.today}
          times={hourTimes(24, new Date())}
          lines={[
            { label: T.charts.eventsOf, values: of(hours, 'events') },
            { label: T.charts.alerts, values: of(hours, 'totalAlerts') },
          ]}
        />
      )}
    </Loaded>
  );
}

function Hourly() {
  const { path } = useScope();
  const query = useQuery(path('stats/hourly'), (api, signal) =>
    api.list<{ averages: readonly number[]; interactions: number }>(path('stats/hourly'), {}, signal),
  );
  return (
    <Loaded query={query}>
      {({ affected_items: [item] }) => <Averages title={T.charts.hourly} averages={item?.averages ?? []} />}
    </Loaded>
  );
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

function Weekly() {
  const { path } = useScope();
  const query = useQuery(path('stats/weekly'), (api, signal) =>
    api.list<Readonly<Record<string, { hours: readonly number[] }>>>(path('stats/weekly'), {}, signal),
  );
  return (
    <Loaded query={query}>
      {({ affected_items: days }) => (
        <Averages
          title={T.charts.weekly}
          averages={DAYS.flatMap((name) => days.find((day) => name in day)?.[name]?.hours ?? Array<number>(24).fill(0))}
        />
      )}
    </Loaded>
  );
}

function Averages({ title, averages }: { readonly title: string; readonly averages: readonly number[] }) {
  if (averages.every((value) => value === 0)) {
    return (
      <Card title={title}>
        <p class="empty">{T.noAverages}</p>
      </Card>
    );
  }
  const times = hourTimes(averages.length, new Date());
  return <Chart title={title} times={times} lines={[{ label: T.charts.average, values: averages }]} kind="stacked" />;
}
