import { setImmediate as nextTurn } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';
import {
  type EventColumns,
  eventsOf,
  type RememberedEvents,
} from '../../../lib/engine/correlate/correlation-columns.js';
import type { AnalysisSnapshot } from '../analysis.js';
import type { TakenSnapshot } from './taken-events.js';

/** Raised whenever the shape below changes: an older checkpoint is then not understood. */
const VERSION = 1;

/** Remembered events that are encoded in one turn of the event loop: a few milliseconds. */
const EVENTS_PER_TURN = 1000;

/** What svc-analysisd keeps in a checkpoint, beside the position of the record at hand. */
export type CheckpointData = {
  readonly version: typeof VERSION;
  /** Events of that record that are done. */
  readonly done: number;
  /** As `Analyzer.isSettled`. */
  readonly isSettled: boolean;
  readonly taken: TakenSnapshot;
  readonly analysis: AnalysisSnapshot;
  /** What the engine remembers, `EventColumns` as V8 serializes them. */
  readonly events: readonly Buffer[];
};

/** Puts a checkpoint together; events that are remembered by the hundred thousand are encoded a part at a time. */
export async function encodeCheckpoint(
  parts: Pick<CheckpointData, 'done' | 'isSettled' | 'taken' | 'analysis'>,
  events: RememberedEvents,
): Promise<CheckpointData> {
  const encoded: Buffer[] = [];
  for (let from = 0; from < events.count; from += EVENTS_PER_TURN) {
    encoded.push(serialize(events.columns(from, from + EVENTS_PER_TURN)));
    await nextTurn();
  }
  return { version: VERSION, ...parts, events: encoded };
}

/** Whether what a checkpoint holds was written by this version; that it is whole was checked before. */
export function isCheckpointData(data: unknown): data is CheckpointData {
  return typeof data === 'object' && data !== null && 'version' in data && data.version === VERSION;
}

/** The analysis as it was when the checkpoint was made. */
export function analysisOf({ analysis, events }: CheckpointData): AnalysisSnapshot {
  const { engine } = analysis;
  const remembered = events.flatMap((part) => eventsOf(deserialize(part) as EventColumns));
  return { ...analysis, engine: { ...engine, correlation: { ...engine.correlation, events: remembered } } };
}
