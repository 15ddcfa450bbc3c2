import { ClientKeysFile } from '../../lib/agentlink/client-keys-file.js';
import { pause } from '../../lib/async/pause.js';
import { clusterdContract } from '../../lib/bus/contracts/clusterd.js';
import { dbContract } from '../../lib/bus/contracts/db.js';
import { modulesdContract } from '../../lib/bus/contracts/modulesd.js';
import { remotedContract } from '../../lib/bus/contracts/remoted.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { Singleton } from '../../lib/cluster/singleton.js';
import type { DaemonParts } from '../../lib/daemon/daemon-parts.js';
import type { BoundAddress } from '../../lib/daemon/daemon-spec.js';
import { type BuildContext, defineDaemon } from '../../lib/daemon/define-daemon.js';
import { StateFile } from '../../lib/daemon/state-file.js';
import type { Home } from '../../lib/home/home.js';
import type { Logger } from '../../lib/log/logger.js';
import { agentCrypto } from './agent-crypto.js';
import { agentTraffic } from './agent-traffic.js';
import { FloodGuard } from './flood-guard.js';
import { GroupFiles } from './group-files.js';
import { KeyWatcher } from './key-watcher.js';
import { RequestTable } from './link/request-table.js';
import type { RemotedBase } from './remoted-base.js';
import { RemotedCounters } from './remoted-counters.js';
import { remotedHandlers } from './remoted-handlers.js';
import { isClustered, type RemotedSettings, SETTINGS } from './remoted-settings.js';
import { remotedStateText, type StatisticsSources } from './remoted-statistics.js';
import { StatusWriter } from './status-writer.js';
import { syslogTraffic } from './syslog/syslog-traffic.js';

/** How long a stop may wait for the acknowledgement of events and for agents' states. */
const DRAIN_MS = 1500;
const SECOND_MS = 1000;
const STATE_FILE = 'svc-remoted.state';

/** svc-remoted: the agents' way into the manager, and the manager's way to them (agents-and-groups.md 3 to 5). */
export const REMOTED = defineDaemon({
  contract: remotedContract,
  settings: SETTINGS,
  ownFlags: [{ flags: '-m', description: 'do not make merged files of groups: read those that are there' }],
  async build(context, parts) {
    const { home, logger, settings, requests } = context;
    const { options, secure } = settings.started;
    const startedAt = Date.now();
    const made = makeParts(context, parts);
    const { counters, store, files, traffic, status, drain } = made;
    const keys = await parts.start(keyWatcher(home, logger, made));
    if (store.size === 0 && options.get('remoted.pass_empty_keyfile') === 0) {
      throw new Error('(1751): File client.keys not found or empty.');
    }
    const addresses = secure === undefined ? {} : await traffic.listeners.start(secure);
    const syslog = await made.syslog.start();
    const sources = statisticsSources(startedAt, made);
    await drain.start(
      requests({
        stats: (calls) => ({ requests: { ...calls }, ...daemonCounters(made) }),
        handlers: remotedHandlers({
          store,
          sender: made.sender,
          pushes: files.pushes,
          requests: made.table,
          keys,
          counters,
          statistics: sources,
          freshSince: () => Date.now() - settings.current.config.global.agents_disconnection_time * SECOND_MS,
          retryMs: options.get('remoted.send_timeout_to_retry') * SECOND_MS,
          sleep: made.sleep,
        }),
      }),
    );
    if (secure !== undefined) logger.info(listeningText(addresses));
    await files.start();
    traffic.producer.start();
    traffic.held.start();
    made.written(status.run(startedAt));
    const stateInterval = options.get('remoted.state_interval') * SECOND_MS;
    if (stateInterval > 0) {
      parts.every(stateInterval, () => {
        made.stateFile.write(remotedStateText(sources));
      });
    }
    return {
      addresses: { ...addresses, ...syslog, requests: { protocol: 'ipc', address: home.socket('svc-remoted') } },
    };
  },
});

type RemotedContext = BuildContext<typeof remotedContract, RemotedSettings, void>;
type RemotedParts = ReturnType<typeof makeParts>;

/** Makes the parts, from the one that stops last to the one that stops first; they begin in another order. */
function makeParts({ home, logger, settings, ownFlags }: RemotedContext, parts: DaemonParts) {
  const counters = new RemotedCounters();
  const log = new FloodGuard(logger);
  const base: RemotedBase = { home, logger, settings, counters, log };
  const stateFile = parts.adopt(
    new StateFile(home.path('var', 'run', STATE_FILE), (problem) => {
      log.log('error', problem);
    }),
    (file) => {
      file.remove();
    },
  );
  const crypto = agentCrypto(base, parts);
  const { store } = crypto;
  const db = parts.use(new RequestClient({ contract: dbContract, path: home.socket('svc-db') }));
  const modulesd = parts.use(new RequestClient({ contract: modulesdContract, path: home.socket('svc-modulesd') }));
  const singleton = singletonOf(home, settings.started, parts);
  const filesEnded = parts.waitPoint();
  const drain = parts.together();
  const written = drain.waitPoint({ withinMs: DRAIN_MS });
  const stopped = parts.adopt(new AbortController(), (controller) => {
    controller.abort();
  });
  const sleep = (milliseconds: number): Promise<void> => pause(milliseconds, stopped.signal);
  const mostWaiting = settings.started.options.get('remoted.control_msg_queue_size');
  const status = parts.use(
    new StatusWriter({ db, counters, logger, agents: () => store.agents, mostAgents: mostWaiting, sleep }),
  );
  const table = requestTable(settings.started);
  const files = new GroupFiles({ base, crypto, db, singleton, merge: ownFlags['m'] !== true, sleep });
  const { pushes } = files;
  const syslog = syslogTraffic(base, drain, DRAIN_MS, parts);
  const traffic = agentTraffic(
    { base, crypto, db, modulesd, requests: table, status, pushes, drain, drainMs: DRAIN_MS },
    parts,
  );
  parts.defer(() => {
    syslog.finish();
  });
  parts.defer(() => {
    written(pushes.stop());
  });
  parts.defer(() => {
    table.cancel();
  });
  parts.defer(() => {
    filesEnded(files.stop());
  });
  return { ...crypto, counters, stateFile, drain, written, sleep, mostWaiting, status, table, files, traffic, syslog };
}

/** Leave for what one node of a cluster does. */
function singletonOf(home: Home, settings: RemotedSettings, parts: DaemonParts): Singleton {
  if (!isClustered(settings)) return new Singleton(undefined);
  return new Singleton(parts.use(new RequestClient({ contract: clusterdContract, path: home.socket('svc-clusterd') })));
}

function keyWatcher(
  home: Home,
  logger: Logger,
  { store, counterFiles, counters, table, files, traffic }: RemotedParts,
): KeyWatcher {
  return new KeyWatcher({
    file: new ClientKeysFile(home.path('etc', 'client.keys')),
    store,
    counterFiles,
    counters,
    logger,
    removed: (agent) => {
      agent.state?.route?.close();
      table.cancel(agent.id);
      files.pushes.removed(agent);
    },
    read: () => traffic.late?.keysChanged(),
  });
}

/** Groups of `stats`, beside those of the request socket. */
function daemonCounters({ counters, store, files, status, traffic, syslog }: RemotedParts): Record<string, unknown> {
  const ofSyslog = syslog.stats();
  const { listeners, gate, producer, sync, upgrades, late } = traffic;
  return {
    events: producer.stats(),
    agents: { known: store.size, connections: listeners.tcpSessions, held: gate.heldCount, queued: gate.queued },
    connections: { ...counters.connections },
    messages: { received: { ...counters.received }, sent: { ...counters.sent } },
    shared: files.shared.stats(),
    downloads: files.downloads.stats(),
    pushes: files.pushes.stats(),
    states: { waiting: status.waiting, ...counters.mailbox },
    synchronisation: {
      ...{ waiting: sync.waiting, ...sync.counters },
      agents: { sending: sync.pace.active, orders_waiting: sync.pace.waiting, ...sync.pace.counters },
    },
    upgrades: { waiting: upgrades.waiting, ...upgrades.counters },
    ...(late === undefined ? {} : { late_keys: { waiting: late.size, ...late.counters } }),
    ...(ofSyslog === undefined ? {} : { syslog: ofSyslog }),
  };
}

function requestTable({ options }: RemotedSettings): RequestTable {
  return new RequestTable({
    most: options.get('remoted.request_pool'),
    ackTimeout: options.get('remoted.request_rto_sec') * SECOND_MS + options.get('remoted.request_rto_msec'),
    attempts: options.get('remoted.max_attempts'),
    responseTimeout: options.get('remoted.response_timeout') * SECOND_MS,
  });
}

function statisticsSources(
  startedAt: number,
  { counters, status, mostWaiting, traffic, syslog }: RemotedParts,
): StatisticsSources {
  const { listeners, gate, queueSize } = traffic;
  return {
    counters,
    startedAt,
    now: () => Date.now(),
    tcpSessions: () => listeners.tcpSessions,
    queued: () => gate.queued,
    queueSize,
    waiting: () => status.waiting,
    mostWaiting,
    syslog: syslog.counters,
  };
}

/** `Listening on port 1514/TCP,UDP (secure).` */
function listeningText(addresses: Readonly<Record<string, BoundAddress>>): string {
  const bound = Object.values(addresses);
  const names = bound.map(({ protocol }) => protocol.toUpperCase()).join(',');
  return `Listening on port ${String(bound[0]?.port)}/${names} (secure).`;
}
