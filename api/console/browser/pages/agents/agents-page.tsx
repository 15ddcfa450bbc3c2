import { Page } from '../../parts/page.js';
import type { PageProps } from '../../shell/page-props.js';
import { TEXTS } from '../../texts.js';

/** Agents. */
export function AgentsPage({ path }: PageProps) {
  return (
    <Page title={TEXTS.nav.agents}>
      <p class="empty">{path.join('/')}</p>
    </Page>
  );
}
