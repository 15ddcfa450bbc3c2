import type { Column } from '../../parts/data-table.js';
import { Time } from '../../parts/small.js';
import { hrefOf } from '../../router/location.js';
import { TEXTS } from '../../texts.js';
import { type Agent, lastSeen, systemOf } from './agent.js';
import { AgentState, SyncState } from './agent-state.js';

const T = TEXTS.agents;

const NAME: Column<Agent> = {
  key: 'name',
  title: T.name,
  sort: 'name',
  isShort: true,
  show: ({ id, name }) => <a href={hrefOf(['agents', id])}>{name}</a>,
};
const STATE: Column<Agent> = {
  key: 'status',
  title: T.state,
  sort: 'status',
  show: (agent) => <AgentState agent={agent} />,
};
const SYNC: Column<Agent> = {
  key: 'sync',
  title: T.config,
  isExtra: true,
  show: (agent) => <SyncState agent={agent} />,
};
const SEEN: Column<Agent> = {
  key: 'seen',
  title: T.lastSeen,
  sort: 'lastKeepAlive',
  isShort: true,
  isExtra: true,
  show: (agent) => <Time at={lastSeen(agent)} />,
};

/** A list of agents of any kind. */
export const AGENT_COLUMNS: readonly Column<Agent>[] = [
  { key: 'id', title: T.id, sort: 'id', isShort: true, show: ({ id }) => id },
  NAME,
  STATE,
  { key: 'ip', title: T.address, sort: 'ip', isExtra: true, isShort: true, show: ({ ip }) => ip ?? '–' },
  { key: 'os', title: T.os, sort: 'os.name', isExtra: true, show: (agent) => systemOf(agent) || '–' },
  { key: 'version', title: T.version, sort: 'version', isExtra: true, show: ({ version }) => version ?? '–' },
  {
    key: 'groups',
    title: T.groups,
    isExtra: true,
    show: ({ group = [] }) =>
      group.map((name, index) => (
        <>
          {index > 0 && ', '}
          <a href={hrefOf(['groups', name])} key={name}>
            {name}
          </a>
        </>
      )),
  },
  SYNC,
  SEEN,
];

/** The agents of one group. */
export const MEMBER_COLUMNS: readonly Column<Agent>[] = [
  { key: 'id', title: T.id, sort: 'id', isShort: true, show: ({ id }) => id },
  NAME,
  STATE,
  { ...SYNC, isExtra: false },
  SEEN,
];
