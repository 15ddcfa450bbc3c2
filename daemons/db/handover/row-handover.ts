import { BusError } from '../../../lib/bus/bus-error.js';
import type { CallParams, CallResult, HandlerParams, HandlerResult } from '../../../lib/bus/contract.js';
import type { dbContract } from '../../../lib/bus/contracts/db.js';
import {
  HANDOVER_STORES,
  handoverMethods,
  type HandoverPlace,
  type HandoverStoreName,
} from '../../../lib/bus/contracts/db-handover.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { LimitedLogger } from '../../../lib/log/logger.js';
import type { AgentStore } from '../forgetting.js';
import { handoverPage } from './handover-page.js';
import type { HandoverStores } from './handover-store.js';

type Asked = CallParams<typeof dbContract, 'agents.rows'>;
type Page = CallResult<typeof dbContract, 'agents.rows'>;

export type RowHandoverParts = {
  readonly stores: HandoverStores;
  /** The same, for what is stored of agents as a whole. */
  readonly all: readonly AgentStore[];
  /** Whether an agent is this node's now. */
  readonly isOwn: (agent: string) => boolean;
  /** Name of an agent; '' when there is none. */
  readonly nameOf: (agent: string) => string;
  /** Asks svc-db of another node. @throws BusError */
  readonly ask: (node: string, params: Asked) => Promise<unknown>;
  readonly log: LimitedLogger;
};

/** Agents whose rows come at a time: many move at once when a node is taken out of service. */
const AT_ONCE = 3;
/** Agents that wait; more are left to their own synchronisation. */
const MAX_WAITING = 100_000;
/** Pages of one store of an agent: stops a node that never comes to an end. */
const MAX_PAGES = 5000;

/**
 * What is stored of agents' hosts when they move between nodes: rows are served by the node that an agent is connected to. Those that
 * it had here before are out of date when it comes back, and go; those of the node that it comes from are asked for. What differs
 * then, or cannot be had, is repaired by the agent's own synchronisation.
 */
export class RowHandover {
  readonly counters = { asked: 0, agents: 0, rows: 0, failed: 0, crowded_out: 0 };
  readonly #parts: RowHandoverParts;
  /** By agent, the node that it comes from. */
  readonly #waiting = new Map<string, string>();
  readonly #workers = new Set<Promise<void>>();
  #stopped = false;

  constructor(parts: RowHandoverParts) {
    this.#parts = parts;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Takes away what agents had here before they were elsewhere. @throws BusError `disk_full`, `disk_failed` */
  async forget(agents: readonly string[]): Promise<void> {
    for (const store of this.#parts.all) {
      const held = agents.filter((agent) => store.holds(agent));
      if (held.length > 0) await store.forget(held);
    }
  }

  /** Asks for what another node has of an agent, in its turn. */
  fetch(agent: string, node: string): void {
    if (this.#stopped) return;
    if (this.#waiting.size >= MAX_WAITING) {
      this.counters.crowded_out += 1;
      return;
    }
    this.#waiting.set(agent, node);
    if (this.#workers.size < AT_ONCE) this.#begin();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#waiting.clear();
    await this.idle();
  }

  /** Resolves when nobody waits any more. */
  async idle(): Promise<void> {
    while (this.#workers.size > 0) await Promise.all(this.#workers);
  }

  page({
    agent,
    name,
    store,
    after,
  }: HandlerParams<typeof dbContract, 'agents.rows'>): HandlerResult<typeof dbContract, 'agents.rows'> {
    this.counters.asked += 1;
    if (this.#parts.nameOf(agent) !== name) throw new BusError('unknown_agent', `There is no agent ${agent} '${name}'`);
    return handoverPage(this.#parts.stores[store], agent, after);
  }

  #begin(): void {
    const worker = this.#work().finally(() => this.#workers.delete(worker));
    this.#workers.add(worker);
  }

  async #work(): Promise<void> {
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined) return;
      const [agent, node] = next;
      this.#waiting.delete(agent);
      try {
        for (const store of HANDOVER_STORES) await this.#fetchStore(agent, node, store);
        this.counters.agents += 1;
      } catch (error) {
        this.counters.failed += 1;
        const reason = describeError(error);
        this.#parts.log.debug(`What node '${node}' has of agent ${agent} comes with its synchronisation: ${reason}`);
      }
    }
  }

  async #fetchStore(agent: string, node: string, store: HandoverStoreName): Promise<void> {
    const { ask, stores, isOwn, nameOf } = this.#parts;
    let after: HandoverPlace | undefined;
    for (let pages = 0; pages < MAX_PAGES; pages += 1) {
      const answer = await ask(node, { agent, name: nameOf(agent), store, ...(after === undefined ? {} : { after }) });
      const page: Page = handoverMethods['agents.rows'].result.parse(answer);
      if (this.#stopped || !isOwn(agent)) throw new Error('it is not here any more');
      this.counters.rows += await stores[store].adopt(agent, page.rows);
      if (page.next === null) return;
      after = page.next;
    }
    throw new Error('there are too many pages');
  }
}
