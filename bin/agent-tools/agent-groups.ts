import * as z from 'zod';
import { formatAgentId, isAgentId, MANAGER_ID } from '../../lib/agentlink/agent-identity.js';
import { dbContract } from '../../lib/bus/contracts/db.js';
import { AGENT_STATUSES, MAX_AGENTS_PER_PAGE } from '../../lib/bus/contracts/db-agents.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import { loadManagerConfig } from '../../lib/config/load-manager-config.js';
import { GroupError } from '../../lib/groups/group-error.js';
import { type GroupFile, GroupFolders, isGroupName } from '../../lib/groups/group-folders.js';
import { isSynchronized, mergedSumFrom, sumOnDisk } from '../../lib/groups/merged-file-of.js';
import type { Home } from '../../lib/home/home.js';
import { AgentGroupsError, membershipError, numberedError } from './agent-groups-error.js';
import { daemonClient } from './daemon-client.js';
import { requireManager } from './require-manager.js';

const DEFAULT_GROUP = 'default';
const FIELDS = ['id', 'name', 'group', 'status', 'mergedSum'];

const itemSchema = z.object({
  id: z.string(),
  name: z.string(),
  group: z.array(z.string()).default([]),
  status: z.enum(AGENT_STATUSES).optional(),
  mergedSum: z.string().optional(),
});
/** An agent; groups by priority. */
type AgentRow = z.output<typeof itemSchema>;

/**
 * The work of `agent_groups` (agents-and-groups.md 9.2): it asks svc-db for agents and their groups, and looks after the
 * folders of groups itself. Errors of all methods: AgentGroupsError, 1017 when svc-db does not run.
 */
export class AgentGroups {
  /** Whether the groups are those of a cluster, which each of its nodes may change. */
  readonly #isShared: boolean;
  readonly #home: Home;
  readonly #folders: GroupFolders;
  readonly #db: RequestClient<typeof dbContract>;

  /** @throws HomeError when the home is no manager's; ConfigError */
  constructor(home: Home) {
    requireManager(home);
    this.#isShared = loadManagerConfig(home, ['cluster']).cluster?.disabled === false;
    this.#home = home;
    this.#folders = new GroupFolders(home);
    this.#db = daemonClient(home, dbContract);
  }

  /** All groups by name with the number of their agents, and the number of agents without any. */
  async groups(): Promise<{ groups: { name: string; count: number }[]; unassigned: number }> {
    const { groups } = await numbered(() => this.#db.call('groups.list', {}));
    const { total } = await numbered(() => this.#db.call('agents.list', { no_group: true, limit: 0 }));
    return { groups, unassigned: total };
  }

  /** Agents of a group by id. @throws AgentGroupsError 1710 */
  async agentsOf(group: string): Promise<{ id: string; name: string }[]> {
    const name = known(group);
    const { ids } = await numbered(() => this.#db.call('groups.agents', { name }));
    const agents: AgentRow[] = [];
    for (let at = 0; at < ids.length; at += MAX_AGENTS_PER_PAGE) {
      const params = { ids: ids.slice(at, at + MAX_AGENTS_PER_PAGE), select: FIELDS };
      const { items } = await numbered(() => this.#db.call('agents.get', params));
      for (const item of items) agents.push(itemSchema.parse(item));
    }
    return agents;
  }

  /** Files of a group with their md5, ar.conf of etc/shared last. @throws AgentGroupsError 1710 */
  files(group: string): Promise<GroupFile[]> {
    return numbered(() => this.#folders.files(group, 'md5'));
  }

  /** @param text the id as it was typed @throws AgentGroupsError 1701, 1703 */
  async agent(text: string): Promise<AgentRow> {
    const id = agentId(text);
    const { items } = await numbered(() => this.#db.call('agents.get', { ids: [id], select: FIELDS }));
    const [item] = items;
    if (item === undefined) throw new AgentGroupsError(1701);
    return itemSchema.parse(item);
  }

  /** Whether an agent has the merged file of its groups as it lies on the disk (6.7). */
  isSynchronized({ group, status, mergedSum }: AgentRow): Promise<boolean> {
    return isSynchronized({ groups: group, status, mergedSum }, (groups) =>
      mergedSumFrom(groups, (place) => sumOnDisk(this.#home, place)),
    );
  }

  /** Makes folder and group. @throws AgentGroupsError 1711, 1713, 1722 */
  async create(group: string): Promise<void> {
    if (!isGroupName(group)) throw new AgentGroupsError(1722);
    // Without svc-db nothing is begun.
    await numbered(() => this.#db.call('groups.list', { names: [group] }));
    await numbered(() => this.#folders.create(group));
    try {
      await numbered(() => this.#db.call('groups.create', { name: group }));
    } catch (error) {
      // svc-remoted may have seen the folder first.
      if (error instanceof AgentGroupsError && error.number === 1711) return;
      await this.#folders.remove(group).catch(() => {});
      throw error;
    }
  }

  /** Removes folder and group; its agents lose it. @throws AgentGroupsError 1710, 1712 */
  async remove(group: string): Promise<void> {
    if (group === DEFAULT_GROUP) throw new AgentGroupsError(1712);
    const names = [known(group)];
    if (this.#isShared) return this.#removeShared(group);
    await numbered(() => this.#db.call('groups.list', { names }));
    // svc-remoted may see that the folder is gone, and svc-db forget the group, before it is told so here.
    const hadFolder = await this.#folders.remove(group).then(
      () => true,
      (error: unknown) => {
        if (error instanceof GroupError && error.code === 'unknown_group') return false;
        throw numberedError(error);
      },
    );
    const { removed } = await numbered(() => this.#db.call('groups.remove', { names }));
    if (!hadFolder && removed.length === 0) throw new AgentGroupsError(1710);
  }

  /** The cluster first, which may not be able to; of folders that stay svc-clusterd takes care, as at the other nodes. */
  async #removeShared(group: string): Promise<void> {
    const { removed } = await numbered(() => this.#db.call('groups.remove', { names: [group] }));
    if (removed.length === 0) throw new AgentGroupsError(1710);
    await this.#folders.remove(group).catch(() => {});
  }

  /**
   * Puts an agent into a group, with the least priority.
   * @param single takes it out of all others
   * @throws AgentGroupsError 1701, 1703, 1710, 1737, 1751
   */
  async assign(text: string, group: string, single: boolean): Promise<void> {
    await this.#change(single ? 'override' : 'append', text, group);
  }

  /** Takes an agent out of a group. @throws AgentGroupsError 1701, 1703, 1710, 1734, 1745 */
  async unassign(text: string, group: string): Promise<void> {
    await this.#change('remove', text, group);
  }

  /** Takes an agent out of all groups, so that it is in `default`. @throws AgentGroupsError 1701, 1703, 1745 */
  async unassignAll(text: string): Promise<void> {
    const { group } = await this.agent(text);
    if (group.length === 1 && group[0] === DEFAULT_GROUP) throw new AgentGroupsError(1745);
    await this.#change('override', text, DEFAULT_GROUP);
  }

  close(): void {
    this.#db.close();
  }

  async #change(mode: 'append' | 'override' | 'remove', text: string, group: string): Promise<void> {
    const agents = [{ id: agentId(text), groups: [known(group)] }];
    await numbered(() => this.#db.call('groups.get', { name: group }));
    const { failed } = await numbered(() => this.#db.call('agents.membership', { mode, agents }));
    const [failure] = failed;
    if (failure !== undefined) throw membershipError(failure.code, failure.message);
  }
}

/** @throws AgentGroupsError 1710 for what can be the name of no group */
function known(group: string): string {
  if (!isGroupName(group)) throw new AgentGroupsError(1710);
  return group;
}

/** @throws AgentGroupsError 1701, 1703 */
function agentId(text: string): string {
  if (!isAgentId(text)) throw new AgentGroupsError(1701);
  const id = formatAgentId(Number(text));
  if (id === MANAGER_ID) throw new AgentGroupsError(1703);
  return id;
}

async function numbered<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw numberedError(error);
  }
}
