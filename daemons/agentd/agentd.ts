import { mkdirSync, rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { BlowfishCache } from '../../lib/agentlink/blowfish-cache.js';
import { ClientKeysFile } from '../../lib/agentlink/client-keys-file.js';
import { buildEventPayload } from '../../lib/agentlink/event-payload.js';
import { buildKeepalive } from '../../lib/agentlink/keepalive.js';
import { MAX_PAYLOAD_BYTES } from '../../lib/agentlink/link-limits.js';
import { MessageOpener } from '../../lib/agentlink/message-opener.js';
import { MessageSealer } from '../../lib/agentlink/message-sealer.js';
import { SenderCounter } from '../../lib/agentlink/sender-counter.js';
import { ownIdentity } from '../../lib/agents/own-identity.js';
import type { BusEvent, EventBatch } from '../../lib/bus/bus-event.js';
import { agentdContract } from '../../lib/bus/contracts/agentd.js';
import { commonHandlers } from '../../lib/bus/contracts/common.js';
import { logcollectorContract } from '../../lib/bus/contracts/logcollector.js';
import { syscheckdContract } from '../../lib/bus/contracts/syscheckd.js';
import { EventSink } from '../../lib/bus/event-sink.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { RequestServer } from '../../lib/bus/request-server.js';
import { MemoryStreamPositions } from '../../lib/bus/stream-positions.js';
import { keepShared, sharedProblem } from '../../lib/config/load-host-config.js';
import { callSupervisor } from '../../lib/control/control-client.js';
import type { DaemonContext, DaemonSpec, RunningDaemon } from '../../lib/daemon/daemon-spec.js';
import { Problems } from '../../lib/daemon/problems.js';
import { QUEUE_IDS } from '../../lib/events/queue-ids.js';
import { writeFileAtomically } from '../../lib/files/write-file-atomically.js';
import { readHomeRecord } from '../../lib/home/home-record.js';
import { describeError } from '../../lib/log/describe-error.js';
import { unameText } from '../../lib/manager/uname-text.js';
import { COMPATIBILITY_VERSION } from '../../lib/product/version.js';
import { AgentState } from './agent-state.js';
import {
  activeSections,
  type AgentdSettings,
  loadAgentdSettings,
  logWarnings,
  mergeSettings,
} from './agentd-settings.js';
import { AutoEnrollment } from './auto-enrollment.js';
import { check } from './check.js';
import { EventOutlet, type OutletSettings } from './event-outlet.js';
import { IntegrityOrders } from './integrity-orders.js';
import { ManagerLink } from './manager-link.js';
import { ManagerOrders, PART_DEADLINE_MS } from './manager-orders.js';
import { HostReload, supervisorOf } from './shared/host-reload.js';
import { LastGoodConfiguration } from './shared/last-good-configuration.js';
import { useSharedConfiguration } from './shared/shared-configuration.js';
import { SharedFolder } from './shared/shared-folder.js';
import { SharedUpdates } from './shared/shared-updates.js';

const SECOND_MS = 1000;
const STATE_FILE = 'svc-agentd.state';
/** Events the sink hands on in one go: few, so that what waits stays with its producers. */
const GROUP_EVENTS = 512;
/** How long a stop may wait for events in hand, and for those of the buffer. */
const DRAIN_MS = 1500;
/** How long a stop may wait for the connection to go. */
const LAST_MS = 1000;
/** The supervisor answers a ping by then. */
const SUPERVISOR_MS = 2000;
/** The answer to a request for a restart leaves before the restart. */
const BEFORE_RESTART_MS = 300;

/** svc-agentd: takes the events of an agent's host and sends them to a manager (agents-and-groups.md 4, 5). */
export const AGENTD: DaemonSpec = {
  name: 'svc-agentd',
  check,
  build: buildAgentd,
};

async function buildAgentd(context: DaemonContext): Promise<RunningDaemon> {
  const { home, logger } = context;
  // What an interrupted push has left is put in order before anybody reads it.
  const folder = new SharedFolder({ root: home.path('etc', 'shared'), logger });
  await folder.open();
  const { name } = ownIdentity(home, undefined);
  let settings = loadAgentdSettings(home);
  const lastGood = new LastGoodConfiguration(home, logger);
  await lastGood.follow(settings.config.shared);
  logWarnings(settings, logger);
  const { client, options } = settings;
  const problems = new Problems(context.setProblem);
  problems.set('shared', sharedProblem(settings.config.shared));
  const keys = new ClientKeysFile(home.path('etc', 'client.keys'));
  if (!client.enrollment.enabled && (await keys.read()).agents.length === 0) {
    throw new Error('(1751): File client.keys not found or empty.');
  }
  const notify = client.notify_time;
  logger.info(`Using notify time: ${notify} and max time to reconnect: ${settings.reconnectAfter}`);
  const uname = unameText();
  logger.info(`Version detected -> ${uname}`);
  logger.info(`Using ${client.crypto_method === 'aes' ? 'AES' : 'Blowfish'} as encryption method.`);

  const stopped = new AbortController();
  const state = new AgentState();
  mkdirSync(home.path('queue', 'rids'), { recursive: true, mode: 0o770 });
  const counter = new SenderCounter(home.path('queue', 'rids', 'sender_counter'), (error) => {
    logger.error(`Counters of messages cannot be kept in queue/rids: ${describeError(error)}`);
  });
  const schedules = new BlowfishCache();
  const logcollector = new RequestClient({ contract: logcollectorContract, path: home.socket('svc-logcollector') });
  const syscheckd = new RequestClient({ contract: syscheckdContract, path: home.socket('svc-syscheckd') });
  const integrity = new IntegrityOrders({ syscheckd, deadlineMs: PART_DEADLINE_MS, logger });
  const outlet = new EventOutlet(
    {
      warn: options.get('agent.warn_level'),
      normal: options.get('agent.normal_level'),
      tolerance: options.get('agent.tolerance') * SECOND_MS,
      send: (event) => link.sendEvent(event),
      notify: (event) => link.notify(event),
      logger,
    },
    outletSettings(settings),
  );
  const sections = activeSections(() => settings);
  const orders = new ManagerOrders({
    state,
    sections,
    waiting: () => outlet.waiting,
    logcollector,
    integrity,
    canRestart: async () => {
      await callSupervisor(home, { command: 'ping' }, undefined, SUPERVISOR_MS);
    },
    restart: (command) => {
      logger.info(`The manager asked for a ${command} of this agent.`);
      void delay(BEFORE_RESTART_MS)
        .then(() => callSupervisor(home, { command }))
        .catch((error: unknown) => {
          if (!stopped.signal.aborted) logger.error(`The ${command} failed: ${describeError(error)}`);
        });
    },
    logger,
  });
  const report = (text: string): void => link.notify(buildEventPayload(QUEUE_IDS.log, 'wazuh-agent', text));
  let toldAt = -Infinity;
  let telling: NodeJS.Timeout | undefined;
  const others = new HostReload(supervisorOf(home), logger);
  const shared = new SharedUpdates({
    folder,
    logger,
    report,
    installed: () =>
      useSharedConfiguration({
        home,
        logger,
        report,
        reload: context.reload,
        reloadOthers: () => void others.request(),
        keepalive: () => {
          // A manager that pushes again and again gets no more than one a second beside the usual ones.
          clearTimeout(telling);
          telling = setTimeout(
            () => {
              toldAt = performance.now();
              link.session?.keepalive();
            },
            Math.max(0, toldAt + SECOND_MS - performance.now()),
          ).unref();
        },
        setProblem: (problem) => problems.set('shared', problem),
      }),
  });
  const link: ManagerLink = new ManagerLink({
    client,
    keys,
    name,
    renamed: () => {
      const { state: used } = settings.config.shared;
      if (used !== 'used' && used !== 'kept') return;
      logger.info('This agent has another name now: the shared configuration is read again.');
      // The outcome is logged where the reload runs; what cannot be read again stays as it is.
      void context
        .reload()
        .catch(() => {})
        .then(() => others.request());
    },
    enrollment: new AutoEnrollment(home, readHomeRecord(home), client.enrollment, logger, stopped.signal),
    logger,
    setProblem: (problem) => problems.set('link', problem),
    signal: stopped.signal,
    session: {
      sealer: new MessageSealer(schedules),
      opener: new MessageOpener(schedules),
      counter,
      state,
      logger,
      form: client.crypto_method === 'blowfish' ? 'blowfish' : 'aes',
      notifyMs: notify * SECOND_MS,
      silentMs: settings.reconnectAfter * SECOND_MS,
      answerMs: options.get('agent.recv_timeout') * SECOND_MS,
      renewMs: () => settings.client.force_reconnect_interval * SECOND_MS,
      keepalive: (agentIp) => {
        const { merged: mergedSum, config: configSum } = folder.sums;
        const version = `Wazuh v${COMPATIBILITY_VERSION}`;
        return buildKeepalive({ uname, version, configSum, mergedSum, agentIp }, settings.config.labels);
      },
      control: (control, session) => orders.take(control, session),
      pushed: (result) => shared.take(result),
      now: () => Date.now(),
    },
  });
  const sink = new EventSink({
    path: home.eventsSocket(),
    positions: new MemoryStreamPositions(),
    logger,
    maxGroupEvents: GROUP_EVENTS,
    onBatch: async ({ events }: EventBatch) => {
      // Without a connection those who send events wait, and keep them.
      await link.connected();
      state.generated += events.length;
      for (const event of events) await outlet.take(payloadOf(event, state));
    },
  });
  const server = new RequestServer<typeof agentdContract>({
    contract: agentdContract,
    path: home.socket('svc-agentd'),
    logger,
    handlers: {
      ...commonHandlers('svc-agentd', {
        stats: (): Record<string, unknown> => ({
          requests: { ...server.counters },
          events: {
            received: state.generated,
            duplicates: sink.counters.duplicates,
            dropped: { buffer_full: outlet.dropped },
            pending: (outlet.waiting ?? 0) + sink.waiting,
          },
          buffer: outlet.state,
          connection: {
            status: state.status,
            connections: state.connections,
            sent: state.sent,
            cut: state.cut,
            requests: state.requests,
            refused: state.refused,
          },
          integrity: { ...integrity.counters },
          shared: { ...shared.counters },
        }),
        sections,
        reload: context.reload,
      }),
      getstate: () => state.toJson(outlet.waiting),
    },
  });

  await server.start();
  try {
    await sink.start();
  } catch (error) {
    await server.stop();
    throw error;
  }
  const linking = link.run().catch(context.fatal);
  outlet.start();
  const stateFile = home.path('var', 'run', STATE_FILE);
  const writeState = (): void => {
    try {
      writeFileAtomically(stateFile, state.toFile(outlet.waiting), { mode: 0o640 });
    } catch (error) {
      logger.error(`The state file '${stateFile}' was not written: ${describeError(error)}`);
    }
  };
  const interval = options.get('agent.state_interval') * SECOND_MS;
  if (interval > 0) writeState();
  const stateTimer = interval > 0 ? setInterval(writeState, interval) : undefined;

  // What scripts for the reference send; without this Node.js would open its debugger.
  process.on('SIGUSR1', () => {
    logger.info('SIGNAL [(10)-(User defined signal 1)] Received. Reload agentd.');
    // The outcome is logged where the reload runs.
    context.reload().catch(() => {});
  });

  return {
    addresses: {
      requests: { protocol: 'ipc', address: home.socket('svc-agentd') },
      events: { protocol: 'ipc', address: home.eventsSocket() },
    },
    async reload() {
      const next = loadAgentdSettings(home);
      keepShared(settings.config.shared, next.config.shared);
      await lastGood.follow(next.config.shared);
      problems.set('shared', sharedProblem(next.config.shared));
      logWarnings(next, logger);
      const merged = mergeSettings(settings, next);
      settings = merged.settings;
      const buffer = outletSettings(settings);
      logger.info(`Buffer agent.conf updated, enable: ${buffer.disabled ? 0 : 1} size: ${buffer.size} `);
      outlet.apply(buffer);
      link.session?.planRenewal();
      return merged.restartNeeded;
    },
    async stop() {
      clearInterval(stateTimer);
      // Who waits for a connection waits no more; with one, what is in hand goes out.
      if (link.session === undefined) link.refuse();
      await Promise.race([Promise.all([server.stop(), sink.stop()]), delay(DRAIN_MS)]);
      const pumping = outlet.stop();
      await Promise.race([pumping.then(() => sendRest(outlet, link)), delay(DRAIN_MS)]);
      link.refuse();
      stopped.abort();
      // An installation that does not end by then is finished at the next start.
      await Promise.race([Promise.all([linking, pumping, shared.idle()]), delay(LAST_MS)]);
      logcollector.close();
      syscheckd.close();
      counter.close();
      rmSync(stateFile, { force: true });
    },
  };
}

/** What the buffer still holds goes out without its pace: the ring does not outlive the process. */
async function sendRest(outlet: EventOutlet, link: ManagerLink): Promise<void> {
  for (const event of outlet.rest()) {
    if (link.session === undefined) return;
    await link.sendEvent(event).catch(() => {});
  }
}

function outletSettings({ config, eventsPerSecond }: AgentdSettings): OutletSettings {
  const { disabled, queue_size } = config.client_buffer;
  return { disabled, size: queue_size, perSecond: eventsPerSecond };
}

/** The event as it goes to a manager, cut to what a message holds. */
function payloadOf({ queue, location, message }: BusEvent, state: AgentState): Buffer {
  const payload = buildEventPayload(queue, location, message);
  if (payload.length <= MAX_PAYLOAD_BYTES) return payload;
  state.cut += 1;
  return payload.subarray(0, MAX_PAYLOAD_BYTES);
}
