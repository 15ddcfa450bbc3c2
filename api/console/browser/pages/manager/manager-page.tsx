import { Page } from '../../parts/page.js';
import type { PageProps } from '../../shell/page-props.js';
import { TEXTS } from '../../texts.js';

/** Manager. */
export function ManagerPage({ path }: PageProps) {
  return (
    <Page title={TEXTS.nav.manager}>
      <p class="empty">{path.join('/')}</p>
    </Page>
  );
}
