import { KeyedLock } from '../../../lib/async/keyed-lock.js';
import { BusError } from '../../../lib/bus/bus-error.js';
import { componentOfName, type FimComponent } from '../../../lib/events/fim/fim-component.js';
import { readState } from '../../../lib/events/fim/read-entry.js';
import { type JsonMessage, readJson } from '../../../lib/events/sync/read-json.js';
import {
  readSyncCheck,
  readSyncId,
  type SyncCheck,
  type SyncCheckType,
} from '../../../lib/events/sync/read-sync-check.js';
import { syncAnswer } from '../../../lib/events/sync/sync-answer.js';
import { applyState } from './fim-apply.js';
import type { FimBatch, FimMemory } from './fim-batch.js';
import { componentKey } from './fim-component.js';
import type { FimCounters, Refusal } from './fim-counters.js';
import { pathOfKey, rowKey, slotRange } from './fim-keys.js';
import { MAX_PATH_BYTES, ROWS_PER_TURN } from './fim-limits.js';
import { type FimTables, NO_SYNC, type SyncInfo } from './fim-store.js';
import type { FimWriter } from './fim-writer.js';
import { rangeChecksum } from './range-checksum.js';

/** What goes back to the agent; `order` without the `#!-` in front. */
export type SyncAnswer = {
  readonly answer: 'none' | 'no_data' | 'checksum_fail';
  readonly order?: Buffer;
};

export type FimSyncParts = {
  readonly writer: FimWriter;
  readonly tables: FimTables;
  readonly memory: FimMemory;
  readonly counters: FimCounters;
  readonly knows: (agent: string) => boolean;
  readonly onRefused: (reason: Refusal, agent: string) => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** A message for a component that nobody serves. */
  readonly onUnserved: (component: string) => void;
  /** Entries of a component were taken away at once: there is something to empty. */
  readonly onDropped: () => void;
};

const NONE: SyncAnswer = { answer: 'none' };

/**
 * The manager's side of the synchronisation (integrity-and-inventory.md 5.2). Messages of one agent take effect in the
 * order in which they come; states of it are on their way to the disk together, a check waits for them.
 */
export class FimSync {
  readonly #parts: FimSyncParts;
  readonly #order = new KeyedLock();

  constructor(parts: FimSyncParts) {
    this.#parts = parts;
  }

  /** Takes a message of queue 5. @throws BusError `bad_message`, `unknown_agent`, `disk_full`, `disk_failed` */
  async take(agent: string, bytes: Uint8Array): Promise<SyncAnswer> {
    const { counters, knows } = this.#parts;
    if (!knows(agent)) throw this.#refusal('unknown_agent', agent, 'unknown_agent', `There is no agent ${agent}`);
    const message = readJson(bytes);
    const name = message?.value['component'];
    const type = message?.value['type'];
    if (message === undefined || typeof name !== 'string' || typeof type !== 'string') {
      throw this.#bad(agent, 'the message is no JSON with component and type');
    }
    const component = componentOfName(name);
    if (component === undefined) {
      if (!name.startsWith('syscollector_')) throw this.#bad(agent, 'dbsync: Invalid component specified.');
      counters.sync.unserved += 1;
      this.#parts.onUnserved(name);
      return NONE;
    }
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
        const { answer } = await this.#order.exclusive(agent, () => this.#check(agent, component, check));
        return answer === 'none' ? NONE : { answer, order: syncAnswer(name, answer, message) };
      }
      default:
        throw this.#bad(agent, `unknown type of message`);
    }
  }

  async #state(agent: string, message: JsonMessage): Promise<SyncAnswer> {
    const told = readState(message, Math.floor(this.#parts.now() / 1000));
    if (told === 'ignored') return NONE;
    if (told === undefined) throw this.#bad(agent, 'the state has no index, attributes or type');
    const { writer, counters, onRefused } = this.#parts;
    await this.#order.shared(agent, () =>
      writer.write((batch) => {
        const refusal = applyState(batch, agent, told);
        if (refusal === undefined) {
          counters.sync.states += 1;
          return;
        }
        onRefused(refusal, agent);
      }),
    );
    return NONE;
  }

  /** The agent has no entry at all. */
  async #clear(agent: string, component: FimComponent, id: number): Promise<SyncAnswer> {
    await this.#parts.writer.write((batch) => {
      const { sync = NO_SYNC } = batch.component(agent, component) ?? {};
      batch.dropComponent(agent, component);
      const next = batch.ensureComponent(agent, component);
      batch.setComponent(agent, component, { ...next, sync: completed(sync, id, '') });
    });
    this.#parts.onDropped();
    return NONE;
  }

  async #check(agent: string, component: FimComponent, check: SyncCheck): Promise<SyncAnswer> {
    const { writer, memory, tables, counters } = this.#parts;
    const { type, begin, end, tail, checksum, id } = check;
    counters.sync.checks += 1;
    const slot = (): number | undefined => memory.components.get(componentKey(agent, component))?.slot;
    if (type === 'integrity_check_global') {
      await this.#deleteAround(agent, component, begin, end);
    } else if (tail !== undefined) {
      await this.#deleteRows(agent, component, { from: end, fromExclusive: true, to: tail, toExclusive: true });
    }
    const known = memory.components.get(componentKey(agent, component));
    const isCached = type === 'integrity_check_global' && known?.sync.managerChecksum === checksum;
    const version = memory.versions.get(componentKey(agent, component)) ?? 0;
    const at = slot();
    const sum = isCached ? checksum : at === undefined ? undefined : await rangeChecksum(tables.rows, at, begin, end);
    if (isCached) counters.sync.cached += 1;
    const answer = sum === undefined ? 'no_data' : sum === checksum ? 'none' : 'checksum_fail';
    if (answer !== 'none') counters.sync[answer] += 1;
    if (type === 'integrity_check_global') {
      await writer.write((batch) => {
        const record = batch.ensureComponent(agent, component);
        // An event may have changed an entry while they were read: the sum is then good for an answer, not to be kept.
        const isSteady = record.slot === at && batch.version(agent, component) === version;
        const sync =
          answer === 'none'
            ? completed(record.sync, id, checksum, isSteady ? checksum : '')
            : failed(record.sync, id, checksum);
        batch.setComponent(agent, component, { ...record, sync });
      });
    }
    return { answer };
  }

  /** Deletes the entries before and behind what the agent has (5.2 step 3). */
  async #deleteAround(agent: string, component: FimComponent, begin: Buffer, end: Buffer): Promise<void> {
    const slot = this.#parts.memory.components.get(componentKey(agent, component))?.slot;
    if (slot === undefined) return;
    const { from, to } = slotRange(slot);
    await this.#deleteKeys(agent, component, { from, to: rowKey(slot, begin), toExclusive: true });
    await this.#deleteKeys(agent, component, { from: rowKey(slot, end), fromExclusive: true, to, toExclusive: true });
  }

  async #deleteRows(agent: string, component: FimComponent, range: KeyRange): Promise<void> {
    const slot = this.#parts.memory.components.get(componentKey(agent, component))?.slot;
    if (slot === undefined) return;
    await this.#deleteKeys(agent, component, { ...range, from: rowKey(slot, range.from), to: rowKey(slot, range.to) });
  }

  /** Piece by piece, each a part of a transaction. */
  async #deleteKeys(agent: string, component: FimComponent, range: KeyRange): Promise<void> {
    const { tables, writer, counters } = this.#parts;
    if (Buffer.compare(range.from, range.to) >= 0) return;
    for (;;) {
      const paths = [...tables.rows.keys({ ...range, limit: ROWS_PER_TURN })].map((key) => pathOfKey(key));
      if (paths.length === 0) return;
      counters.sync.deleted += await writer.write((batch) => deleteAll(batch, agent, component, paths));
      if (paths.length < ROWS_PER_TURN) return;
    }
  }

  #bad(agent: string, reason: string): BusError {
    return this.#refusal('malformed', agent, 'bad_message', reason);
  }

  #refusal(reason: Refusal, agent: string, code: string, text: string): BusError {
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

function deleteAll(batch: FimBatch, agent: string, component: FimComponent, paths: readonly Buffer[]): number {
  let deleted = 0;
  for (const path of paths) if (batch.deleteRow(agent, component, path)) deleted += 1;
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
  return path.subarray(0, MAX_PATH_BYTES);
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
