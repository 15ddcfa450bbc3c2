import { randomUUID } from 'node:crypto';
import type { CallResult } from '../../../../lib/bus/contract.js';
import type { dbContract } from '../../../../lib/bus/contracts/db.js';
import type { Change } from '../../../../lib/store/commit-queue.js';
import type { StateAgents, StatesSource } from './state-agents.js';
import type { StateCopy } from './state-copy.js';
import type { StateIndices } from './state-indices.js';
import type { StateRows } from './state-rows.js';
import { STATE_TABLES, type StateTable } from './state-tables.js';
import type { StateWriter } from './state-writer.js';
import type { StatesStore } from './states-store.js';

export type StatesFeedParts = {
  readonly db: StatesSource;
  readonly store: StatesStore;
  readonly agents: StateAgents;
  readonly indices: StateIndices;
  readonly rows: StateRows;
  readonly copy: StateCopy;
  readonly writer: StateWriter;
  /** What all documents depend on. */
  readonly basis: string;
  /** Changes that are asked for at a time. */
  readonly batchSize: number;
  /** Milliseconds of a steady clock. */
  readonly now: () => number;
};

type FollowedChange = CallResult<typeof dbContract, 'inventory.changes'>['changes'][number];

/** Indices and agents are looked at so often, milliseconds. */
const CHECK_MS = 60_000;

const BY_TABLE: ReadonlyMap<string, StateTable> = new Map(STATE_TABLES.map((table) => [table.table, table]));

/**
 * Follows the inventories of svc-db (lib/bus/contracts/db-inventory.ts): changes in their order, in between what is to be
 * copied whole, and agents whose documents say something that is not so any more. The position is kept when what is before it
 * is indexed, so whatever is killed, the same is done once more, and indices are right in the end.
 */
export class StatesFeed {
  readonly #parts: StatesFeedParts;
  #checkAt = -Infinity;

  constructor(parts: StatesFeedParts) {
    this.#parts = parts;
  }

  /**
   * Does some of what is to be done.
   * @returns whether there may be more
   * @throws BusError, StoreError, Error of a request: nothing is lost, `reset` is to be called, and it is to be tried again
   */
  async turn(signal: AbortSignal): Promise<boolean> {
    const { indices, agents, copy, store, basis, now } = this.#parts;
    // Before indices are looked at: those that are noted to be copied must not be forgotten.
    const position = store.position;
    if (position?.basis !== basis) await this.#begin(signal);
    if (now() >= this.#checkAt) {
      if (await indices.check(signal)) copy.reset();
      await agents.compare(signal);
      this.#checkAt = now() + CHECK_MS;
    }
    const changed = await this.#takeChanges(signal);
    const copied = await copy.step(signal);
    const rewritten = await this.#rewriteOne(signal);
    return changed || copied || rewritten;
  }

  /** After a failure: what waits is taken again. @throws StoreError `damaged` */
  reset(): void {
    const { writer, copy, agents } = this.#parts;
    writer.reset();
    copy.reset();
    agents.reload();
    this.#checkAt = -Infinity;
  }

  /** Follows as somebody new: everything is to be copied. */
  async #begin(signal: AbortSignal): Promise<void> {
    const { db, store, basis, copy } = this.#parts;
    const follower = randomUUID();
    const { number } = await db.call('inventory.follow', { follower }, { signal });
    const copies = STATE_TABLES.map(({ kind }) =>
      store.putIndex(kind, { uuid: store.index(kind)?.uuid ?? '', copyAfter: '' }),
    );
    await store.commit([store.putPosition({ follower, number, basis }), ...copies]);
    copy.reset();
  }

  async #takeChanges(signal: AbortSignal): Promise<boolean> {
    const { db, store, agents, batchSize, writer } = this.#parts;
    const position = store.position;
    if (position === undefined) return true;
    const { follower, number: after } = position;
    const answer = await db.call('inventory.changes', { follower, after, limit: batchSize }, { signal });
    if (answer.again) {
      await this.#begin(signal);
      return true;
    }
    const changes = upToRemoval(answer.changes);
    const last = changes.at(-1);
    if (last === undefined) return false;
    await agents.learn(agentsWithRows(changes), signal);
    const beside: Change[] = [];
    for (const change of changes) beside.push(...(await this.#take(change, signal)));
    await writer.flush(signal);
    const sent = agents.sent(agentsWithRows(changes));
    await store.commit([...beside, ...sent, store.putPosition({ ...position, number: last.number })]);
    return true;
  }

  async #take({ kind, agent, table: name, key, row }: FollowedChange, signal: AbortSignal): Promise<readonly Change[]> {
    const { writer, indices, agents, rows } = this.#parts;
    if (kind === 'removed') {
      for (const table of STATE_TABLES) writer.clear(indices.nameOf(table), agent);
      return agents.forget(agent);
    }
    const table = BY_TABLE.get(name ?? '');
    if (table === undefined) return [];
    if (kind === 'cleared') {
      writer.clear(indices.nameOf(table), agent);
      return [];
    }
    if (writer.clears) await writer.flush(signal);
    rows.put(agent, table, key ?? new Uint8Array(), row);
    // Two keys may stand for one document: what is left of the agent's few rows is put once more.
    if (row === undefined && table.emptyKey !== undefined) await rows.putAll(agent, table, signal);
    return [];
  }

  /** Writes the documents of an agent again that is called otherwise, say. */
  async #rewriteOne(signal: AbortSignal): Promise<boolean> {
    const { agents, rows, writer, store } = this.#parts;
    const agent = agents.nextOutdated();
    if (agent === undefined) return false;
    for (const table of STATE_TABLES) await rows.putAll(agent, table, signal);
    await writer.flush(signal);
    await store.commit(agents.rewritten(agent));
    return true;
  }
}

/** Changes up to an agent that is gone: what comes behind may be of another one with its id. */
function upToRemoval(changes: readonly FollowedChange[]): readonly FollowedChange[] {
  const end = changes.findIndex(({ kind }, index) => kind !== 'removed' && changes[index - 1]?.kind === 'removed');
  return end === -1 ? changes : changes.slice(0, end);
}

function agentsWithRows(changes: readonly FollowedChange[]): string[] {
  return changes.filter(({ row }) => row !== undefined).map(({ agent }) => agent);
}
