import { setImmediate as nextTurn } from 'node:timers/promises';
import { decodeEvents, type RememberedEvents } from '../../../lib/engine/correlate/remembered-events.js';
import type { EngineStateSnapshot } from '../../../lib/engine/engine-state.js';
import type { Checkpoint, CheckpointStore } from '../../../lib/journal/checkpoint-store.js';
import { readStateLog, type StateLogFile } from '../../../lib/journal/state-log-file.js';
import type { AnalysisSnapshot } from '../analysis.js';
import type { GatheredState } from '../threads/analysis-threads.js';
import type { TakenSnapshot } from './taken-events.js';

/** Raised whenever the shape below changes: an older one is read as long as it is named here. */
const VERSION = 2;
/** Had what agents reported in the snapshot of the engine. */
const WITHOUT_LOG = 1;

/** What svc-analysisd keeps in a checkpoint, beside the position of the record at hand. */
export type CheckpointData = {
  readonly version: typeof VERSION | typeof WITHOUT_LOG;
  /** What counts of the log of the state; absent in one that was made without. */
  readonly log?: readonly StateLogFile[];
  /** Events of that record that are done. */
  readonly done: number;
  /** As `Analyzer.isSettled`. */
  readonly isSettled: boolean;
  readonly taken: TakenSnapshot;
  readonly analysis: AnalysisSnapshot;
  /** What the engine remembers, for `decodeEvents`. */
  readonly events: readonly Uint8Array[];
};

type CheckpointParts = Required<Pick<CheckpointData, 'done' | 'isSettled' | 'taken' | 'analysis' | 'log'>>;

/** Puts a checkpoint together from what threads remember. */
export function joinCheckpoint(parts: CheckpointParts, { correlation, events }: GatheredState): CheckpointData {
  const { analysis } = parts;
  const engine: EngineStateSnapshot = { ...analysis.engine, correlation: { ...correlation, events: [] } };
  return { version: VERSION, ...parts, analysis: { ...analysis, engine }, events };
}

/** Puts a checkpoint together; events that are remembered by the hundred thousand are encoded a part at a time. */
export async function encodeCheckpoint(parts: CheckpointParts, events: RememberedEvents): Promise<CheckpointData> {
  const encoded: Buffer[] = [];
  for (let part = 0; part < events.parts; part += 1) {
    encoded.push(events.encode(part));
    await nextTurn();
  }
  return { version: VERSION, ...parts, events: encoded };
}

/** Whether this version understands what a checkpoint holds; that it is whole was checked before. */
function isCheckpointData(data: unknown): data is CheckpointData {
  return (
    typeof data === 'object' &&
    data !== null &&
    'version' in data &&
    (data.version === VERSION || data.version === WITHOUT_LOG)
  );
}

/** The analysis as it was when the checkpoint was made. */
export function analysisOf({ analysis, events }: CheckpointData): AnalysisSnapshot {
  const { engine } = analysis;
  const remembered = events.flatMap((part) => decodeEvents(part));
  return { ...analysis, engine: { ...engine, correlation: { ...engine.correlation, events: remembered } } };
}

/** The newest checkpoint whose part of the log of the state is whole; the newest when there is none. */
export function loadCheckpoint(
  store: CheckpointStore,
  directory: string,
): { readonly loaded: Checkpoint | undefined; readonly data: CheckpointData | undefined } {
  const refusal = (data: unknown): string | undefined =>
    isCheckpointData(data) && data.log !== undefined ? readStateLog(directory, data.log) : undefined;
  const loaded = store.load(refusal) ?? store.load();
  return { loaded, data: isCheckpointData(loaded?.data) ? loaded.data : undefined };
}
