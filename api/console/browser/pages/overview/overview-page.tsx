import { Page } from '../../parts/page.js';
import type { PageProps } from '../../shell/page-props.js';
import { TEXTS } from '../../texts.js';

/** Overview. */
export function OverviewPage({ path }: PageProps) {
  return (
    <Page title={TEXTS.nav.overview}>
      <p class="empty">{path.join('/')}</p>
    </Page>
  );
}
