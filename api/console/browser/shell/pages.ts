import type { ComponentChildren } from 'preact';
import { AgentsPage } from '../pages/agents/agents-page.js';
import { AlertsPage } from '../pages/alerts/alerts-page.js';
import { GroupsPage } from '../pages/groups/groups-page.js';
import { ManagerPage } from '../pages/manager/manager-page.js';
import { OverviewPage } from '../pages/overview/overview-page.js';
import { RulesPage } from '../pages/rules/rules-page.js';
import { TEXTS } from '../texts.js';
import type { PageProps } from './page-props.js';

type PageEntry = {
  readonly name: string;
  readonly title: string;
  readonly Show: (props: PageProps) => ComponentChildren;
};

/** Every page, in the order of the navigation. */
export const PAGES: readonly PageEntry[] = [
  { name: 'overview', title: TEXTS.nav.overview, Show: OverviewPage },
  { name: 'alerts', title: TEXTS.nav.alerts, Show: AlertsPage },
  { name: 'agents', title: TEXTS.nav.agents, Show: AgentsPage },
  { name: 'groups', title: TEXTS.nav.groups, Show: GroupsPage },
  { name: 'rules', title: TEXTS.nav.rules, Show: RulesPage },
  { name: 'manager', title: TEXTS.nav.manager, Show: ManagerPage },
];
