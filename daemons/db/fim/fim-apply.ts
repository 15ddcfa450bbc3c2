import { setImmediate as nextTurn } from 'node:timers/promises';
import { BusError } from '../../../lib/bus/bus-error.js';
import type { FimOperation } from '../../../lib/bus/contracts/db-fim.js';
import type { FimColumns } from '../../../lib/events/fim/fim-columns.js';
import type { FimComponent } from '../../../lib/events/fim/fim-component.js';
import { isSameSum, readScanText } from '../../../lib/events/fim/legacy-fim.js';
import { type FimChange, readEvent } from '../../../lib/events/fim/read-entry.js';
import { readLegacyEvent } from '../../../lib/events/fim/read-legacy-entry.js';
import { readJson } from '../../../lib/events/sync/read-json.js';
import type { FimBatch } from './fim-batch.js';
import type { FimCounters, Refusal } from './fim-counters.js';
import { MAX_PATH_BYTES, OPERATIONS_PER_TURN } from './fim-limits.js';
import type { FimCount, FimRow } from './fim-row.js';
import { putFinding } from './findings.js';

/** What applying needs beside the batch. */
export type ApplyParts = {
  readonly counters: FimCounters;
  /** Whether an agent is registered: events of others are those of agents that were removed meanwhile. */
  readonly knows: (agent: string) => boolean;
  /** Told why nothing was stored of an event; it sees to the number of lines. */
  readonly onRefused: (reason: Refusal, agent: string) => void;
};

const BRACE = 0x7b;
/** Longer texts on rootcheck's queue are findings. */
const LONGEST_SCAN_TEXT = 32;

/** What a call of `fim.apply` brings. */
export type FimEvents = {
  readonly journal: string;
  readonly operations: readonly FimOperation[];
  readonly upTo: number;
  readonly after?: number | undefined;
};

/**
 * Applies operations of a journal, all in one transaction; those that were applied before change nothing.
 * @throws BusError `gap` when those before them are not stored
 */
export async function applyOperations(
  batch: FimBatch,
  { journal, operations, upTo, after = 0 }: FimEvents,
  parts: ApplyParts,
): Promise<number> {
  const isKnown = batch.state.journal === journal;
  const from = isKnown ? batch.state.applied : 0;
  if (from < after) {
    throw new BusError(
      'gap',
      `Events before ${String(after)} of the journal are not stored, only those before ${String(from)}`,
    );
  }
  let sinceTurn = 0;
  for (const operation of operations) {
    if (operation.position < from) {
      parts.counters.events.repeated += 1;
      continue;
    }
    const refusal = applyOperation(batch, operation, parts);
    if (refusal === undefined) parts.counters.events.applied += 1;
    else parts.onRefused(refusal, operation.agent);
    sinceTurn += 1;
    if (sinceTurn >= OPERATIONS_PER_TURN) {
      await nextTurn();
      sinceTurn = 0;
    }
  }
  const position = Math.max(isKnown ? batch.state.position : 0, upTo);
  const applied = Math.max(from, position, (operations.at(-1)?.position ?? -1) + 1);
  if (!isKnown || batch.state.position !== position || batch.state.applied !== applied) {
    batch.moveTo(journal, position, applied);
  }
  return position;
}

function applyOperation(batch: FimBatch, operation: FimOperation, parts: ApplyParts): Refusal | undefined {
  const { agent, kind, message } = operation;
  if (!parts.knows(agent)) return 'unknown_agent';
  const seconds = Math.floor(operation.at / 1000);
  if (kind === 'rootcheck') {
    // Agents before 3.11 tell on this queue of their scans for changed files.
    const mark =
      message.length <= LONGEST_SCAN_TEXT ? readScanText(Buffer.from(message).toString('latin1')) : undefined;
    if (mark === undefined) return putFinding(batch, agent, message, seconds);
    return applyChange(batch, agent, { kind: 'scan', mark, time: seconds });
  }
  const change = message[0] === BRACE ? readJsonEvent(message, seconds) : readLegacyEvent(message, seconds);
  return change === undefined ? 'malformed' : applyChange(batch, agent, change);
}

function readJsonEvent(message: Uint8Array, seconds: number): FimChange | undefined {
  const json = readJson(message);
  return json === undefined ? undefined : readEvent(json, seconds);
}

function applyChange(batch: FimBatch, agent: string, change: FimChange): Refusal | undefined {
  if (change.kind === 'scan') {
    const { start, end } = batch.scan(agent) ?? { start: 0, end: 0 };
    const { time } = change;
    batch.setScan(agent, change.mark === 'start' ? { start: time, end } : { start, end: time });
    return undefined;
  }
  const { component, path } = change;
  if (path.length > MAX_PATH_BYTES) return 'path_too_long';
  if (change.kind === 'deleted') {
    batch.deleteRow(agent, component, path);
    return undefined;
  }
  const { columns, kind } = change;
  return batch.putRow(agent, component, path, columns, (before) => countEvent(before, kind, columns));
}

/** Counts an event: 1 for a file that was added, one more for each modification. */
function countEvent(
  before: FimRow | undefined,
  kind: 'added' | 'modified' | 'seen',
  { checksum }: FimColumns,
): FimCount {
  if (kind === 'added' || before === undefined) return { changes: 1, ahead: false };
  if (kind === 'seen') {
    return { changes: before.changes + (isSameSum(before.checksum, checksum) ? 0 : 1), ahead: false };
  }
  // The synchronisation has told of this very modification, and it was counted then: the two come in any order.
  const isCounted = before.ahead && before.checksum === checksum;
  return { changes: before.changes + (isCounted ? 0 : 1), ahead: false };
}

/** Stores an entry that the synchronisation tells (7.1); one that says nothing new is not counted. */
export function applyState(
  batch: FimBatch,
  agent: string,
  { component, path, columns }: { component: FimComponent; path: Buffer; columns: FimColumns },
): Refusal | undefined {
  if (path.length > MAX_PATH_BYTES) return 'path_too_long';
  return batch.putRow(agent, component, path, columns, (before) =>
    before?.checksum === columns.checksum
      ? { changes: before.changes, ahead: before.ahead }
      : { changes: (before?.changes ?? 0) + 1, ahead: true },
  );
}
