import { useState } from 'preact/hooks';
import type { Alert, AlertList } from '../../client/alerts.js';
import { isoOf, readIso } from '../../client/time-span.js';
import { useQuery } from '../../client/use-query.js';
import { Loaded } from '../../parts/loaded.js';
import { Missing } from '../../parts/missing.js';
import { hrefOf } from '../../router/location.js';
import { TEXTS } from '../../texts.js';
import { AlertTable } from './alert-table.js';

/** Alerts of the agent before this one, and behind it, at most. */
const BESIDE = 25;
const MINUTE_MS = 60_000;
const MINUTES = [5, 60, 1440] as const;

/** What else the agent had around that time. */
export function AroundTab({ alert }: { readonly alert: Alert }) {
  const [minutes, setMinutes] = useState<number>(60);
  const at = readIso(alert.timestamp ?? '') ?? 0;
  const agent = alert.agent?.id ?? '';
  const [from, to] = [isoOf(at - minutes * MINUTE_MS), isoOf(at + minutes * MINUTE_MS)];
  const query = useQuery(`around ${alert.alert_id} ${String(minutes)}`, async (api, signal) => {
    const ask = (asked: Record<string, string>) =>
      api.get<AlertList>('/alerts', { agents_list: agent, limit: BESIDE + 1, count: false, ...asked }, signal);
    const behind = isoOf(at + 1);
    const [before, after] = await Promise.all([
      ask({ from, to: behind, order: 'desc' }),
      ask({ from: behind, to, order: 'asc' }),
    ]);
    return {
      alerts: [...after.affected_items.slice(0, BESIDE).toReversed(), ...before.affected_items],
      failed: before.failed_items,
    };
  });
  return (
    <>
      <div class="row">
        <label class="field">
          <span>{TEXTS.alerts.within}</span>
          <select value={minutes} onChange={(event) => setMinutes(Number(event.currentTarget.value))}>
            {MINUTES.map((each) => (
              <option key={each} value={each}>
                {TEXTS.alerts.minutes(each)}
              </option>
            ))}
          </select>
        </label>
        <a href={hrefOf(['alerts'], { agents_list: agent, from, to })}>{TEXTS.alerts.searchAround}</a>
      </div>
      <p class="hint">{TEXTS.alerts.beside(BESIDE)}</p>
      <Loaded query={query}>
        {({ alerts, failed }) => (
          <>
            <Missing failed={failed} />
            <AlertTable label={TEXTS.alerts.tabs.around} alerts={alerts} current={alert.alert_id} />
          </>
        )}
      </Loaded>
    </>
  );
}
