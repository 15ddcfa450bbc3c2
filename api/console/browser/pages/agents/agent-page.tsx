import type { ComponentChildren } from 'preact';
import { onlyItem } from '../../client/api-client.js';
import { useQuery } from '../../client/use-query.js';
import { Loaded } from '../../parts/loaded.js';
import { Page } from '../../parts/page.js';
import { type Tab, Tabs } from '../../parts/tabs.js';
import { hrefOf } from '../../router/location.js';
import { go } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import { type Agent, MANAGER_ID } from './agent.js';
import { DeedButtons } from './agent-actions.js';
import { AgentAlerts } from './alerts-tab.js';
import { ConfigurationTab } from './configuration-tab.js';
import { FactsTab } from './facts-tab.js';
import { FilesTab } from './files-tab.js';
import { InventoryTab } from './inventory-tab.js';
import { PoliciesTab } from './policies-tab.js';
import { StatisticsTab } from './statistics-tab.js';

const T = TEXTS.agents;
/** Milliseconds until the facts are asked for again. */
const REFRESH_MS = 30_000;
/** What is searched for, chosen or opened in one of the parts. */
const OF_PARTS = ['search', 'part', 'type', 'file', 'table', 'policy', 'result', 'check'];

/** One agent, by its id. */
export function AgentPage({ id }: { readonly id: string }) {
  const query = useQuery(
    `agent ${id}`,
    async (api, signal) => onlyItem(await api.list<Agent>('/agents', { agents_list: id }, signal)),
    REFRESH_MS,
  );
  const agent = query.data;
  return (
    <Page
      title={agent === undefined ? id : T.agent(agent.name, agent.id)}
      actions={
        agent !== undefined &&
        agent.id !== MANAGER_ID && (
          <DeedButtons
            ids={[agent.id]}
            what={T.agent(agent.name, agent.id)}
            onDone={(isGone) => (isGone ? go(hrefOf(['agents'])) : query.reload())}
          />
        )
      }
    >
      <Loaded query={query}>
        {(data) =>
          data === undefined ? <p class="empty">{T.none}</p> : <AgentTabs agent={data} onChange={query.reload} />
        }
      </Loaded>
    </Page>
  );
}

type AgentTabsProps = { readonly agent: Agent; readonly onChange: () => void };

function AgentTabs({ agent, onChange }: AgentTabsProps) {
  const tab = (key: string, title: string, show: () => ComponentChildren): Tab => ({ key, title, show });
  return (
    <Tabs
      label={T.tabs}
      ofParts={OF_PARTS}
      tabs={[
        tab('overview', T.overview, () => <FactsTab agent={agent} onChange={onChange} />),
        tab('alerts', T.alerts, () => <AgentAlerts id={agent.id} limit={25} />),
        tab('configuration', T.configuration, () => <ConfigurationTab agent={agent} />),
        tab('files', T.files, () => <FilesTab agent={agent} />),
        tab('inventory', T.inventory, () => <InventoryTab agent={agent} />),
        tab('policies', T.policies, () => <PoliciesTab agent={agent} />),
        tab('statistics', T.statistics, () => <StatisticsTab agent={agent} />),
      ]}
    />
  );
}
