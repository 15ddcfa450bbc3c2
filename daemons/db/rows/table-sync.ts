import { KeyedLock } from '../../../lib/async/keyed-lock.js';
import { BusError } from '../../../lib/bus/bus-error.js';
import { type JsonMessage, readJson } from '../../../lib/events/sync/read-json.js';
import {
  readSyncCheck,
  readSyncId,
  type SyncCheck,
  type SyncCheckType,
} from '../../../lib/events/sync/read-sync-check.js';
import { syncAnswer } from '../../../lib/events/sync/sync-answer.js';
import type { BatchWriter } from './batch-writer.js';
import type { ComponentBatch } from './component-batch.js';
import { type ComponentMemory, type ComponentTables, NO_SYNC, type SyncInfo } from './component-store.js';
import { rangeChecksum } from './range-checksum.js';
import { keyInSlot, rowKey, slotRange } from './row-keys.js';
import { MAX_ROW_KEY_BYTES, ROWS_PER_TURN } from './row-limits.js';

/** What goes back to the agent; `order` without the `#!-` in front. */
export type SyncAnswer = {
  readonly answer: 'none' | 'no_data' | 'checksum_fail';
  readonly order?: Buffer;
};

/** Rows that are summed up for the checks of one agent in one call: about a second, more than all ranges of a million rows that differ. */
const MAX_SUMMED_ROWS = 2_000_000;

/** What the checks of an agent in one call may cost. */
export class SyncBudget {
  #rows: number;

  constructor(rows: number = MAX_SUMMED_ROWS) {
    this.#rows = rows;
  }

  get isSpent(): boolean {
    return this.#rows <= 0;
  }

  spend(rows: number): void {
    this.#rows -= rows;
  }
}

/** Of a store: what its synchronisation has done. */
export class SyncCounters {
  /** Checks that agreed with the sum in memory. */
  cached = 0;
  checks = 0;
  no_data = 0;
  checksum_fail = 0;
  states = 0;
  /** Rows it deleted. */
  deleted = 0;
}

/** Transactions whose rows can be deleted. */
export type SyncBatch = ComponentBatch & { deleteRow(component: number, key: Buffer): boolean };

/** A row that a message told of, stored by calling it. @returns why it is not */
export type StateTask<B, Refusal> = (batch: B) => Refusal | undefined;

export type TableSyncParts<B extends SyncBatch, Refusal extends string> = {
  readonly writer: BatchWriter<B>;
  readonly rows: ComponentTables['rows'];
  readonly memory: ComponentMemory;
  readonly counters: SyncCounters;
  readonly knows: (agent: string) => boolean;
  readonly onRefused: (reason: Refusal | 'malformed' | 'unknown_agent', agent: string) => void;
  /** Number of an agent's component, by its name on the wire; undefined for one that is none. */
  readonly component: (agent: string, name: string) => number | undefined;
  /** Reads a state: text says what is wrong, undefined that there is nothing to store. */
  readonly readState: (agent: string, message: JsonMessage) => StateTask<B, Refusal> | string | undefined;
  readonly checksumOf: (bytes: Buffer) => string;
  /** Rows of a component were taken away at once: there is something to empty. */
  readonly onDropped: () => void;
  /** The agent says that it has no row of a component; told within the transaction. */
  readonly onCleared?: (batch: B, component: number) => void;
};

const NONE: SyncAnswer = { answer: 'none' };

/**
 * The manager's side of the synchronisation (integrity-and-inventory.md 5.2). Messages of one agent take effect in the
 * order in which they come; states of it are on their way to the disk together, a check waits for them.
 */
export class TableSync<B extends SyncBatch, Refusal extends string> {
  readonly #parts: TableSyncParts<B, Refusal>;
  readonly #order = new KeyedLock();

  constructor(parts: TableSyncParts<B, Refusal>) {
    this.#parts = parts;
  }

  /**
   * Takes a message of queue 5.
   * @param budget of the checks of this agent that come with it
   * @throws BusError `bad_message`, `unknown_agent`, `busy` when the budget is spent, `disk_full`, `disk_failed`
   */
  async take(agent: string, bytes: Uint8Array, budget: SyncBudget = new SyncBudget()): Promise<SyncAnswer> {
    const { knows } = this.#parts;
    if (!knows(agent)) throw this.#refusal('unknown_agent', agent, 'unknown_agent', `There is no agent ${agent}`);
    const message = readJson(bytes);
    const name = message?.value['component'];
    const type = message?.value['type'];
    if (message === undefined || typeof name !== 'string' || typeof type !== 'string') {
      throw this.#bad(agent, 'the message is no JSON with component and type');
    }
    const component = this.#parts.component(agent, name);
    if (component === undefined) throw this.#bad(agent, 'dbsync: Invalid component specified.');
    switch (type) {
      case 'state':
        return this.#state(agent, message);
      case 'integrity_clear': {
        const id = readSyncId(message.value['data']);
        if (id === undefined) throw this.#bad(agent, 'integrity_clear has no id');
        return this.#order.exclusive(agent, () => this.#clear(agent, component, id));
      }
      case 'integrity_check_global':
      case 'integrity_check_left':
      case 'integrity_check_right': {
        const check = storedRange(type, message);
        if (typeof check === 'string') throw this.#bad(agent, check);
        const { answer } = await this.#order.exclusive(agent, () => this.#check(agent, component, check, budget));
        return answer === 'none' ? NONE : { answer, order: syncAnswer(name, answer, message) };
      }
      default:
        throw this.#bad(agent, `unknown type of message`);
    }
  }

  async #state(agent: string, message: JsonMessage): Promise<SyncAnswer> {
    const { writer, counters, knows, onRefused, readState } = this.#parts;
    const store = readState(agent, message);
    if (store === undefined) return NONE;
    if (typeof store === 'string') throw this.#bad(agent, store);
    await this.#order.shared(agent, () =>
      writer.write((batch) => {
        // It may have been removed, with its rows, while this one waited.
        const refusal = knows(agent) ? store(batch) : 'unknown_agent';
        if (refusal === undefined) {
          counters.states += 1;
          return;
        }
        onRefused(refusal, agent);
      }),
    );
    return NONE;
  }

  /** The agent has no row at all. */
  async #clear(agent: string, component: number, id: number): Promise<SyncAnswer> {
    const known = this.#parts.memory.components.get(component);
    // Another slot has to be emptied later, and there are not endlessly many: agents whose table is empty say so with each round.
    if (known !== undefined && known.rows <= ROWS_PER_TURN) await this.#deleteKeys(component, slotRange(known.slot));
    const isDropped = await this.#parts.writer.write((batch) => {
      if (!this.#parts.knows(agent)) return false;
      const { rows = 0, sync = NO_SYNC } = batch.component(component) ?? {};
      if (rows > 0) batch.dropComponent(component);
      const next = batch.ensureComponent(component);
      batch.setComponent(component, { ...next, sync: completed(sync, id, '') });
      this.#parts.onCleared?.(batch, component);
      return rows > 0;
    });
    if (isDropped) this.#parts.onDropped();
    return NONE;
  }

  async #check(agent: string, component: number, check: SyncCheck, budget: SyncBudget): Promise<SyncAnswer> {
    if (budget.isSpent) throw new BusError('busy', 'checks of this agent take too long: its next round goes on');
    const { writer, memory, rows, counters, checksumOf } = this.#parts;
    const { type, begin, end, tail, checksum, id } = check;
    counters.checks += 1;
    const slot = (): number | undefined => memory.components.get(component)?.slot;
    if (type === 'integrity_check_global') {
      await this.#deleteAround(component, begin, end);
    } else if (tail !== undefined) {
      await this.#deleteRows(component, { from: end, fromExclusive: true, to: tail, toExclusive: true });
    }
    const known = memory.components.get(component);
    const isCached = type === 'integrity_check_global' && known?.sync.managerChecksum === checksum;
    const version = memory.versions.get(component) ?? 0;
    const at = slot();
    const found = isCached || at === undefined ? undefined : await rangeChecksum(rows, checksumOf, at, begin, end);
    budget.spend(found?.rows ?? 0);
    const sum = isCached ? checksum : found?.digest;
    if (isCached) counters.cached += 1;
    const answer = sum === undefined ? 'no_data' : sum === checksum ? 'none' : 'checksum_fail';
    if (answer !== 'none') counters[answer] += 1;
    if (type === 'integrity_check_global') {
      await writer.write((batch) => {
        if (!this.#parts.knows(agent)) return;
        const record = batch.ensureComponent(component);
        // An event may have changed an entry while they were read: the sum is then good for an answer, not to be kept.
        const isSteady = record.slot === at && batch.version(component) === version;
        const sync =
          answer === 'none'
            ? completed(record.sync, id, checksum, isSteady ? checksum : '')
            : failed(record.sync, id, checksum);
        batch.setComponent(component, { ...record, sync });
      });
    }
    return { answer };
  }

  /** Deletes the entries before and behind what the agent has (5.2 step 3). */
  async #deleteAround(component: number, begin: Buffer, end: Buffer): Promise<void> {
    const slot = this.#parts.memory.components.get(component)?.slot;
    if (slot === undefined) return;
    const { from, to } = slotRange(slot);
    await this.#deleteKeys(component, { from, to: rowKey(slot, begin), toExclusive: true });
    await this.#deleteKeys(component, { from: rowKey(slot, end), fromExclusive: true, to, toExclusive: true });
  }

  async #deleteRows(component: number, range: KeyRange): Promise<void> {
    const slot = this.#parts.memory.components.get(component)?.slot;
    if (slot === undefined) return;
    await this.#deleteKeys(component, { ...range, from: rowKey(slot, range.from), to: rowKey(slot, range.to) });
  }

  /** Piece by piece, each a part of a transaction. */
  async #deleteKeys(component: number, range: KeyRange): Promise<void> {
    const { rows, writer, counters } = this.#parts;
    if (Buffer.compare(range.from, range.to) >= 0) return;
    for (;;) {
      const keys = [...rows.keys({ ...range, limit: ROWS_PER_TURN })].map((key) => keyInSlot(key));
      if (keys.length === 0) return;
      counters.deleted += await writer.write((batch) => deleteAll(batch, component, keys));
      if (keys.length < ROWS_PER_TURN) return;
    }
  }

  #bad(agent: string, reason: string): BusError {
    return this.#refusal('malformed', agent, 'bad_message', reason);
  }

  #refusal(reason: 'malformed' | 'unknown_agent', agent: string, code: string, text: string): BusError {
    this.#parts.onRefused(reason, agent);
    return new BusError(code, text);
  }
}

type KeyRange = {
  readonly from: Buffer;
  readonly fromExclusive?: boolean;
  readonly to: Buffer;
  readonly toExclusive?: boolean;
};

function deleteAll(batch: SyncBatch, component: number, keys: readonly Buffer[]): number {
  let deleted = 0;
  for (const key of keys) if (batch.deleteRow(component, key)) deleted += 1;
  return deleted;
}

/** A check with its paths as they are stored. @returns what is wrong, or the check */
function storedRange(type: SyncCheckType, message: JsonMessage): SyncCheck | string {
  const check = readSyncCheck(type, message);
  if (typeof check === 'string') return check;
  const { begin, end, tail } = check;
  const range = { begin: keyPart(begin), end: keyPart(end), tail: tail && keyPart(tail) };
  if (Buffer.compare(range.begin, range.end) > 0) return 'Cannot perform range checksum: it ends before it begins';
  return { ...check, ...range };
}

/** A path that is too long to be stored is compared by as much of it as a key holds: no stored one is so long. */
function keyPart(path: Buffer): Buffer {
  return path.subarray(0, MAX_ROW_KEY_BYTES);
}

function completed(sync: SyncInfo, id: number, agentChecksum: string, managerChecksum = agentChecksum): SyncInfo {
  return {
    lastAttempt: id,
    lastCompletion: id,
    attempts: sync.attempts + 1,
    completions: sync.completions + 1,
    agentChecksum,
    managerChecksum,
  };
}

function failed(sync: SyncInfo, id: number, agentChecksum: string): SyncInfo {
  return { ...sync, lastAttempt: id, attempts: sync.attempts + 1, agentChecksum, managerChecksum: '' };
}
