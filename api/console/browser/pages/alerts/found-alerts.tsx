import { useState } from 'preact/hooks';
import { filtersOf } from '../../client/alert-filters.js';
import type { AlertHistogram, AlertList } from '../../client/alerts.js';
import { useConsole } from '../../client/console-context.js';
import { shownNumber } from '../../client/shown.js';
import { useQuery } from '../../client/use-query.js';
import { AlertChart } from '../../parts/alert-chart.js';
import { Loaded } from '../../parts/loaded.js';
import { Missing } from '../../parts/missing.js';
import { Card } from '../../parts/page.js';
import { useTimeSpan } from '../../parts/time-range.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import { AlertTable } from './alert-table.js';

/** Alerts of a page. */
const SIZE = 50;
/** Rows on the screen at most: who reads on wants another search. */
const MOST_ROWS = 1000;

/** What the search finds: over time, and one by one. @param version changes when it must be asked for anew */
export function FoundAlerts({ version }: { readonly version: number }) {
  const [params, change] = useParams();
  const { from, to, choose } = useTimeSpan();
  const filters = { ...filtersOf(params), from, to };
  const histogram = useQuery(`histogram ${JSON.stringify(filters)} ${String(version)}`, (api, signal) =>
    api.get<AlertHistogram>('/alerts/histogram', { ...filters, by: 'rule.level', series: 17 }, signal),
  );
  const order = params.get('order') === 'asc' ? 'asc' : 'desc';
  const { query, pages, showMore, isBusy } = usePages({ ...filters, order }, version);
  return (
    <>
      <Card title={TEXTS.alerts.chart} wide>
        <Loaded query={histogram}>
          {(data) => (
            <>
              <AlertChart histogram={data} onBrush={choose} />
              <p class="hint">{TEXTS.alerts.brushHint}</p>
            </>
          )}
        </Loaded>
      </Card>
      <Card title={TEXTS.alerts.found} wide>
        <Loaded query={query}>
          {(first) => {
            const alerts = pages.flatMap((page) => page.affected_items);
            const next = pages.at(-1)?.next_cursor ?? undefined;
            return (
              <>
                <p role="status">{countOf(first)}</p>
                <Missing failed={pages.flatMap((page) => page.failed_items)} />
                <AlertTable
                  label={TEXTS.alerts.list}
                  alerts={alerts}
                  current={params.get('alert') ?? undefined}
                  order={order}
                  onOrder={(by) => change({ order: by === 'asc' ? 'asc' : undefined })}
                  empty={next === undefined ? TEXTS.alerts.none : TEXTS.alerts.noneYet}
                />
                {next !== undefined && alerts.length < MOST_ROWS && (
                  <button type="button" disabled={isBusy} onClick={() => void showMore(next)}>
                    {isBusy ? TEXTS.common.loading : TEXTS.alerts.more}
                  </button>
                )}
                {next !== undefined && alerts.length >= MOST_ROWS && (
                  <p class="hint">{TEXTS.alerts.mostRows(MOST_ROWS)}</p>
                )}
              </>
            );
          }}
        </Loaded>
      </Card>
    </>
  );
}

function countOf({ total_affected_items: total, total_is_exact: isExact }: AlertList): string {
  return TEXTS.alerts.count(isExact ? shownNumber(total) : TEXTS.common.atLeast(total));
}

/** Pages of a search behind each other; the others belong to the first, and are gone with it. */
function usePages(asked: Readonly<Record<string, unknown>>, version: number) {
  const { api, notices } = useConsole();
  const params = asked as Record<string, string>;
  const [further, setFurther] = useState<{ readonly first: AlertList | undefined; readonly pages: AlertList[] }>();
  const [isBusy, setBusy] = useState(false);
  const query = useQuery(`alerts ${JSON.stringify(asked)} ${String(version)}`, (client, signal) =>
    client.get<AlertList>('/alerts', { ...params, limit: SIZE }, signal),
  );
  const first = query.data;
  const others = first !== undefined && further?.first === first ? further.pages : [];
  const showMore = async (cursor: string) => {
    setBusy(true);
    try {
      const page = await api.get<AlertList>('/alerts', { ...params, limit: SIZE, count: false, cursor });
      setFurther({ first, pages: [...others, page] });
    } catch (error) {
      notices.failed(error);
    }
    setBusy(false);
  };
  return { query, pages: first === undefined ? [] : [first, ...others], showMore, isBusy };
}
