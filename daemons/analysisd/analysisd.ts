import { existsSync } from 'node:fs';
import type { Contract } from '../../lib/bus/contract.js';
import { analysisdContract } from '../../lib/bus/contracts/analysisd.js';
import { clusterdContract } from '../../lib/bus/contracts/clusterd.js';
import { dbContract } from '../../lib/bus/contracts/db.js';
import { modulesdContract } from '../../lib/bus/contracts/modulesd.js';
import { remotedContract } from '../../lib/bus/contracts/remoted.js';
import { EventSink } from '../../lib/bus/event-sink.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import type { DaemonParts } from '../../lib/daemon/daemon-parts.js';
import { type BuildContext, defineDaemon } from '../../lib/daemon/define-daemon.js';
import { StateFile } from '../../lib/daemon/state-file.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import { ALERT_FILES, type DatedName } from '../../lib/output/dated-files.js';
import { RecordStream } from '../../lib/output/record-stream.js';
import { activeConfiguration } from './active-configuration.js';
import { analysisdHandlers } from './analysisd-handlers.js';
import { SETTINGS } from './analysisd-settings.js';
import { AnalysisdStatistics } from './analysisd-statistics.js';
import { writeArConf } from './ar-conf.js';
import { isInCluster, settleClusterRuleset } from './cluster-ruleset.js';
import { Counters } from './counters.js';
import { DumpRequests } from './dump-requests.js';
import { EngineDiagnostics } from './engine-diagnostics.js';
import { EpsLimiter } from './eps-limiter.js';
import { ExhaustedReport } from './exhausted-report.js';
import { LogtestDiffs } from './logtest-diffs.js';
import { LogtestService } from './logtest-service.js';
import { eventStores } from './pipeline/event-stores.js';
import { Pipeline } from './pipeline/pipeline.js';
import { RecordReader } from './record-reader.js';
import { RemovedAgentsFeed } from './removed-agents-feed.js';
import { removeOldResponses, responseFiles } from './responses/old-responses.js';
import { loadSettings, logWarnings, type Settings } from './settings.js';
import { isWarmUpWanted, warmUpInTurns } from './warm-up.js';

const TICK_MS = 1000;
/** Budgets exceeded are reported once a minute. */
const REPORT_MS = 60_000;
const REMOVAL_MS = 3_600_000;
/** When the code is warmed up if no event has come by then: others start meanwhile. */
const WARM_UP_MS = 1000;

const now = (): number => Date.now();

type AnalysisdContext = BuildContext<typeof analysisdContract, Settings, void>;

/** svc-analysisd: events in, alerts out; answers about rules, logtest and statistics. */
export const ANALYSISD = defineDaemon({
  contract: analysisdContract,
  settings: SETTINGS,
  async build(context, parts) {
    const { home, logger, settings, fatal, requests } = context;
    const { config, outputs } = settings.started;
    warnWithoutAlerts(settings.started, logger);
    const limiter = epsLimiter(settings.started, logger);
    const counters = new Counters(now());
    /** What is removed when all has ended; a start that fails leaves it as it was. */
    const leftovers = parts.together();
    const { db, alerts, responses, dumps, pipeline } = await openPipeline(context, parts, counters, limiter);
    const { configuration } = pipeline;
    const logtest = logtestOf(context, pipeline);
    const takeOver = async (next: Settings, diagnostics: EngineDiagnostics): Promise<readonly string[]> => {
      const warnings = await pipeline.reload(next, diagnostics);
      writeArConf(home, next.config['active-response'].responses, logger);
      logtest.share(configuration.loaded, configuration.loadWarnings);
      return warnings;
    };
    const settle = settlingOf(context, parts);
    const sink = new EventSink({
      path: home.eventsSocket(),
      positions: pipeline.positions,
      logger,
      onBatch: (batch) => pipeline.take(batch),
    });
    const statistics = new AnalysisdStatistics({ counters, limiter, pipeline, sink, dumps, now });
    const server = requests({
      stats: (calls) => statistics.stats(calls),
      // The settings of the skeleton do not follow `ruleset.reload`.
      sections: activeConfiguration(() => configuration.settings),
      handlers: analysisdHandlers({
        logtest,
        configuration,
        statistics,
        alerts: outputs.alertsJson ? alerts : undefined,
        responses,
        reload: (diagnostics) => settle().then(() => takeOver(readAgain(context), diagnostics)),
        takeInForce: (diagnostics) => takeOver(readAgain(context), diagnostics),
        logger,
      }),
    });

    writeArConf(home, config['active-response'].responses, logger);
    await pipeline.start(fatal);
    parts.use(pipeline);
    await followRemovals(context, parts, db, pipeline);
    const front = parts.together();
    await front.start(logtest);
    await front.start(sink);
    await front.start(server);
    const stateFile = new StateFile(home.path('var', 'run', 'wazuh-analysisd.state'), (problem) => {
      logger.warn(problem);
    });
    leftovers.defer(() => {
      stateFile.remove();
    });
    removeResponses(context, parts);
    repeat(context, parts, pipeline, () => {
      stateFile.write(statistics.stateText());
    });

    return {
      addresses: {
        requests: { protocol: 'ipc', address: home.socket('svc-analysisd') },
        events: { protocol: 'ipc', address: home.eventsSocket() },
      },
      async apply(next) {
        await settle();
        await takeOver(next, new EngineDiagnostics(logger));
      },
    };
  },
});

function readAgain({ home, logger }: AnalysisdContext): Settings {
  const settings = loadSettings(home);
  logWarnings(settings, logger);
  return settings;
}

/** What a reload does before it reads the ruleset: nothing without a cluster. */
function settlingOf({ home, settings, logger }: AnalysisdContext, parts: DaemonParts): () => Promise<void> {
  if (!isInCluster(settings.started)) return () => Promise.resolve();
  const clusterd = parts.use(new RequestClient({ contract: clusterdContract, path: home.socket('svc-clusterd') }));
  return () => settleClusterRuleset(clusterd, logger);
}

function warnWithoutAlerts({ outputs }: Settings, logger: Logger): void {
  if (outputs.alertsText || outputs.alertsJson) return;
  logger.warn("All alert formats are disabled. Mail reporting, Syslog client and Integrator won't work properly.");
}

/** Undefined when events are analysed as fast as they come. */
function epsLimiter({ config }: Settings, logger: Logger): EpsLimiter | undefined {
  const { maximum, timeframe } = config.global.limits.eps;
  if (maximum === 0) {
    logger.info('EPS limit disabled');
    return undefined;
  }
  logger.info(`EPS limit enabled, EPS: '${maximum}', timeframe: '${timeframe}'`);
  return new EpsLimiter(maximum, timeframe, Math.floor(now() / 1000));
}

/**
 * The way of events, not begun yet, with those it tells: readers of alerts, svc-db, which stores what agents tell, and
 * agents whose results of policies lack.
 */
async function openPipeline(
  { home, logger, settings, problems }: AnalysisdContext,
  parts: DaemonParts,
  counters: Counters,
  limiter: EpsLimiter | undefined,
): Promise<{
  readonly db: RequestClient<typeof dbContract>;
  readonly alerts: RecordReader;
  readonly responses: RecordReader;
  readonly dumps: DumpRequests;
  readonly pipeline: Pipeline;
}> {
  const reader = (files: DatedName, what: string): RecordReader =>
    parts.use(
      new RecordReader(
        new RecordStream(files, (message) => {
          logger.warn(`${what}: ${message}.`);
        }),
      ),
    );
  const alerts = reader({ directory: home.path('logs', 'alerts'), ...ALERT_FILES }, 'Alert stream');
  const responses = reader(responseFiles(home), 'Stream of responses');
  const client = <C extends Contract>(contract: C): RequestClient<C> =>
    parts.use(new RequestClient({ contract, path: home.socket(contract.daemon) }));
  const db = client(dbContract);
  const dumps = parts.use(
    new DumpRequests({ remoted: client(remotedContract), modulesd: client(modulesdContract), logger }),
  );
  let warm: Promise<unknown> | undefined;
  const ready = (): Promise<unknown> => (warm ??= isWarmUpWanted() ? warmUpInTurns() : Promise.resolve());
  parts.adopt(setTimeout(ready, WARM_UP_MS), clearTimeout);
  const pipeline = await Pipeline.open({
    ready,
    home,
    logger,
    setProblem: problems.of('ruleset'),
    settings: settings.started,
    counters,
    epsLimiter: limiter,
    now,
    onWritten: () => {
      alerts.wake();
      responses.wake();
    },
    stores: eventStores(db, (order) => {
      dumps.order(order);
    }),
  });
  pipeline.analysis.onDumpRequest = (agent, policyId, isFirst) => {
    // What is analysed once more after a start was asked for before it. The engine has byte strings.
    if (!pipeline.replaying) dumps.ask('engine', agent, Buffer.from(policyId, 'latin1').toString('utf8'), isFirst);
  };
  return { db, alerts, responses, dumps, pipeline };
}

async function followRemovals(
  { home, logger, fatal }: AnalysisdContext,
  parts: DaemonParts,
  db: RequestClient<typeof dbContract>,
  pipeline: Pipeline,
): Promise<void> {
  const removed = new RemovedAgentsFeed({ db, pipeline, logger });
  // Events of one that came in the place of a removed one may wait for the sink.
  if (existsSync(home.socket('svc-db'))) await removed.catchUp();
  removed.start(fatal);
  parts.defer(() => removed.stop());
}

/** Sessions on the ruleset on disk; they share the logs of `check_diff` with the engine. */
function logtestOf(context: AnalysisdContext, pipeline: Pipeline): LogtestService {
  const { analysis, configuration } = pipeline;
  const diffs = new LogtestDiffs(analysis.diffs, (stored) => pipeline.storeLog(stored));
  analysis.onStoredLog = (stored) => {
    diffs.reached(stored);
  };
  const logtest = new LogtestService(context, context.settings.started, diffs);
  logtest.share(configuration.loaded, configuration.loadWarnings);
  return logtest;
}

/** What is done from time to time. */
function repeat(
  { logger, settings, fatal }: AnalysisdContext,
  parts: DaemonParts,
  pipeline: Pipeline,
  writeState: () => void,
): void {
  const { analysis } = pipeline;
  const exhausted = new ExhaustedReport(logger);
  parts.every(TICK_MS, () => void pipeline.tick().catch(fatal));
  parts.every(REPORT_MS, () => {
    exhausted.report(analysis.engine.state.exhausted);
    analysis.report();
  });
  const seconds = settings.started.options.get('analysisd.state_interval');
  if (seconds === 0) logger.info('State file is disabled.');
  else parts.every(seconds * 1000, writeState);
}

/** What was decided is kept for svc-execd a week, should it be away. */
function removeResponses({ home, logger }: AnalysisdContext, parts: DaemonParts): void {
  const log = logger.limited();
  const remove = (): void => {
    try {
      removeOldResponses(home, new Date(now()));
    } catch (error) {
      log.error(`Old files of responses could not be removed: ${describeError(error)}`);
    }
  };
  remove();
  parts.every(REMOVAL_MS, remove);
}
