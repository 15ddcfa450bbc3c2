import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { waitUntil } from '../../lib/async/wait-until.js';
import { dbContract } from '../../lib/bus/contracts/db.js';
import { MAX_AGENTS_PER_PAGE } from '../../lib/bus/contracts/db-agents.js';
import { modulesdContract, type ShownTask, type WantedPackage } from '../../lib/bus/contracts/modulesd.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import type { Home } from '../../lib/home/home.js';
import { daemonClient } from './daemon-client.js';
import { requireManager } from './require-manager.js';

/** How often tasks are looked at, milliseconds. */
const LOOK_MS = 1000;
/** An agent that is up again tells its version with its next keepalive. */
const VERSION_MS = 15_000;

const itemSchema = z.object({ id: z.string(), name: z.string(), version: z.string().optional() });
/** An agent; the version as it tells it, `Wazuh v4.14.7`. */
export type VersionedAgent = z.output<typeof itemSchema>;

/** What became of the upgrade of an agent. */
export type UpgradeOutcome =
  | { readonly agent: string; readonly done: true; readonly from: string; readonly to: string }
  | { readonly agent: string; readonly done: false; readonly reason: string };

/** The work of `agent_upgrade` (agents-and-groups.md 9.3): it asks svc-db for agents and svc-modulesd for upgrades. */
export class AgentUpgrade {
  readonly #db: RequestClient<typeof dbContract>;
  readonly #modulesd: RequestClient<typeof modulesdContract>;

  /** @throws HomeError when the home is no manager's, or that of a worker; ConfigError */
  constructor(home: Home) {
    requireManager(home);
    this.#db = daemonClient(home, dbContract);
    this.#modulesd = daemonClient(home, modulesdContract);
  }

  /** Agents of another version than the manager's, by id. @throws BusError */
  async outdated(): Promise<readonly VersionedAgent[]> {
    const agents: VersionedAgent[] = [];
    for (;;) {
      const page = { outdated: true, select: ['id', 'name', 'version'], offset: agents.length, sort: '+id' };
      const { items, total } = await this.#db.call('agents.list', { ...page, limit: MAX_AGENTS_PER_PAGE });
      for (const item of items) agents.push(itemSchema.parse(item));
      if (items.length === 0 || agents.length >= total) return agents;
    }
  }

  /** Ids of all agents that are connected. @throws BusError */
  async active(): Promise<readonly string[]> {
    const { ids } = await this.#db.call('agents.ids', { status: 'active', q: 'id!=000' });
    return ids;
  }

  /**
   * Has agents upgraded and waits until it is known how it went.
   * @param begun called when tasks were made
   * @throws BusError when nothing was begun, or svc-modulesd does not answer any more
   */
  async upgrade(ids: readonly string[], wanted: WantedPackage, begun: () => void): Promise<readonly UpgradeOutcome[]> {
    const before = await this.#versions(ids);
    const { tasks, failed } = await this.#modulesd.call('upgrades.create', { agents: [...ids], package: wanted });
    const outcomes: UpgradeOutcome[] = failed.map(({ agent, message }) => ({ agent, done: false, reason: message }));
    if (tasks.length > 0) begun();
    for (const task of await this.#finished(tasks.map(({ id }) => id))) {
      outcomes.push(await this.#outcome(task, before.get(task.agent) ?? ''));
    }
    return outcomes.sort((a, b) => Number(a.agent) - Number(b.agent));
  }

  close(): void {
    this.#db.close();
    this.#modulesd.close();
  }

  /** svc-modulesd ends each task in its time. */
  async #finished(ids: readonly number[]): Promise<readonly ShownTask[]> {
    const finished: ShownTask[] = [];
    let open = [...ids];
    while (open.length > 0) {
      const { tasks } = await this.#modulesd.call('tasks.list', { tasks: open });
      const ended = tasks.filter(({ status }) => status !== 'Pending' && status !== 'In progress');
      finished.push(...ended);
      const gone = new Set(ended.map(({ id }) => id));
      open = tasks.map(({ id }) => id).filter((id) => !gone.has(id));
      if (open.length > 0) await sleep(LOOK_MS);
    }
    return finished;
  }

  async #outcome({ agent, status, error }: ShownTask, from: string): Promise<UpgradeOutcome> {
    if (status !== 'Done') return { agent, done: false, reason: error === '' ? status : error };
    const to = await waitUntil(
      async () => {
        const version = (await this.#versions([agent])).get(agent);
        return version === from ? undefined : version;
      },
      { everyMs: LOOK_MS, mostMs: VERSION_MS },
    );
    return { agent, done: true, from, to: to ?? from };
  }

  /** `v4.14.7` by id. */
  async #versions(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const versions = new Map<string, string>();
    for (let at = 0; at < ids.length; at += MAX_AGENTS_PER_PAGE) {
      const page = { ids: ids.slice(at, at + MAX_AGENTS_PER_PAGE), select: ['id', 'name', 'version'] };
      for (const item of (await this.#db.call('agents.get', page)).items) {
        const { id, version = '' } = itemSchema.parse(item);
        versions.set(id, version.replace(/^\D*(?=v\d)/, ''));
      }
    }
    return versions;
  }
}
