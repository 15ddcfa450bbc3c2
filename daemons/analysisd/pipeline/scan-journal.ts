import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StreamPositions } from '../../../lib/bus/stream-positions.js';
import { EventHeads } from '../../../lib/journal/event-heads.js';
import type { Journal } from '../../../lib/journal/journal.js';
import { JournalDamageError } from '../../../lib/journal/journal-error.js';
import type { JournalRecord } from '../../../lib/journal/journal-record.js';
import type { InForce } from '../in-force.js';
import type { RecordedRuleset } from './checkpointer.js';
import { decodeRecord, isEvents, type RecordedEntry } from './journal-record.js';

/** Heartbeats and signals get their turn after this many bytes. */
const BYTES_PER_TURN = 4 * 1024 * 1024;

/** What the records behind the checkpoint say, without any analysis. */
export type ScannedJournal = {
  readonly events: number;
  /** The configuration that is in force at the end, when one of the records puts one in force. */
  readonly inForce: InForce | undefined;
  /** Rulesets the records name. */
  readonly rulesets: readonly RecordedRuleset[];
  /** Number of the last removal of an agent; 0 when the records have none. */
  readonly removedThrough: number;
};

/**
 * Reads the journal from a position to its end and moves the positions of the streams: events can be accepted then, long
 * before these are analysed. Damage is passed over; the analysis meets it too, and reports it.
 */
export async function scanJournal(journal: Journal, from: number, positions: StreamPositions): Promise<ScannedJournal> {
  const rulesets: RecordedRuleset[] = [];
  let inForce: InForce | undefined;
  let events = 0;
  let removedThrough = 0;
  let turnAt = from + BYTES_PER_TURN;
  const reader = journal.reader(from);
  const heads = new EventHeads();
  try {
    for (let record = read(reader); record !== undefined; record = read(reader)) {
      const entry = record === 'damage' ? undefined : tryDecode(record, heads);
      if (entry !== undefined && isEvents(entry)) {
        events += entry.content.count;
        moveStreams(entry.content, positions);
      } else if (entry?.content.kind === 'configuration') {
        inForce = entry.content.inForce;
        rulesets.push({ position: entry.position, ruleset: inForce.ruleset });
      } else if (entry?.content.kind === 'agents-removed') {
        removedThrough = entry.content.removed.through;
      }
      if (record !== 'damage' && record.next >= turnAt) {
        turnAt = record.next + BYTES_PER_TURN;
        await nextTurn();
      }
    }
  } finally {
    reader.close();
  }
  return { events, inForce, rulesets, removedThrough };
}

type Readable = { next(): JournalRecord | undefined };
/** Moves streams to their last sequences, those first that moved last before. */
function moveStreams({ count, streams, streamNames, sequences }: EventHeads, positions: StreamPositions): void {
  for (let index = 0; index < count; index += 1) {
    const stream = streams[index] ?? 0;
    const isLast = index + 1 === count || streams[index + 1] !== stream;
    if (isLast) positions.set(streamNames[stream] ?? '', sequences[index] ?? 0);
  }
}

function read(reader: Readable): JournalRecord | 'damage' | undefined {
  try {
    return reader.next();
  } catch (error) {
    if (error instanceof JournalDamageError) return 'damage';
    throw error;
  }
}

function tryDecode(record: JournalRecord, heads: EventHeads): RecordedEntry | undefined {
  try {
    return decodeRecord(record, heads);
  } catch {
    return undefined;
  }
}
