import type { JournalConfig } from '../../../lib/config/sections/journal.js';
import type { Journal } from '../../../lib/journal/journal.js';
import type { Analysis } from '../analysis.js';
import type { Counters } from '../counters.js';
import type { AnalysisThreads } from '../threads/analysis-threads.js';
import type { Analyzer } from './analyzer.js';
import type { Checkpointer } from './checkpointer.js';
import type { Intake } from './intake.js';
import type { StateRecorder } from './state-recorder.js';
import type { StoredEvents } from './stored-events.js';

/** Whom the statistics of the pipeline are read from. */
export type PipelineStatisticsParts = {
  /** Epoch milliseconds. */
  readonly now: number;
  readonly counters: Counters;
  /** Events in the journal whose alerts are not written. */
  readonly pending: number;
  readonly journal: Journal;
  readonly journalConfig: JournalConfig;
  readonly intake: Intake;
  readonly analyzer: Analyzer;
  readonly checkpointer: Checkpointer;
  readonly analysis: Analysis;
  readonly recorder: StateRecorder;
  readonly threads: AnalysisThreads | undefined;
  readonly stored: readonly StoredEvents[];
};

/** Members of the daemon's statistics that tell of the way of events. */
export function pipelineStatistics(parts: PipelineStatisticsParts) {
  const { analysis, recorder, threads, stored } = parts;
  return {
    events: eventStatistics(parts),
    journal: journalStatistics(parts),
    remembered: {
      agents: analysis.engine.state.agents.size,
      forgotten_agents: analysis.engine.state.agents.forgotten,
      log_bytes: recorder.bytes,
    },
    threads: {
      count: threads?.count ?? 1,
      pending: threads?.pending ?? 0,
      questions: threads?.questions ?? 0,
    },
    stored: Object.fromEntries(
      stored.map(({ name, counters, stored: position }) => [name, { ...counters, position: position ?? null }]),
    ),
  };
}

function eventStatistics({ now, counters, pending, intake, analyzer }: PipelineStatisticsParts) {
  const { recordTime } = analyzer;
  return {
    journaled: intake.journaled,
    analysed: analyzer.analysed,
    replayed: analyzer.replayed,
    alerts: counters.alertsWritten,
    duplicates: counters.duplicates,
    pending,
    lag: {
      events: pending,
      seconds: recordTime === undefined || pending === 0 ? 0 : Math.max(0, (now - recordTime) / 1000),
    },
  };
}

function journalStatistics({ now, journal, journalConfig, intake, analyzer, checkpointer }: PipelineStatisticsParts) {
  const { bytes, segments, syncs } = journal.counters;
  const { position, savedAt, failure } = checkpointer;
  return {
    start: journal.start,
    end: journal.end,
    durable: journal.durable,
    bytes,
    max_bytes: journalConfig.max_size,
    segments,
    syncs,
    sync: journalConfig.sync,
    blocked: intake.blocked ?? (position === undefined ? failure : undefined) ?? null,
    outputs_blocked: analyzer.blocked ?? null,
    checkpoint: {
      position: position ?? null,
      age_seconds: savedAt === undefined ? null : Math.max(0, (now - savedAt) / 1000),
    },
  };
}
