import type { dbContract } from '../../lib/bus/contracts/db.js';
import type { NamedAgent } from '../../lib/bus/contracts/db-agents.js';
import type { RequestClient } from '../../lib/bus/request-client.js';

/** Seconds between two looks: each goes through all agents of the cluster. */
const LOOK_SECONDS = 10;

/** Times of the watch, seconds. */
export type LostAgentsSettings = {
  readonly disconnectionTime: number;
  readonly alertTime: number;
  readonly alerts: boolean;
};

/**
 * Agents of nodes of the cluster that are lost: the holder of the lease calls them disconnected and announces them. svc-db says each time
 * anew whether this node holds it, and what has become of them: a process that stood still meanwhile announces none that is
 * connected elsewhere by now.
 */
export class LostAgents {
  readonly #db: Pick<RequestClient<typeof dbContract>, 'call'>;
  /** Not yet announced, by id, with the time at which they were called disconnected. */
  readonly #remembered = new Map<string, { readonly agent: NamedAgent; readonly since: number }>();
  #nextLook = 0;

  constructor(db: Pick<RequestClient<typeof dbContract>, 'call'>) {
    this.#db = db;
  }

  get remembered(): number {
    return this.#remembered.size;
  }

  /**
   * Looks when it is time to.
   * @param now epoch seconds of this host
   * @returns agents to announce
   * @throws BusError
   */
  async look({ disconnectionTime, alertTime, alerts }: LostAgentsSettings, now: number): Promise<NamedAgent[]> {
    if (now < this.#nextLook) return [];
    this.#nextLook = now + Math.min(LOOK_SECONDS, disconnectionTime);
    const seconds = disconnectionTime;
    const { agents } = await this.#db.call('agents.lost', { seconds, disconnect: true, at: now });
    if (alerts) for (const agent of agents) this.#remembered.set(agent.id, { agent, since: now });
    if (this.#remembered.size === 0) return [];
    const still = await this.#db.call('agents.lost', { seconds, disconnect: false, at: now });
    if (!still.judged) return [];
    const gone = new Set(still.agents.map(({ id }) => id));
    const due: NamedAgent[] = [];
    for (const [id, { agent, since }] of this.#remembered) {
      if (gone.has(id) && now < since + alertTime) continue;
      this.#remembered.delete(id);
      if (gone.has(id)) due.push(agent);
    }
    return due;
  }

  /**
   * Disconnected agents of nodes that are lost for so long.
   * @param now epoch seconds of this host
   * @throws BusError
   */
  async old(seconds: number, now: number): Promise<readonly NamedAgent[]> {
    const { agents } = await this.#db.call('agents.lost', { seconds, disconnect: false, at: now });
    return agents;
  }
}
