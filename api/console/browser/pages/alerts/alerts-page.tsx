import { useState } from 'preact/hooks';
import { useConsole } from '../../client/console-context.js';
import { Page } from '../../parts/page.js';
import { CopyButton } from '../../parts/small.js';
import { TimeRange } from '../../parts/time-range.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import { AlertPanel } from './alert-panel.js';
import { ExportDialog } from './export-dialog.js';
import { FilterChips } from './filter-chips.js';
import { FoundAlerts } from './found-alerts.js';
import { LiveTail } from './live-tail.js';
import { SearchBox } from './search-box.js';

/** Alerts: searched, as they come, and one with everything around it. All that is chosen is in the URL. */
export function AlertsPage() {
  const [params, change] = useParams();
  const [version, setVersion] = useState(0);
  const [isExporting, setExporting] = useState(false);
  const isLive = params.get('live') === 'true';
  const opened = params.get('alert') ?? undefined;
  const { session } = useConsole();
  // Who may see those of no agent is shown none by the API, which looks like peace.
  if (!session.may('alerts:read')) {
    return (
      <Page title={TEXTS.nav.alerts}>
        <p class="failed">{TEXTS.alerts.mayNotSee}</p>
      </Page>
    );
  }
  return (
    <Page
      title={TEXTS.nav.alerts}
      actions={
        <>
          <button type="button" aria-pressed={isLive} onClick={() => change({ live: isLive ? undefined : 'true' })}>
            {TEXTS.alerts.live}
          </button>
          <CopyButton text={location.href} label={TEXTS.alerts.copyLink} />
          {!isLive && (
            <button type="button" onClick={() => setExporting(true)}>
              {TEXTS.alerts.export}
            </button>
          )}
        </>
      }
    >
      <div class="row">
        <SearchBox />
        {!isLive && (
          <>
            <TimeRange />
            <button type="button" onClick={() => setVersion(version + 1)}>
              {TEXTS.common.refresh}
            </button>
          </>
        )}
      </div>
      <FilterChips />
      <div class={opened === undefined ? 'found' : 'found beside'}>
        <div class="stack list">{isLive ? <LiveTail /> : <FoundAlerts version={version} />}</div>
        {opened !== undefined && <AlertPanel id={opened} />}
      </div>
      {isExporting && <ExportDialog onClose={() => setExporting(false)} />}
    </Page>
  );
}
