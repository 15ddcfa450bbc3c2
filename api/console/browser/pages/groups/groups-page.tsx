import type { PageProps } from '../../shell/page-props.js';
import { GroupListPage } from './group-list-page.js';
import { GroupPage } from './group-page.js';

/** Groups: all of them, or one by its name. */
export function GroupsPage({ path: [name] }: PageProps) {
  return name === undefined ? <GroupListPage /> : <GroupPage key={name} name={name} />;
}
