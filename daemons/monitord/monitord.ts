import { authdContract } from '../../lib/bus/contracts/authd.js';
import { clusterdContract } from '../../lib/bus/contracts/clusterd.js';
import { dbContract } from '../../lib/bus/contracts/db.js';
import { monitordContract } from '../../lib/bus/contracts/monitord.js';
import { EventProducer } from '../../lib/bus/event-producer.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { type DaemonParts, within } from '../../lib/daemon/daemon-parts.js';
import type { SettingsInForce } from '../../lib/daemon/daemon-settings.js';
import { defineDaemon } from '../../lib/daemon/define-daemon.js';
import { reportTimes } from '../../lib/daemon/report-times.js';
import { QUEUE_IDS } from '../../lib/events/queue-ids.js';
import type { Home } from '../../lib/home/home.js';
import type { Logger } from '../../lib/log/logger.js';
import { AlertFeed } from '../../lib/output/alert-feed.js';
import { ALERT_FILES, ARCHIVE_FILES, type DatedName } from '../../lib/output/dated-files.js';
import { RecordStream } from '../../lib/output/record-stream.js';
import { HOST_CLOCK } from '../../lib/rotation/clock.js';
import { LogMaintenance } from '../../lib/rotation/log-maintenance.js';
import {
  INTEGRATIONS_LOG,
  LogRotation,
  type LogRotationParts,
  MANAGER_LOG,
  REJECTED_LOG,
  RESPONSES_LOG,
} from '../../lib/rotation/log-rotation.js';
import { Retention } from '../../lib/rotation/retention.js';
import { ALERTS, ARCHIVES } from '../../lib/rotation/rotation-settings.js';
import type { LocalDay } from '../../lib/time/local-day.js';
import { AgentWatch } from './agent-watch.js';
import { monitordHandlers } from './monitord-handlers.js';
import { agentWatchSettings, type MonitordSettings, SETTINGS } from './monitord-settings.js';
import { OutputSums } from './output-sums.js';
import { AlertOutputs, type StreamName } from './outputs/alert-outputs.js';
import { ClusterOutputs } from './outputs/cluster/cluster-outputs.js';
import { mailTransport } from './outputs/mail/mail-output.js';
import { neededAlerts } from './outputs/needed-alerts.js';
import { outputDefinitions } from './outputs/output-definitions.js';
import { SharedOutputStore } from './outputs/shared-output-store.js';
import { StatesOutput } from './outputs/states/states-output.js';
import { statesSettings } from './outputs/states/states-settings.js';
import { DailyReports, earlierDay } from './reports/daily-reports.js';
import { reportPlan } from './reports/report-plan.js';

/** The event the stock rules know as the start of the manager (rule 502; daemons-and-config.md 4.1). */
const STARTED_EVENT = 'ossec: Manager started.';
const STARTED_LOCATION = 'wazuh-monitord';
/** How long a start, or a reload, waits for the outputs to begin: a delivery under way may hold those that change up. */
const OUTPUTS_BEGIN_MS = 5000;

/**
 * svc-monitord: reports the state of the daemons, the configuration and the manager's log, looks after log files at night,
 * and sees which agents are no longer heard.
 */
export const MONITORD = defineDaemon({
  contract: monitordContract,
  settings: SETTINGS,
  async build({ home, logger, settings, fatal, requests }, parts) {
    const startedAt = Date.now();
    const store = parts.use(new SharedOutputStore({ directory: home.path('queue', 'outputs'), logger, fatal }));
    // What has a part in the store ends before it.
    const ends = parts.together();
    const db = parts.use(new RequestClient({ contract: dbContract, path: home.socket('svc-db') }));
    const authd = parts.use(new RequestClient({ contract: authdContract, path: home.socket('svc-authd') }));
    // It calls svc-db until it ends.
    const states = parts.use(new StatesOutput({ db, store, home, logger }));
    // Before the clients are closed, and those before the group: a call under way would otherwise be waited for.
    const stopped = parts.adopt(new AbortController(), (controller) => {
      controller.abort();
    });

    const events = ends.use(new EventProducer({ path: home.eventsSocket(), daemon: 'svc-monitord', logger }));
    const watch = new AgentWatch({
      db,
      authd,
      send: (event) => events.room > 0 && events.trySend(event),
      clock: HOST_CLOCK,
      logger,
      settings: () => agentWatchSettings(settings.current),
    });
    const cluster = clusterOutputs(home, logger, settings.started, parts);
    const feeds = alertFeeds(home, logger, parts);
    const outputs = ends.use(new AlertOutputs({ feeds, store, cluster, logger }));
    const reports = dailyReports(home, logger, settings, store);
    const readers = { outputs, reports, states };
    const maintenance = logMaintenance({ home, logger, signal: stopped.signal }, settings, readers);
    await ends.start(
      requests({
        stats: (counters) => ({
          requests: { ...counters },
          events: events.stats(),
          agents: { disconnected: watch.remembered },
          outputs: { ...outputs.stats(), ...states.stats() },
          reports: reports.stats(),
        }),
        handlers: {
          ...monitordHandlers(home, logger, () => HOST_CLOCK.now()),
          'statistics.read': () => statistics(startedAt, readers),
        },
      }),
    );

    events.start();
    events.trySend({
      queue: QUEUE_IDS.log,
      location: STARTED_LOCATION,
      message: Buffer.from(STARTED_EVENT),
      receivedAt: HOST_CLOCK.now().getTime(),
    });
    const working = Promise.all([
      maintenance.run(),
      watch.run(stopped.signal),
      reports.run(stopped.signal),
      cluster?.run(stopped.signal),
    ]);
    ends.defer(() => working);

    const followOutputs = followerOf(home, logger, readers);
    await followOutputs(settings.current);
    return { apply: followOutputs };
  },
});

/** What hands on what others have written. */
type Readers = { readonly outputs: AlertOutputs; readonly reports: DailyReports; readonly states: StatesOutput };

/** Where outputs hand on the alerts of all nodes; undefined: those of this node. */
function clusterOutputs(
  home: Home,
  logger: Logger,
  { sharedAlerts }: MonitordSettings,
  parts: DaemonParts,
): ClusterOutputs | undefined {
  if (!sharedAlerts) return undefined;
  const clusterd = parts.use(new RequestClient({ contract: clusterdContract, path: home.socket('svc-clusterd') }));
  return new ClusterOutputs({ clusterd, logger });
}

const STREAMS: Readonly<Record<string, StreamName>> = { [ALERTS]: 'alerts', [ARCHIVES]: 'archives' };

/** The streams that outputs read. */
function alertFeeds(home: Home, logger: Logger, parts: DaemonParts): Record<StreamName, AlertFeed> {
  const skipped = logger.limited();
  const feed = (directory: StreamName, files: Pick<DatedName, 'stem' | 'extension'>): AlertFeed => {
    const stream = new RecordStream({ directory: home.path('logs', directory), ...files }, (message) =>
      skipped.error(message),
    );
    return new AlertFeed({
      stream: parts.use(stream),
      liveFile: home.path('logs', directory, `${directory}.json`),
      log: logger.limited(),
    });
  };
  return { alerts: feed('alerts', ALERT_FILES), archives: feed('archives', ARCHIVE_FILES) };
}

function dailyReports(
  home: Home,
  logger: Logger,
  settings: SettingsInForce<MonitordSettings>,
  store: SharedOutputStore,
): DailyReports {
  return new DailyReports({
    home,
    logger,
    clock: HOST_CLOCK,
    store,
    dayWait: () => settings.current.maintenance.dayWait,
    send: (server, mail, signal) => mailTransport(server, logger).send(mail, signal),
  });
}

/** Has what reads alerts and inventories follow the settings; resolves when new outputs have begun, as a rule. */
function followerOf(
  home: Home,
  logger: Logger,
  { outputs, reports, states }: Readers,
): (now: MonitordSettings) => Promise<void> {
  return async ({ config, options }) => {
    const debugIntegrations = options.get('integrator.debug') > 0;
    const mail = {
      grouping: options.get('maild.grouping') === 1,
      fullSubject: options.get('maild.full_subject') === 1,
    };
    reports.follow(reportPlan(config, home));
    states.follow(statesSettings(config));
    // Who sees that it runs, or has reloaded, may count on it that what is alerted then goes out.
    await within(
      OUTPUTS_BEGIN_MS,
      outputs.follow(outputDefinitions(config, { home, logger, debugIntegrations, mail })),
    );
  };
}

/** What became of alerts (daemons-and-config.md 11.3). */
function statistics(startedAt: number, { outputs, reports, states }: Readers): Record<string, unknown> {
  const metrics = { outputs: [...outputs.report(), ...states.report()], reports: reports.stats() };
  return { ...reportTimes(startedAt), metrics };
}

/** The look after the logs of the home; alerts and archives that outputs and reports have yet to read are kept. */
function logMaintenance(
  { home, logger, signal }: Pick<LogRotationParts, 'home' | 'logger' | 'signal'>,
  settings: SettingsInForce<MonitordSettings>,
  { outputs, reports }: Readers,
): LogMaintenance {
  const clock = HOST_CLOCK;
  const neededDay = (stream: StreamName | undefined): LocalDay | 'all' | undefined => {
    if (stream === undefined) return undefined;
    const ofOutputs = neededAlerts(outputs.neededFiles(stream));
    return ofOutputs === 'all' || stream !== 'alerts' ? ofOutputs : earlierDay(ofOutputs, reports.neededDay);
  };
  return new LogMaintenance({
    clock,
    logger,
    logs: [MANAGER_LOG, RESPONSES_LOG, INTEGRATIONS_LOG, REJECTED_LOG].map(
      (log) => new LogRotation({ home, logger, clock, signal }, log),
    ),
    retention: new Retention(
      home,
      logger,
      () => settings.current.retention,
      (what) => neededDay(STREAMS[what]),
    ),
    outputs: new OutputSums(home, signal),
    settings: () => settings.current.maintenance,
    signal,
  });
}
