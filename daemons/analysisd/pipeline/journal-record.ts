import type { ReceivedEvent } from '../../../lib/bus/bus-event.js';
import { decodeEventBatch } from '../../../lib/journal/event-batch.js';
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

/** A record as the analysis takes it. */
export type RecordedEntry = {
  readonly position: number;
  readonly next: number;
  /** Epoch milliseconds at which the record was made. */
  readonly writtenAt: number;
  readonly content: readonly ReceivedEvent[] | Control;
  /** The events as they lie in the journal; for followers that want them so. */
  readonly payload?: Buffer;
};

/** A record of events of which the heads were read alone; they are good until the next record is read. */
export type RecordedHeads = Omit<RecordedEntry, 'content' | 'payload'> & {
  readonly content: EventHeads;
  readonly payload: Buffer;
};

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

/** Reads a record. @throws RecordError when it is not what this version writes */
export function decodeRecord({ position, next, kind, writtenAt, payload }: JournalRecord): RecordedEntry {
  const content = understood(position, () => decodeContent(kind, payload));
  return { position, next, writtenAt, content, payload };
}

/** Reads the heads of a record of events. @throws RecordError when it is not what this version writes */
export function decodeHeads(record: Omit<RecordedHeads, 'content'>, heads: EventHeads): RecordedHeads {
  const { position, next, writtenAt, payload } = record;
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

function decodeContent(kind: number, payload: Buffer): RecordedEntry['content'] {
  switch (kind) {
    case EVENTS:
      return decodeEventBatch(payload);
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

/** Whether the heads of its events were read alone. */
export function isHeads(entry: RecordedEntry | RecordedHeads): entry is RecordedHeads {
  return entry.content instanceof EventHeads;
}

/** Whether the content of a record is events. */
export function isEvents(content: RecordedEntry['content'] | EventHeads): content is readonly ReceivedEvent[] {
  return Array.isArray(content);
}
