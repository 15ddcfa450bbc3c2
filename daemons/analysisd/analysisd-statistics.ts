import type { CallResult } from '../../lib/bus/contract.js';
import type { analysisdContract } from '../../lib/bus/contracts/analysisd.js';
import type { EventSink } from '../../lib/bus/event-sink.js';
import type { RequestServerCounters } from '../../lib/bus/request-server.js';
import type { Counters } from './counters.js';
import type { DumpRequests } from './dump-requests.js';
import type { EpsLimiter } from './eps-limiter.js';
import { overBudget } from './exhausted-report.js';
import type { Pipeline } from './pipeline/pipeline.js';
import { stateFileText } from './state-file-text.js';
import { statisticsReport } from './statistics-report.js';

/** Events that may wait before the pipeline counts as full; reported as the size of every queue. */
const PIPELINE_SIZE = 16_384;

export type AnalysisdStatisticsParts = {
  readonly counters: Counters;
  readonly limiter: EpsLimiter | undefined;
  readonly pipeline: Pipeline;
  readonly sink: EventSink;
  readonly dumps: DumpRequests;
  /** Wall clock, epoch milliseconds. */
  readonly now: () => number;
};

/** What svc-analysisd tells of its work: as any daemon does, as the reference does, and in the state file. */
export class AnalysisdStatistics {
  readonly #parts: AnalysisdStatisticsParts;

  constructor(parts: AnalysisdStatisticsParts) {
    this.#parts = parts;
  }

  /** Counters in groups. @param requests those of the request socket */
  stats(requests: RequestServerCounters): Record<string, unknown> {
    const { counters, pipeline, sink, dumps } = this.#parts;
    const { engine } = pipeline.analysis;
    return {
      ...this.#flow(),
      written: {
        alerts: counters.alertsWritten,
        archives: counters.archivesWritten,
        firewall: counters.firewallWritten,
        responses: counters.responsesDecided,
      },
      requests: { ...requests },
      bus: { ...sink.counters },
      dump_requests: { ...dumps.counters },
      engine: {
        rules: engine.ruleset.rules.nodeCount,
        failures: engine.failures + counters.eventsFailed + counters.alertsFailed,
        over_budget: overBudget(engine.state.exhausted),
      },
    };
  }

  /** Answer of `getstats` (rules-and-alerts.md 11.4). */
  report(): Record<string, unknown> {
    const { counters, pipeline, limiter, now } = this.#parts;
    counters.ftsWritten = pipeline.analysis.ftsWritten;
    const { events, journal, threads } = this.#flow();
    return statisticsReport(counters, pipeline.pending, PIPELINE_SIZE, limiter, now(), {
      pipeline: events,
      journal,
      threads,
    });
  }

  /** What came of the events of agents. */
  agents(ids: readonly string[]): CallResult<typeof analysisdContract, 'statistics.agents'> {
    const { counters, now } = this.#parts;
    return {
      timestamp: Math.floor(now() / 1000),
      uptime: Math.floor(counters.startedAt / 1000),
      agents: ids.map((id) => ({ id, metrics: counters.agents.metrics(id) })),
    };
  }

  /** Text of the state file (rules-and-alerts.md 11.3). */
  stateText(): string {
    const { counters, pipeline } = this.#parts;
    counters.ftsWritten = pipeline.analysis.ftsWritten;
    return stateFileText(counters, Math.min(1, pipeline.pending / PIPELINE_SIZE), PIPELINE_SIZE);
  }

  /** Events from the sink to their alerts, and the journal between. */
  #flow() {
    const { counters, pipeline, sink } = this.#parts;
    const { events, journal, threads, stored } = pipeline.stats();
    const { duplicates } = sink.counters;
    return {
      events: {
        received: events.journaled + duplicates,
        ...events,
        duplicates: duplicates + events.duplicates,
        dropped: { undecodable: counters.eventsDropped, unwritable: counters.alertsFailed },
      },
      journal,
      threads,
      ...stored,
    };
  }
}
