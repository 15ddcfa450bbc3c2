import { Page } from '../../parts/page.js';
import type { PageProps } from '../../shell/page-props.js';
import { TEXTS } from '../../texts.js';

/** Alerts. */
export function AlertsPage({ path }: PageProps) {
  return (
    <Page title={TEXTS.nav.alerts}>
      <p class="empty">{path.join('/')}</p>
    </Page>
  );
}
