import type { EncodedBatch } from '../../../lib/journal/event-batch.js';
import { EventHeads } from '../../../lib/journal/event-heads.js';
import type { JournalRecord } from '../../../lib/journal/journal-record.js';
import type { InForce } from '../in-force.js';

/*
 * Kinds of records in the journal of svc-analysisd. Events, and everything else their alerts depend on: a replay that
 * meets the same records gives the same bytes.
 */
export const EVENTS = 1;
/** A configuration is in force from here on; JSON of `InForce`. */
const CONFIGURATION = 2;
/** Outputs are rotated as at this time, the record's own; no payload. */
const ROTATION = 3;
/** logtest stored a log of `check_diff`, which is shared with the running engine (rules-and-alerts.md 9.6); JSON. */
const STORED_LOG = 4;
/** Agents were removed: what they did is forgotten; JSON of `RemovedAgents`. */
const AGENTS_REMOVED = 5;

/** A log of `check_diff`; byte strings. */
export type StoredLog = { readonly host: string; readonly rule: number; readonly log: string };

/** Agents that were removed; `through` is the number of the last of these removals in svc-db, and grows. */
export type RemovedAgents = { readonly ids: readonly string[]; readonly through: number };

/** What a control record says. */
export type Control =
  | { readonly kind: 'configuration'; readonly inForce: InForce }
  | { readonly kind: 'rotation' }
  | { readonly kind: 'stored-log'; readonly stored: StoredLog }
  | { readonly kind: 'agents-removed'; readonly removed: RemovedAgents };

/** Where a record lies. */
type RecordPlace = {
  readonly position: number;
  readonly next: number;
  /** Epoch milliseconds at which the record was made. */
  readonly writtenAt: number;
};

/** A record that controls the analysis. */
export type RecordedControl = RecordPlace & { readonly content: Control };

/** A record of events, of which the heads are read; they are good until the next record is read. */
export type RecordedEvents = RecordPlace & {
  readonly content: EventHeads;
  /** The events as they lie in the journal. */
  readonly payload: Buffer;
};

/** A record as the analysis takes it. */
export type RecordedEntry = RecordedControl | RecordedEvents;

/** A record that is in the journal now: events are as they lie there. */
export type OfferedRecord = RecordPlace & { readonly content: Control | EncodedBatch };

/** A control record's kind and payload. */
export function encodeControl(control: Control): { readonly kind: number; readonly payload: Buffer } {
  switch (control.kind) {
    case 'configuration':
      return { kind: CONFIGURATION, payload: Buffer.from(JSON.stringify(control.inForce)) };
    case 'rotation':
      return { kind: ROTATION, payload: Buffer.alloc(0) };
    case 'stored-log':
      return { kind: STORED_LOG, payload: Buffer.from(JSON.stringify(control.stored)) };
    case 'agents-removed':
      return { kind: AGENTS_REMOVED, payload: Buffer.from(JSON.stringify(control.removed)) };
  }
}

/** A record that is whole and not what this version writes. */
export class RecordError extends Error {
  override readonly name = 'RecordError';
}

/** Reads a record. @param heads takes those of events. @throws RecordError when it is not what this version writes */
export function decodeRecord(record: JournalRecord, heads: EventHeads): RecordedEntry {
  const { position, next, kind, writtenAt, payload } = record;
  if (kind === EVENTS) return decodeEvents({ position, next, writtenAt }, payload, heads);
  return { position, next, writtenAt, content: understood(position, () => decodeControl(kind, payload)) };
}

/** Reads the heads of a record of events. @throws RecordError when it is not what this version writes */
export function decodeEvents(place: RecordPlace, payload: Buffer, heads: EventHeads): RecordedEvents {
  const { position, next, writtenAt } = place;
  return { position, next, writtenAt, content: understood(position, () => heads.read(payload)), payload };
}

function understood<T>(position: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RecordError(`journal position ${String(position)}: the record cannot be used: ${reason}`);
  }
}

function decodeControl(kind: number, payload: Buffer): Control {
  switch (kind) {
    case CONFIGURATION:
      return { kind: 'configuration', inForce: JSON.parse(payload.toString()) as InForce };
    case ROTATION:
      return { kind: 'rotation' };
    case STORED_LOG:
      return { kind: 'stored-log', stored: JSON.parse(payload.toString()) as StoredLog };
    case AGENTS_REMOVED:
      return { kind: 'agents-removed', removed: JSON.parse(payload.toString()) as RemovedAgents };
    default:
      throw new Error(`it is of the unknown kind ${String(kind)}`);
  }
}

/** Whether a record is of events. */
export function isEvents(entry: RecordedEntry): entry is RecordedEvents {
  return entry.content instanceof EventHeads;
}
