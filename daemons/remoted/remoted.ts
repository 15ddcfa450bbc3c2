import { mkdirSync, rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { BlowfishCache } from '../../lib/agentlink/blowfish-cache.js';
import { ClientKeysFile } from '../../lib/agentlink/client-keys-file.js';
import { MessageOpener } from '../../lib/agentlink/message-opener.js';
import { MessageSealer } from '../../lib/agentlink/message-sealer.js';
import { SenderCounter } from '../../lib/agentlink/sender-counter.js';
import { commonHandlers } from '../../lib/bus/contracts/common.js';
import { dbContract } from '../../lib/bus/contracts/db.js';
import { remotedContract } from '../../lib/bus/contracts/remoted.js';
import { EventProducer } from '../../lib/bus/event-producer.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { RequestServer } from '../../lib/bus/request-server.js';
import type { BoundAddress, DaemonContext, DaemonSpec, RunningDaemon } from '../../lib/daemon/daemon-spec.js';
import { writeFileAtomically } from '../../lib/files/write-file-atomically.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { AgentLink } from './agent-link.js';
import { AgentMessages } from './agent-messages.js';
import { AgentSender } from './agent-sender.js';
import { check } from './check.js';
import { ControlMessages } from './control-messages.js';
import { GroupDownloads } from './downloads/group-downloads.js';
import { EventGate } from './event-gate.js';
import { FloodGuard } from './flood-guard.js';
import { HeldAgents } from './held-agents.js';
import { KeyWatcher } from './key-watcher.js';
import { CounterFiles } from './link/counter-files.js';
import { KeyStore } from './link/key-store.js';
import { MessageReceiver } from './link/message-receiver.js';
import { RequestTable } from './link/request-table.js';
import { Listeners } from './listeners.js';
import { confCheck } from './merge/conf-check.js';
import { SharedFiles } from './merge/shared-files.js';
import { ConfigurationPush } from './push/configuration-push.js';
import { RemotedCounters } from './remoted-counters.js';
import { remotedHandlers } from './remoted-handlers.js';
import {
  activeSections,
  downloadOptions,
  loadRemotedSettings,
  logWarnings,
  managerIdentity,
  type RemotedSettings,
} from './remoted-settings.js';
import { remotedStateText, remotedStatistics, type StatisticsSources } from './remoted-statistics.js';
import { StatusWriter } from './status-writer.js';
import { SyncRelay } from './sync-relay.js';

/** How long a stop reads what agents have sent before they hear of it: they end their connections at once when they do. */
const FINISH_MS = 2000;
/** How long it then may wait for the acknowledgement of events and for agents' states. */
const DRAIN_MS = 1500;
const SECOND_MS = 1000;
/** svc-db answers messages of the synchronisation by then: a check reads all of a large table. */
const SYNC_DEADLINE_MS = 30_000;
const STATE_FILE = 'svc-remoted.state';

/** svc-remoted: the agents' way into the manager, and the manager's way to them (agents-and-groups.md 3 to 5). */
export const REMOTED: DaemonSpec = {
  name: 'svc-remoted',
  ownFlags: [{ flags: '-m', description: 'do not make merged files of groups: read those that are there' }],
  check,
  build: buildRemoted,
};

async function buildRemoted(context: DaemonContext): Promise<RunningDaemon> {
  const { home, logger } = context;
  const started = loadRemotedSettings(home);
  let settings = started;
  logWarnings(settings, logger);
  const { options, secure } = settings;
  const option = (name: Parameters<typeof options.get>[0]): number => options.get(name);

  const startedAt = Date.now();
  const now = (): number => Date.now();
  const stopped = new AbortController();
  const sleep = async (milliseconds: number): Promise<void> => {
    await delay(milliseconds, undefined, { signal: stopped.signal }).catch(() => {});
  };
  const counters = new RemotedCounters();
  const log = new FloodGuard(logger);

  const rids = home.path('queue', 'rids');
  mkdirSync(rids, { recursive: true, mode: 0o770 });
  const ridsProblem = (error: unknown): void => {
    log.log('error', `Counters of messages cannot be kept in queue/rids: ${describeError(error)}`);
  };
  const senderCounter = new SenderCounter(home.path('queue', 'rids', 'sender_counter'), ridsProblem);
  const counterFiles = new CounterFiles(rids, ridsProblem, option('remoted.recv_counter_flush'));
  const schedules = new BlowfishCache();
  const store = new KeyStore<AgentLink>();
  const sender = new AgentSender(new MessageSealer(schedules), senderCounter, counters);
  const requests = new RequestTable({
    most: option('remoted.request_pool'),
    ackTimeout: option('remoted.request_rto_sec') * SECOND_MS + option('remoted.request_rto_msec'),
    attempts: option('remoted.max_attempts'),
    responseTimeout: option('remoted.response_timeout') * SECOND_MS,
  });

  const db = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
  const mostWaiting = option('remoted.control_msg_queue_size');
  const status = new StatusWriter({ db, counters, logger, agents: () => store.agents, mostAgents: mostWaiting, sleep });
  let sharing = false;
  const downloads = new GroupDownloads({
    home,
    logger,
    options: downloadOptions(settings),
    changed: async (group) => {
      // What is there before the shared files are looked at for the first time is seen then.
      if (sharing) await sharedFiles.refresh(group);
    },
  });
  const sharedFiles = new SharedFiles({
    home,
    logger,
    db,
    reloadMs: option('remoted.shared_reload') * SECOND_MS,
    merge: option('remoted.merge_shared') === 1 && context.ownFlags['m'] !== true,
    mergedElsewhere: (group) => downloads.ownsMerged(group),
    check: confCheck(),
  });
  const configuration = new ConfigurationPush({
    files: sharedFiles,
    db,
    schedules,
    senderCounter,
    counters,
    atOnce: option('remoted.sender_pool'),
    logger,
    log,
    sleep,
  });
  const control = new ControlMessages({
    sender,
    status,
    requests,
    configuration,
    counters,
    log,
    manager: managerIdentity(settings),
    allowHigherVersions: () => settings.secure?.agents.allow_higher_versions === true,
  });
  const producer = new EventProducer({ path: home.eventsSocket(), daemon: 'svc-remoted', logger });
  const queueSize = secure?.queue_size ?? 1;
  const gate = new EventGate(producer, queueSize, logger);
  const sync = new SyncRelay({
    call: (method, params) => db.call(method, params, { deadlineMs: SYNC_DEADLINE_MS }),
    send: (agent, payload) => {
      sender.send(agent, payload, 0);
    },
    logger,
  });
  const messages = new AgentMessages({
    receiver: new MessageReceiver({
      store,
      opener: new MessageOpener(schedules),
      counters: counterFiles,
      verify: option('remoted.verify_msg_id') === 1,
    }),
    control,
    gate,
    sync,
    counters,
    log,
    overtakeMs: () => (settings.secure?.connection_overtake_time ?? 0) * SECOND_MS,
    now,
  });
  const keys = new KeyWatcher({
    file: new ClientKeysFile(home.path('etc', 'client.keys')),
    store,
    counterFiles,
    counters,
    logger,
    removed: (agent) => {
      agent.state?.route?.close();
      requests.cancel(agent.id);
      configuration.removed(agent);
    },
  });
  const listeners = new Listeners({
    messages,
    counters,
    log,
    sendBuffer: option('remoted.send_buffer_size'),
    keepAliveMs: option('remoted.tcp_keepidle') * SECOND_MS,
    now: () => performance.now(),
  });
  const held = new HeldAgents(gate, sender);

  const sources: StatisticsSources = {
    counters,
    startedAt,
    now,
    tcpSessions: () => listeners.tcpSessions,
    queued: () => gate.queued,
    queueSize,
    waiting: () => status.waiting,
    mostWaiting,
  };
  const server = new RequestServer<typeof remotedContract>({
    contract: remotedContract,
    path: home.socket('svc-remoted'),
    logger,
    handlers: {
      ...commonHandlers('svc-remoted', {
        stats: (): Record<string, unknown> => ({
          requests: { ...server.counters },
          events: producer.stats(),
          agents: { known: store.size, connections: listeners.tcpSessions, held: gate.heldCount, queued: gate.queued },
          connections: { ...counters.connections },
          messages: { received: { ...counters.received }, sent: { ...counters.sent } },
          shared: sharedFiles.stats(),
          downloads: downloads.stats(),
          pushes: configuration.stats(),
          states: { waiting: status.waiting, ...counters.mailbox },
          synchronisation: { waiting: sync.waiting, ...sync.counters },
        }),
        sections: activeSections(() => settings),
        reload: context.reload,
      }),
      ...remotedHandlers({
        store,
        sender,
        pushes: configuration,
        requests,
        keys,
        counters,
        statistics: () => remotedStatistics(sources),
        freshSince: () => now() - settings.config.global.agents_disconnection_time * SECOND_MS,
        retryMs: option('remoted.send_timeout_to_retry') * SECOND_MS,
        sleep,
      }),
    },
  });

  await keys.start();
  if (store.size === 0 && option('remoted.pass_empty_keyfile') === 0) {
    throw new Error('(1751): File client.keys not found or empty.');
  }
  let addresses: Readonly<Record<string, BoundAddress>> = {};
  try {
    if (secure !== undefined) addresses = await listeners.start(secure);
    await server.start();
  } catch (error) {
    listeners.stop();
    throw error;
  }
  if (secure !== undefined) logger.info(listeningText(addresses));
  await downloads.start();
  await sharedFiles.start();
  sharing = true;
  configuration.start();
  producer.start();
  held.start();
  const writing = status.run(startedAt);
  const stateFile = home.path('var', 'run', STATE_FILE);
  const writeState = stateWriter(
    stateFile,
    () => remotedStateText(sources),
    (text) => log.log('error', text),
  );
  const stateInterval = option('remoted.state_interval') * SECOND_MS;
  const stateTimer = stateInterval > 0 ? setInterval(writeState, stateInterval) : undefined;

  return {
    addresses: { ...addresses, requests: { protocol: 'ipc', address: home.socket('svc-remoted') } },
    reload() {
      return Promise.resolve().then(() => {
        const next = loadRemotedSettings(home);
        logWarnings(next, logger);
        const changed = restartNeeded(started, next);
        settings = next;
        return changed;
      });
    },
    async stop() {
      clearInterval(stateTimer);
      keys.stop();
      // First what asks the shared files to look at groups, then those.
      const sharedStopped = downloads.stop().then(() => sharedFiles.stop());
      requests.cancel();
      const configurationStopped = configuration.stop();
      await listeners.finish(FINISH_MS);
      held.stop();
      sync.close();
      listeners.stop();
      status.stop();
      stopped.abort();
      const written = Promise.all([writing, configurationStopped]);
      await Promise.all([server.stop(), handOver(gate, producer), Promise.race([written, delay(DRAIN_MS)])]);
      await sharedStopped;
      db.close();
      await counterFiles.close();
      senderCounter.close();
      rmSync(stateFile, { force: true });
    },
  };
}

/** Hands on what waits for the bus, and waits until it is acknowledged. */
async function handOver(gate: EventGate, producer: EventProducer): Promise<void> {
  const end = performance.now() + DRAIN_MS;
  await Promise.race([gate.empty(), delay(DRAIN_MS)]);
  gate.close();
  await producer.close(Math.max(0, end - performance.now()));
}

/** `Listening on port 1514/TCP,UDP (secure).` */
function listeningText(addresses: Readonly<Record<string, BoundAddress>>): string {
  const bound = Object.values(addresses);
  const names = bound.map(({ protocol }) => protocol.toUpperCase()).join(',');
  return `Listening on port ${String(bound[0]?.port)}/${names} (secure).`;
}

/** Sections of which something is another one than at the start that only a start takes up. */
function restartNeeded(before: RemotedSettings, after: RemotedSettings): readonly string[] {
  const fixed = ({ secure }: RemotedSettings): string =>
    JSON.stringify(
      secure === undefined ? null : [secure.port, secure.protocol, secure.ipv6, secure.local_ip, secure.queue_size],
    );
  const internal = (settings: RemotedSettings): string =>
    JSON.stringify([activeSections(() => settings).get('internal')?.(), downloadOptions(settings)]);
  return [
    ...(fixed(before) === fixed(after) ? [] : ['remote']),
    ...(internal(before) === internal(after) ? [] : ['internal_options']),
    ...(managerIdentity(before).node === managerIdentity(after).node ? [] : ['cluster']),
  ];
}

function stateWriter(path: string, text: () => string, complain: (problem: string) => void): () => void {
  return () => {
    try {
      writeFileAtomically(path, text(), { mode: 0o640 });
    } catch (error) {
      complain(`The state file '${path}' was not written: ${describeError(error)}`);
    }
  };
}
