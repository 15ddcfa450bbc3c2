import { formatAgentId } from '../../lib/agentlink/agent-identity.js';
import { BusError } from '../../lib/bus/bus-error.js';
import { dbContract } from '../../lib/bus/contracts/db.js';
import { AGENT_STATUSES, MAX_AGENTS_PER_PAGE } from '../../lib/bus/contracts/db-agents.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { type AgentTable, type NewAgent, type TableAgent, TableRefusedError } from './agent-table.js';
import type { AgentFacts } from './replacement-rule.js';

const MANAGER_ID = '000';
/** Errors that pass: svc-db is away, too busy, or cannot write at the moment, or the cluster cannot decide. */
const PASSING = new Set(['unavailable', 'timeout', 'busy', 'closed', 'internal', 'disk_full', 'cluster_unavailable']);

/** The table of agents in svc-db. */
export class DbAgentTable implements AgentTable {
  readonly #client: RequestClient<typeof dbContract>;

  /** @param path socket of svc-db */
  constructor(path: string) {
    this.#client = new RequestClient({ contract: dbContract, path });
  }

  register(agent: NewAgent): Promise<void> {
    return refusals(async () => {
      try {
        await this.#register(agent);
      } catch (error) {
        if (!(error instanceof BusError) || error.code !== 'agent_exists') throw error;
        // It got another key, or svc-db was told before and the answer was lost.
        if (agent.replaces.length > 0) await this.remove(agent.replaces);
        await this.rename(agent);
        if (agent.groups === undefined) return;
        const agents = [{ id: tableId(agent.id), groups: [...agent.groups] }];
        await this.#client.call('agents.membership', { mode: 'override', agents });
      }
    });
  }

  async #register(agent: NewAgent): Promise<void> {
    const { id, name, registerIP, dateAdd, groups, replaces } = agent;
    const given = groups === undefined ? {} : { groups: [...groups] };
    const params = { id: tableId(id), name, registerIP, dateAdd, replaces: replaces.map(tableId), ...given };
    try {
      await this.#client.call('agents.register', params);
    } catch (error) {
      if (!(error instanceof BusError) || error.code !== 'unknown_group') throw error;
      // Its directory is there, or the request would have been refused: svc-db has not heard of it yet.
      for (const group of groups ?? []) await this.#createGroup(group);
      await this.#client.call('agents.register', params);
    }
  }

  async #createGroup(name: string): Promise<void> {
    try {
      await this.#client.call('groups.create', { name });
    } catch (error) {
      if (!(error instanceof BusError) || error.code !== 'group_exists') throw error;
    }
  }

  remove(ids: readonly string[]): Promise<void> {
    return refusals(() => this.#client.call('agents.remove', { ids: ids.map(tableId) }));
  }

  rename({ id, name, registerIP }: TableAgent): Promise<void> {
    return refusals(() => this.#client.call('agents.update', { id: tableId(id), changes: { name, registerIP } }));
  }

  async facts(id: string, deadlineMs: number): Promise<AgentFacts | undefined> {
    const select = ['status', 'dateAdd', 'disconnection_time'];
    const { items } = await this.#client.call('agents.get', { ids: [tableId(id)], select }, { deadlineMs });
    const [item] = items;
    const status = AGENT_STATUSES.find((name) => name === item?.['status']);
    const registeredAt = epochSeconds(item?.['dateAdd']);
    if (status === undefined || registeredAt === undefined) return undefined;
    return { status, registeredAt, disconnectedAt: epochSeconds(item?.['disconnection_time']) ?? 0 };
  }

  async all(): Promise<readonly TableAgent[]> {
    const agents: TableAgent[] = [];
    for (let offset = 0; ;) {
      const page = { offset, limit: MAX_AGENTS_PER_PAGE, select: ['id', 'name', 'registerIP'] };
      const { items, total } = await this.#client.call('agents.list', page);
      for (const { id, name, registerIP } of items) {
        if (typeof id !== 'string' || id === MANAGER_ID) continue;
        agents.push({ id, name: text(name), registerIP: text(registerIP) });
      }
      offset += items.length;
      if (items.length === 0 || offset >= total) return agents;
    }
  }

  async incarnation(): Promise<string> {
    const { pid } = await this.#client.call('ping', {});
    return String(pid);
  }

  close(): void {
    this.#client.close();
  }
}

/** A key file written by hand may leave out the zeros. */
function tableId(id: string): string {
  return formatAgentId(Number(id));
}

async function refusals(call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (!(error instanceof BusError) || PASSING.has(error.code)) throw error;
    throw new TableRefusedError(error.message, { cause: error });
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Times of list items are texts with a zone. */
function epochSeconds(value: unknown): number | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : NaN;
  return Number.isNaN(time) ? undefined : Math.floor(time / 1000);
}
