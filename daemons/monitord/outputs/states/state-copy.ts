import type { StateAgents, StatesSource } from './state-agents.js';
import type { StateIndices } from './state-indices.js';
import type { StateRequests } from './state-requests.js';
import type { StateRows } from './state-rows.js';
import { STATE_TABLES, type StateTable } from './state-tables.js';
import type { StateWriter } from './state-writer.js';
import type { StatesStore } from './states-store.js';

export type StateCopyParts = {
  readonly db: StatesSource;
  readonly store: StatesStore;
  readonly agents: StateAgents;
  readonly indices: Pick<StateIndices, 'nameOf'>;
  readonly requests: StateRequests;
  readonly rows: StateRows;
  readonly writer: StateWriter;
  readonly batchSize: number;
  /** Milliseconds of a steady clock. */
  readonly now: () => number;
};

/** Agents of one page. */
const AGENTS = 500;
/** A step ends after so long, milliseconds: changes go on in between. */
const STEP_MS = 1000;

/** A table whose rows are being copied. */
type Plan = {
  readonly table: StateTable;
  /** Agents that had documents in the index. */
  readonly indexed: ReadonlySet<string>;
  /** Those of them that have no rows: their documents go first. */
  readonly stale: string[];
  /** Agents with rows that come next. */
  page: AgentRows[];
};

type AgentRows = { readonly agent: string; readonly rows?: number };

/**
 * Copies all rows of tables to their indices: where an index is new, and where svc-db does not tell all changes. Documents
 * without a row go (indexer.md 3.19). How far it is lies in the store behind each batch; changes go on in between.
 */
export class StateCopy {
  readonly #parts: StateCopyParts;
  #plan: Plan | undefined;

  constructor(parts: StateCopyParts) {
    this.#parts = parts;
  }

  /** Tables that are not copied whole. @throws StoreError `damaged` */
  get left(): number {
    return STATE_TABLES.filter(({ kind }) => this.#parts.store.index(kind)?.copyAfter !== undefined).length;
  }

  /** Begins the table at hand once more: what was put may not have come. */
  reset(): void {
    this.#plan = undefined;
  }

  /** Copies some rows. @returns whether there were any to copy @throws BusError, StoreError, Error of a request */
  async step(signal: AbortSignal): Promise<boolean> {
    const { store, writer, batchSize, agents, now } = this.#parts;
    const begun = now();
    const table = STATE_TABLES.find(({ kind }) => store.index(kind)?.copyAfter !== undefined);
    const record = table && store.index(table.kind);
    if (table === undefined || record === undefined) return false;
    const plan = this.#plan?.table === table ? this.#plan : await this.#makePlan(table, signal);
    let copyAfter = record.copyAfter ?? '';
    const copied: string[] = [];
    let isDone = false;
    const goesOn = (): boolean => copied.length === 0 || (writer.size < batchSize && now() - begun < STEP_MS);
    while (!isDone && goesOn()) {
      const stale = plan.stale.shift();
      const next = stale === undefined ? await this.#next(plan, copyAfter, signal) : { agent: stale };
      if (next === undefined) {
        isDone = true;
        continue;
      }
      await this.#copy(plan, next, signal);
      copied.push(next.agent);
      if (stale === undefined) copyAfter = next.agent;
    }
    await writer.flush(signal);
    const { uuid } = record;
    await store.commit([store.putIndex(table.kind, isDone ? { uuid } : { uuid, copyAfter }), ...agents.sent(copied)]);
    if (isDone) this.#plan = undefined;
    return true;
  }

  async #makePlan(table: StateTable, signal: AbortSignal): Promise<Plan> {
    const { writer, indices, requests, db } = this.#parts;
    const index = indices.nameOf(table);
    await writer.refresh(index, signal);
    const indexed = await requests.agents(index, signal);
    const withRows = new Set<string>();
    for (let after: string | undefined; indexed.size > 0;) {
      const params = { table: table.table, limit: AGENTS, ...(after === undefined ? {} : { after }) };
      const { agents } = await db.call('inventory.tables', params, { signal });
      for (const { agent } of agents) withRows.add(agent);
      after = agents.at(-1)?.agent;
      if (after === undefined) break;
    }
    const stale = [...indexed].filter((agent) => !withRows.has(agent));
    this.#plan = { table, indexed, stale, page: [] };
    return this.#plan;
  }

  async #next(plan: Plan, after: string, signal: AbortSignal): Promise<AgentRows | undefined> {
    const { db, agents } = this.#parts;
    if (plan.page.length === 0) {
      const params = { table: plan.table.table, limit: AGENTS, ...(after === '' ? {} : { after }) };
      const answer = await db.call('inventory.tables', params, { signal });
      plan.page = answer.agents;
      const ids = plan.page.map(({ agent }) => agent);
      await agents.learn(ids, signal);
    }
    return plan.page.shift();
  }

  async #copy({ table, indexed }: Plan, { agent, rows: count }: AgentRows, signal: AbortSignal): Promise<void> {
    const { rows, indices, requests, writer } = this.#parts;
    if (!indexed.has(agent)) {
      await rows.putAll(agent, table, signal, count);
      return;
    }
    // A row that is not seen would lose its document here: all are read.
    const ids = await rows.putAll(agent, table, signal);
    const index = indices.nameOf(table);
    for (const id of await requests.ids(index, agent, signal)) if (!ids.has(id)) writer.put(index, id, undefined);
  }
}
