import { formatAgentId, MANAGER_ID } from '../../lib/agentlink/agent-identity.js';
import { type AgentFilter, type AgentScope, MAX_AGENTS_PER_PAGE } from '../../lib/bus/contracts/db-agents.js';
import { type CollectedItems, collectPages, type PageBounds } from '../daemons/collect-pages.js';
import type { DbClient } from '../daemons/db-client.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest } from '../http/api-request.js';
import type { FailedItem } from '../http/envelope.js';
import { deniedError } from '../rbac/denied-error.js';
import { type PermittedAgents, scopeAllows } from '../rbac/permitted-agents.js';

export type AgentItem = { readonly id: string; readonly groups: readonly string[] } & Readonly<Record<string, unknown>>;

/** A request about agents. */
export type AgentsRequest = ApiRequest & { readonly permitted: { readonly agents: PermittedAgents } };

/** Whether a request is about agents, as its declaration in the contract says. */
export function isAboutAgents(request: ApiRequest): request is AgentsRequest {
  return 'agents' in request.permitted;
}

/** Agents that a request is about: those to go on with, and why there is nothing to be done to the others. */
export type ChosenAgents = { readonly agents: readonly AgentItem[]; readonly failed: FailedItem[] };

export type ListParameters = AgentFilter &
  PageBounds & {
    readonly sort?: string;
    readonly select?: string[];
    readonly distinct?: boolean;
  };

/** Agents without the manager, in the query language. */
const WITHOUT_MANAGER = `id!=${MANAGER_ID}`;

/** The agents that the caller of one request may do what it asks for (rest-api.md 5). */
export class AgentView {
  readonly scope: AgentScope;
  /** Whether all agents were meant. */
  readonly isAll: boolean;

  constructor(
    private readonly db: DbClient,
    private readonly request: AgentsRequest,
  ) {
    const { agents } = request.permitted;
    this.scope = agents.scope;
    this.isAll = agents.isAll;
  }

  /** A page of any length, put together from those of svc-db. */
  async list(parameters: ListParameters): Promise<CollectedItems> {
    const own = this.#own(parameters);
    return own.ids?.length === 0 ? { items: [], total: 0 } : this.#pages('agents.list', { ...own, scope: this.scope });
  }

  /** Whether the request is about an agent that this node answers for; what the scope has of it is not looked at. */
  has(id: string): boolean {
    const { agents } = this.request.part;
    return agents === undefined || agents.includes(id);
  }

  /** All agents that pass, by the node of the cluster where they are. */
  async byNode(filter: AgentFilter): Promise<ReadonlyMap<string, readonly string[]>> {
    const { nodes } = await this.db.call(this.request, 'agents.by_node', { ...filter, scope: this.scope });
    return new Map(nodes.map(({ node, ids }) => [node, ids]));
  }

  /** Groups of equal values with their count. */
  async countBy(
    parameters: Omit<ListParameters, 'select' | 'distinct'> & { fields?: string[] },
  ): Promise<CollectedItems> {
    return this.#pages('agents.count_by', { ...parameters, scope: this.scope });
  }

  async summary(filter: AgentFilter = {}) {
    return this.db.call(this.request, 'agents.summary', { ...filter, scope: this.scope });
  }

  /** Everything that is counted for the overview, all groups of it (rest-api.md 6.1). */
  async overview() {
    const { nodes, systems, versions, ...rest } = await this.db.call(this.request, 'agents.overview', {
      scope: this.scope,
    });
    const all = async ({ items, total }: CollectedItems, ...fields: string[]): Promise<CollectedItems['items']> => {
      if (items.length >= total) return items;
      const others = { q: WITHOUT_MANAGER, fields, offset: items.length, limit: Number.POSITIVE_INFINITY };
      return [...items, ...(await this.countBy(others)).items];
    };
    return {
      ...rest,
      nodes: await all(nodes, 'node_name'),
      systems: await all(systems, 'os.name', 'os.platform', 'os.version'),
      versions: await all(versions, 'version'),
    };
  }

  async ids(filter: AgentFilter): Promise<readonly string[]> {
    const own = this.#own(filter);
    if (own.ids?.length === 0) return [];
    return (await this.db.call(this.request, 'agents.ids', { ...own, scope: this.scope })).ids;
  }

  /**
   * The agents that the request names; every agent that is allowed, the manager too, when it means all.
   * @param select fields that items have besides id and groups
   * @throws ApiError 4000 when none of those named is allowed (5.2)
   */
  async choose(select: readonly string[] = []): Promise<ChosenAgents> {
    const { named } = this.request.permitted.agents;
    if (named !== undefined) return this.#named(named, select);
    const { items } = await this.list({ select: ['group', ...select], limit: Number.POSITIVE_INFINITY });
    return { agents: items.map(agentItem), failed: [] };
  }

  /** As {@link choose} without 000, which fails with 1703 when it is named. @param filter of all agents */
  async chooseAgents(select: readonly string[] = [], filter: AgentFilter = {}): Promise<ChosenAgents> {
    if (this.isAll) return { agents: await this.all(filter, select), failed: [] };
    const { agents, failed } = await this.choose(select);
    const others = agents.filter(({ id }) => id !== MANAGER_ID);
    if (others.length < agents.length) failed.push({ id: MANAGER_ID, error: new ApiError(1703) });
    return { agents: others, failed };
  }

  /** All agents that pass, without 000; what is not allowed is left out silently. */
  async all(filter: AgentFilter, select: readonly string[] = []): Promise<readonly AgentItem[]> {
    const limit = Number.POSITIVE_INFINITY;
    const { items } = await this.list({ ...filter, select: ['group', ...select], limit });
    return items.map(agentItem).filter(({ id }) => id !== MANAGER_ID);
  }

  /**
   * The agents of a list of ids. An id that is not written as agents' ids are belongs to nobody: it must not reach an
   * agent whose id the caller may not use.
   */
  async #named(ids: readonly string[], select: readonly string[]): Promise<ChosenAgents> {
    const wanted = [...new Set(ids)];
    const known = new Map<string, AgentItem>();
    const written = wanted.filter(isAgentId);
    for (let at = 0; at < written.length; at += MAX_AGENTS_PER_PAGE) {
      const page = { ids: written.slice(at, at + MAX_AGENTS_PER_PAGE), select: ['group', ...select] };
      const { items } = await this.db.call(this.request, 'agents.get', page);
      for (const item of items) {
        const agent = agentItem(item);
        known.set(agent.id, agent);
      }
    }
    const agents: AgentItem[] = [];
    const failed: FailedItem[] = [];
    let denied = 0;
    for (const id of wanted) {
      const agent = known.get(id);
      if (!scopeAllows(this.scope, id, agent?.groups ?? [])) {
        denied += 1;
        failed.push({ id, error: deniedError('agent:id') });
      } else if (agent === undefined) {
        failed.push({ id, error: new ApiError(1701) });
      } else {
        agents.push(agent);
      }
    }
    if (denied > 0 && denied === wanted.length) throw deniedError('agent:id');
    return { agents, failed };
  }

  /** Where several nodes answer, those of the agents that are this node's. */
  #own<T extends AgentFilter>(filter: T): T {
    const { agents } = this.request.part;
    if (agents === undefined) return filter;
    if (filter.ids === undefined) return { ...filter, ids: [...agents] };
    const own = new Set(agents);
    return { ...filter, ids: filter.ids.filter((id) => own.has(id)) };
  }

  #pages(method: 'agents.list' | 'agents.count_by', parameters: ListParameters): Promise<CollectedItems> {
    return collectPages(parameters, MAX_AGENTS_PER_PAGE, (bounds) =>
      this.db.call(this.request, method, { ...parameters, ...bounds }),
    );
  }
}

function isAgentId(id: string): boolean {
  return /^\d{3,8}$/.test(id) && formatAgentId(Number(id)) === id;
}

function agentItem(item: Readonly<Record<string, unknown>>): AgentItem {
  const { id, group } = item;
  return { ...item, id: String(id), groups: Array.isArray(group) ? group.map(String) : [] };
}
