import { Page } from '../../parts/page.js';
import { Tabs } from '../../parts/tabs.js';
import { TEXTS } from '../../texts.js';
import { ApiTab } from './api-tab.js';
import { ConfigurationTab } from './configuration-tab.js';
import { DaemonsTab } from './daemons-tab.js';
import { LogTab } from './log-tab.js';
import { NodeChooser } from './node-chooser.js';
import { RolesTab } from './roles-tab.js';
import { useScope } from './scope.js';
import { StatisticsTab } from './statistics-tab.js';
import { UsersTab } from './users-tab.js';

const T = TEXTS.manager;

/** The manager itself: its daemons, what they do and say, its configuration, and who may use it. */
export function ManagerPage() {
  const { node } = useScope();
  return (
    <Page title={TEXTS.nav.manager} actions={<NodeChooser />}>
      {/* What was sampled and typed is of one node. */}
      <Tabs
        key={node}
        label={T.tabs}
        tabs={[
          { key: 'daemons', title: T.daemons, show: () => <DaemonsTab /> },
          { key: 'statistics', title: T.statistics, show: () => <StatisticsTab /> },
          { key: 'log', title: T.log, show: () => <LogTab /> },
          { key: 'configuration', title: T.configuration, show: () => <ConfigurationTab /> },
          { key: 'users', title: T.users, show: () => <UsersTab /> },
          { key: 'roles', title: T.roles, show: () => <RolesTab /> },
          { key: 'api', title: T.api, show: () => <ApiTab /> },
        ]}
      />
    </Page>
  );
}
