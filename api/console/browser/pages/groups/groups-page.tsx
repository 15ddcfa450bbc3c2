import { Page } from '../../parts/page.js';
import type { PageProps } from '../../shell/page-props.js';
import { TEXTS } from '../../texts.js';

/** Groups. */
export function GroupsPage({ path }: PageProps) {
  return (
    <Page title={TEXTS.nav.groups}>
      <p class="empty">{path.join('/')}</p>
    </Page>
  );
}
