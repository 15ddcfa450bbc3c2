import { BusError } from '../../lib/bus/bus-error.js';
import { analysisdContract } from '../../lib/bus/contracts/analysisd.js';
import { commonHandlers } from '../../lib/bus/contracts/common.js';
import { dbContract } from '../../lib/bus/contracts/db.js';
import { EventSink } from '../../lib/bus/event-sink.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { RequestServer } from '../../lib/bus/request-server.js';
import type { GlobalConfig } from '../../lib/config/sections/global.js';
import type { DaemonContext, DaemonSpec, RunningDaemon } from '../../lib/daemon/daemon-spec.js';
import { AlertStream } from '../../lib/output/alert-stream.js';
import { activeConfiguration } from './active-configuration.js';
import { AlertReader } from './alert-reader.js';
import { writeArConf } from './ar-conf.js';
import { check } from './check.js';
import { Counters } from './counters.js';
import { EngineDiagnostics } from './engine-diagnostics.js';
import { EpsLimiter } from './eps-limiter.js';
import { ExhaustedReport } from './exhausted-report.js';
import { listLoadedRules } from './list-loaded-rules.js';
import { LogtestDiffs } from './logtest-diffs.js';
import { LogtestService } from './logtest-service.js';
import { Pipeline } from './pipeline/pipeline.js';
import { loadSettings, type Settings } from './settings.js';
import { removeStateFile, stateFileText, writeStateFile } from './state-file.js';
import { statisticsReport } from './statistics-report.js';

const TICK_MS = 1000;
/** Budgets exceeded are reported once a minute. */
const REPORT_MS = 60_000;
/** Events that may wait before the pipeline counts as full; reported as the size of every queue. */
const PIPELINE_SIZE = 16_384;

/** svc-analysisd: events in, alerts out; answers about rules, logtest and statistics. */
export const ANALYSISD: DaemonSpec = {
  name: 'svc-analysisd',
  check,
  build: buildAnalysisd,
};

async function buildAnalysisd(context: DaemonContext): Promise<RunningDaemon> {
  const { home, logger } = context;
  const now = (): number => Date.now();
  const settings = loadSettings(home, logger);
  const { global } = settings.config;
  if (!global.alerts_log && !global.jsonout_output) {
    logger.warn("All alert formats are disabled. Mail reporting, Syslog client and Integrator won't work properly.");
  }
  const { maximum, timeframe } = global.limits.eps;
  logger.info(
    maximum > 0
      ? `EPS limit enabled, EPS: '${String(maximum)}', timeframe: '${String(timeframe)}'`
      : 'EPS limit disabled',
  );
  const limiter = maximum > 0 ? new EpsLimiter(maximum, timeframe, Math.floor(now() / 1000)) : undefined;

  const counters = new Counters(now());
  const alerts = new AlertReader(
    new AlertStream(home.path('logs', 'alerts'), (message) => {
      logger.warn(`Alert stream: ${message}.`);
    }),
  );
  const db = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
  const pipeline = await Pipeline.open({
    ...context,
    settings,
    counters,
    epsLimiter: limiter,
    now,
    onWritten: () => {
      alerts.wake();
    },
    files: db,
  });
  const { analysis, configuration } = pipeline;
  const diffs = new LogtestDiffs(analysis.diffs, (stored) => pipeline.storeLog(stored));
  analysis.onStoredLog = (stored) => {
    diffs.reached(stored);
  };
  const logtest = new LogtestService(context, settings, diffs);
  logtest.share(configuration.loaded, configuration.loadWarnings);
  const reload = async (diagnostics = new EngineDiagnostics(logger)): Promise<readonly string[]> => {
    const next = loadSettings(home, logger);
    const warnings = await pipeline.reload(next, diagnostics);
    writeArConf(home, next.config['active-response'].responses, logger);
    logtest.share(configuration.loaded, configuration.loadWarnings);
    return warnings;
  };

  const sink = new EventSink({
    path: home.eventsSocket(),
    positions: pipeline.positions,
    logger,
    onBatch: (batch) => pipeline.take(batch),
  });
  const server = new RequestServer({
    contract: analysisdContract,
    path: home.socket('svc-analysisd'),
    logger,
    handlers: {
      ...commonHandlers('svc-analysisd', {
        stats: () => stats(),
        sections: activeConfiguration(() => configuration.settings),
        reload: context.reload,
      }),
      'logtest.run': (params) => logtest.run(params),
      'logtest.close': (params) => logtest.close(params),
      'rules.list': () => ({ rules: listLoadedRules(configuration.loaded.sources) }),
      'ruleset.check': () => ({ errors: [...logtest.check()] }),
      'ruleset.reload': async () => {
        const diagnostics = new EngineDiagnostics(logger);
        try {
          return { error: 0 as const, data: [...(await reload(diagnostics))] };
        } catch (error) {
          const reason = error instanceof Error ? error.message : String(error);
          logger.error(`The ruleset was not reloaded, the one in force stays: ${reason}`);
          return { error: 1 as const, data: diagnostics.errors.length > 0 ? [...diagnostics.errors] : [reason] };
        }
      },
      'statistics.read': () => {
        counters.ftsWritten = analysis.ftsWritten;
        const { events, journal } = flow();
        return statisticsReport(counters, pipeline.pending, PIPELINE_SIZE, limiter, now(), {
          pipeline: events,
          journal,
        });
      },
      'alerts.read': async ({ after, max, waitMs }) => {
        if (!settings.outputs.alertsJson) {
          throw new BusError('disabled', 'alerts.json is switched off (jsonout_output)');
        }
        const page = await alerts.read(after, max, waitMs);
        return { alerts: [...page.alerts], next: page.next };
      },
    },
  });
  /** Events from the sink to their alerts, and the journal between. */
  const flow = () => {
    const { events, journal, files } = pipeline.stats();
    const { duplicates } = sink.counters;
    return {
      events: {
        received: events.journaled + duplicates,
        ...events,
        duplicates: duplicates + events.duplicates,
        dropped: { undecodable: counters.eventsDropped, unwritable: counters.alertsFailed },
      },
      journal,
      files,
    };
  };
  const stats = (): Record<string, unknown> => ({
    ...flow(),
    written: { alerts: counters.alertsWritten, archives: counters.archivesWritten, firewall: counters.firewallWritten },
    requests: { ...server.counters },
    bus: { ...sink.counters },
    engine: {
      rules: analysis.engine.ruleset.rules.nodeCount,
      failures: analysis.engine.failures + counters.alertsFailed,
    },
  });

  writeArConf(home, settings.config['active-response'].responses, logger);
  await pipeline.start(context.fatal);
  await logtest.start();
  await sink.start();
  await server.start();

  const exhausted = new ExhaustedReport(logger);
  const stateFile = home.path('var', 'run', 'wazuh-analysisd.state');
  const stateInterval = settings.options.get('analysisd.state_interval');
  if (stateInterval === 0) logger.info('State file is disabled.');
  const writeState = (): void => {
    counters.ftsWritten = analysis.ftsWritten;
    try {
      writeStateFile(stateFile, stateFileText(counters, Math.min(1, pipeline.pending / PIPELINE_SIZE), PIPELINE_SIZE));
    } catch (error) {
      logger.warn(`The state file cannot be written: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const timers = [
    setInterval(() => void pipeline.tick().catch(context.fatal), TICK_MS),
    setInterval(() => {
      exhausted.report(analysis.engine.state.exhausted);
      analysis.report();
    }, REPORT_MS),
    ...(stateInterval > 0 ? [setInterval(writeState, stateInterval * 1000)] : []),
  ];

  return {
    addresses: {
      requests: { protocol: 'ipc', address: home.socket('svc-analysisd') },
      events: { protocol: 'ipc', address: home.eventsSocket() },
    },
    async reload() {
      await reload();
      return changedSections(settings, configuration.settings);
    },
    async stop() {
      for (const timer of timers) clearInterval(timer);
      await Promise.all([sink.stop(), logtest.stop(), server.stop()]);
      await pipeline.stop();
      db.close();
      alerts.close();
      removeStateFile(stateFile);
    },
  };
}

/** Internal options that are read at start only. */
const START_OPTIONS = [
  'analysisd.fts_list_size',
  'analysisd.fts_min_size_for_str',
  'analysisd.stats_maxdiff',
  'analysisd.stats_mindiff',
  'analysisd.stats_percent_diff',
  'analysisd.min_rotate_interval',
  'analysisd.state_interval',
] as const;

/**
 * Elements of `<global>` that are read at start only. The others are for other daemons or have no effect, and
 * `memory_size` comes with the ruleset.
 */
const START_GLOBAL = [
  'jsonout_output',
  'alerts_log',
  'logall',
  'logall_json',
  'rotate_interval',
  'max_output_size',
  'custom_alert_output',
  'stats',
  'limits',
] as const satisfies readonly (keyof GlobalConfig)[];

/** What of the configuration is another one than at the start and has not taken effect by a reload. */
function changedSections(started: Settings, now: Settings): string[] {
  const differs = (part: ({ config }: Settings) => unknown): boolean =>
    JSON.stringify(part(started)) !== JSON.stringify(part(now));
  const global = differs(({ config }) => START_GLOBAL.map((name) => config.global[name])) ? ['global'] : [];
  const sections = (['rule_test', 'journal'] as const).filter((section) => differs(({ config }) => config[section]));
  const options = START_OPTIONS.filter((name) => started.options.get(name) !== now.options.get(name));
  return [...global, ...sections, ...options];
}
