import { Page } from '../../parts/page.js';
import type { PageProps } from '../../shell/page-props.js';
import { TEXTS } from '../../texts.js';

/** Rules. */
export function RulesPage({ path }: PageProps) {
  return (
    <Page title={TEXTS.nav.rules}>
      <p class="empty">{path.join('/')}</p>
    </Page>
  );
}
