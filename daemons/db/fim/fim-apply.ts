import type { FimOperation } from '../../../lib/bus/contracts/db-fim.js';
import type { FimColumns } from '../../../lib/events/fim/fim-columns.js';
import type { FimComponent } from '../../../lib/events/fim/fim-component.js';
import { isSameSum, readScanText } from '../../../lib/events/fim/legacy-fim.js';
import { type FimChange, readEvent } from '../../../lib/events/fim/read-entry.js';
import { readLegacyEvent } from '../../../lib/events/fim/read-legacy-entry.js';
import { readJson } from '../../../lib/events/sync/read-json.js';
import { MAX_ROW_KEY_BYTES } from '../rows/row-limits.js';
import type { FimBatch } from './fim-batch.js';
import { componentKey } from './fim-component.js';
import type { Refusal } from './fim-counters.js';
import type { FimCount, FimRow } from './fim-row.js';
import { putFinding } from './findings.js';

const BRACE = 0x7b;
/** Longer texts on rootcheck's queue are findings. */
const LONGEST_SCAN_TEXT = 32;

/** Applies an event of the journal. @returns why nothing is stored of it */
export function applyOperation(batch: FimBatch, operation: FimOperation): Refusal | undefined {
  const { agent, kind, message } = operation;
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
  if (path.length > MAX_ROW_KEY_BYTES) return 'path_too_long';
  if (change.kind === 'deleted') {
    batch.deleteRow(componentKey(agent, component), path);
    return undefined;
  }
  const { columns, kind } = change;
  return batch.putRow(componentKey(agent, component), path, columns, (before) => countEvent(before, kind, columns));
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
  if (path.length > MAX_ROW_KEY_BYTES) return 'path_too_long';
  return batch.putRow(componentKey(agent, component), path, columns, (before) =>
    before?.checksum === columns.checksum
      ? { changes: before.changes, ahead: before.ahead }
      : { changes: (before?.changes ?? 0) + 1, ahead: true },
  );
}
