import { setImmediate as nextTurn } from 'node:timers/promises';
import { formatAgentId } from '../../../lib/agentlink/agent-identity.js';
import type { ScaOperation } from '../../../lib/bus/contracts/db-sca.js';
import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';
import type { LmdbStore } from '../../../lib/store/lmdb-store.js';
import type { StoreError } from '../../../lib/store/store-error.js';
import { applyOperations, type JournalEvents } from '../rows/apply-operations.js';
import { BatchWriter } from '../rows/batch-writer.js';
import { STATE_KEY } from '../rows/component-store.js';
import { Refusals } from '../rows/refusals.js';
import { SlotGarbage } from '../rows/slot-garbage.js';
import { type AgentOrder, DumpOrders } from './dump-orders.js';
import { agentOfPolicyKey, policiesRange } from './policy-record.js';
import { applyEvent, repeatEvent } from './sca-apply.js';
import { type OpenPolicy, ScaBatch, type ScaMemory } from './sca-batch.js';
import { type Refusal, ScaCounters } from './sca-counters.js';
import { ScaHandover } from './sca-handover.js';
import { CHECKS_PER_TURN } from './sca-limits.js';
import { NEW_SCA_STATE, openScaStore, type ScaTables, scaTables } from './sca-store.js';

export type ScaDatabaseParts = {
  /** `{home}/queue/db/sca`. */
  readonly directory: string;
  readonly logger: Logger;
  /** Is told while the disk does not take changes. */
  readonly setProblem: (problem: string | undefined) => void;
  /** Whether an agent is registered. */
  readonly knows: (agent: string) => boolean;
};

/** Agents looked at, or forgotten, in one turn of the event loop. */
const AGENTS_PER_TURN = 256;
const LAST_AGENT = 0xff_ff_ff_fe;

/** Results of policies on all agents (integrity-and-inventory.md 10.5): `queue/db/sca`. */
export class ScaDatabase {
  readonly what = 'Results of policies';
  readonly comesWith = 'the requests for them after their next scans';
  readonly counters: ScaCounters;
  /** The store, as it was last committed. */
  readonly tables: ScaTables;
  readonly handover: ScaHandover;
  readonly #store: LmdbStore;
  readonly #writer: BatchWriter<ScaBatch>;
  readonly #garbage: SlotGarbage;
  readonly #memory: ScaMemory;
  readonly #knows: (agent: string) => boolean;
  readonly #refuse: (reason: Refusal, agent: string) => void;
  readonly #givenUp: LimitedLogger;

  /** @throws StoreError */
  static async open(parts: ScaDatabaseParts): Promise<ScaDatabase> {
    return new ScaDatabase(parts, await openScaStore(parts.directory));
  }

  private constructor({ logger, setProblem, knows }: ScaDatabaseParts, store: LmdbStore) {
    this.#store = store;
    this.#knows = knows;
    const tables = (this.tables = scaTables(store));
    const memory: ScaMemory = (this.#memory = { state: tables.state.get(STATE_KEY) ?? NEW_SCA_STATE });
    this.#writer = new BatchWriter({
      store,
      begin: (before) => new ScaBatch(tables, memory, before),
      setProblem,
      what: 'Results of policies',
    });
    this.handover = new ScaHandover(tables, this.#writer);
    this.#garbage = new SlotGarbage(tables.garbage, (slot) =>
      this.#writer.write((batch) => batch.emptySlot(slot, CHECKS_PER_TURN)),
    );
    const refusals = new Refusals('A result of a policy', TEXTS, logger);
    this.#refuse = refusals.refuse;
    this.counters = new ScaCounters(refusals.counts);
    this.#givenUp = logger.limited();
  }

  /** Resolves with the error when the disk did not take a commit in time; the process should end then. */
  get broken(): Promise<StoreError> {
    return this.#store.broken;
  }

  /** Takes away what is left of agents that are not registered any more. */
  async start(): Promise<void> {
    const gone: string[] = [];
    let looked = 0;
    for (const agent of this.#agents()) {
      if (!this.#knows(formatAgentId(agent))) gone.push(formatAgentId(agent));
      looked += 1;
      if (looked % AGENTS_PER_TURN === 0) await nextTurn();
    }
    await this.forget(gone);
    this.#garbage.wake();
  }

  /** How far a journal is stored. */
  get position(): { readonly journal: string; readonly position: number } {
    const { journal, position } = this.#memory.state;
    return { journal, position };
  }

  /** Whether anything is stored of an agent. @param agent `001` */
  holds(agent: string): boolean {
    return [...this.tables.policies.keys({ ...policiesRange(Number(agent)), limit: 1 })].length > 0;
  }

  /**
   * Applies what events of a journal change.
   * @returns how far it is stored then, and what agents are to be told
   * @throws BusError `gap`, `disk_full`, `disk_failed`
   */
  async apply(events: JournalEvents<ScaOperation['kind']>): Promise<{ position: number; orders?: AgentOrder[] }> {
    const orders = new DumpOrders();
    const position = await this.#writer.write((batch) => {
      const apply = (operation: ScaOperation): boolean => {
        const refusal = this.#knows(operation.agent)
          ? applyEvent(batch, operation, orders, {
              onGivenUp: (policy) => {
                this.#giveUp(policy);
              },
            })
          : 'unknown_agent';
        if (refusal !== undefined) this.#refuse(refusal, operation.agent);
        return refusal === undefined;
      };
      const repeat = (operation: ScaOperation): void => {
        if (this.#knows(operation.agent)) repeatEvent(batch, operation, orders);
      };
      return applyOperations(batch, events, apply, this.counters.events, repeat);
    });
    this.#garbage.wake();
    const list = orders.list();
    this.counters.dumps.requested += list.length;
    return list.length === 0 ? { position } : { position, orders: list };
  }

  /** Takes away all that is stored of agents. @throws BusError `disk_full`, `disk_failed` */
  async forget(agents: readonly string[]): Promise<void> {
    for (let from = 0; from < agents.length; from += AGENTS_PER_TURN) {
      const some = agents.slice(from, from + AGENTS_PER_TURN);
      await this.#writer.write((batch) => {
        for (const agent of some) {
          for (const id of batch.policyIds(agent)) {
            const policy = batch.policy(agent, id);
            if (policy !== undefined) batch.dropPolicy(policy);
          }
        }
      });
    }
    if (agents.length > 0) this.#garbage.wake();
  }

  /** Resolves when nothing is left of what was taken away. */
  emptied(): Promise<void> {
    return this.#garbage.emptied();
  }

  /** Members of the daemon's statistics. */
  stats(): Record<string, unknown> {
    const { policies, checks, position } = this.#memory.state;
    return { ...this.counters, writes: { ...this.#writer.counters }, policies, checks, position };
  }

  async close(): Promise<void> {
    await this.#garbage.stop();
    await this.#writer.drained();
    await this.#store.close();
  }

  /** Numbers of the agents of which something is stored, ascending. */
  *#agents(): Generator<number> {
    const { to } = policiesRange(LAST_AGENT);
    for (let from = policiesRange(0).from; ;) {
      const [key] = [...this.tables.policies.keys({ from, to, toExclusive: true, limit: 1 })];
      if (key === undefined) return;
      const agent = agentOfPolicyKey(key);
      yield agent;
      from = policiesRange(agent).to;
    }
  }

  #giveUp({ agent, id }: OpenPolicy): void {
    this.counters.dumps.given_up += 1;
    this.#givenUp.warn(
      `Agent '${agent}' does not give the results of policy '${id}' that it summed up: it is asked again after its next scan.`,
    );
  }
}

const TEXTS: Readonly<Record<Refusal, string | undefined>> = {
  malformed: 'it is no JSON, or something is missing from it',
  // Events of agents that were removed meanwhile.
  unknown_agent: undefined,
  too_many_policies: 'the agent has too many policies',
  policy_too_large: 'what it tells of the policy is too long',
  too_many_checks: 'the policy has too many checks, or too long ones',
  check_too_large: 'the check is too long',
};
