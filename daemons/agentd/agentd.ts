import { mkdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { ClientKeysFile } from '../../lib/agentlink/client-keys-file.js';
import { buildEventPayload } from '../../lib/agentlink/event-payload.js';
import { MAX_PAYLOAD_BYTES } from '../../lib/agentlink/link-limits.js';
import { SenderCounter } from '../../lib/agentlink/sender-counter.js';
import { keepShared, sharedProblem } from '../../lib/agents/load-host-config.js';
import { ownIdentity } from '../../lib/agents/own-identity.js';
import type { BusEvent } from '../../lib/bus/bus-event.js';
import { agentdContract } from '../../lib/bus/contracts/agentd.js';
import { execdContract } from '../../lib/bus/contracts/execd.js';
import { logcollectorContract } from '../../lib/bus/contracts/logcollector.js';
import { modulesdContract } from '../../lib/bus/contracts/modulesd.js';
import { syscheckdContract } from '../../lib/bus/contracts/syscheckd.js';
import { EventSink } from '../../lib/bus/event-sink.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { MemoryStreamPositions } from '../../lib/bus/stream-positions.js';
import { callSupervisor } from '../../lib/control/control-client.js';
import { type DaemonParts, within } from '../../lib/daemon/daemon-parts.js';
import { defineDaemon } from '../../lib/daemon/define-daemon.js';
import { StateFile } from '../../lib/daemon/state-file.js';
import type { Home } from '../../lib/home/home.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import { unameText } from '../../lib/manager/uname-text.js';
import { HOST_CLOCK } from '../../lib/rotation/clock.js';
import { LogMaintenance } from '../../lib/rotation/log-maintenance.js';
import { LogRotation, MANAGER_LOG, RESPONSES_LOG } from '../../lib/rotation/log-rotation.js';
import { Retention } from '../../lib/rotation/retention.js';
import { AgentState } from './agent-state.js';
import type { AgentdContext } from './agentd-context.js';
import { activeSections, type AgentdSettings, SETTINGS } from './agentd-settings.js';
import { EventOutlet, type OutletSettings } from './event-outlet.js';
import { linkToManager } from './link-to-manager.js';
import type { ManagerLink } from './manager-link.js';
import { ManagerOrders, type OrderParts, PART_DEADLINE_MS } from './manager-orders.js';
import { OrderStore } from './order-store.js';
import { PartOrders } from './part-orders.js';
import { pushedFiles } from './pushed-files.js';
import { ResponseOrders } from './response-orders.js';
import { HostReload, supervisorOf } from './shared/host-reload.js';
import { LastGoodConfiguration } from './shared/last-good-configuration.js';
import { SharedFolder } from './shared/shared-folder.js';

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
export const AGENTD = defineDaemon({
  contract: agentdContract,
  settings: SETTINGS,
  async prepare({ home, logger }) {
    // What an interrupted push has left is put in order before anybody reads it.
    const folder = new SharedFolder({ root: home.path('etc', 'shared'), logger });
    await folder.open();
    const orders = await OrderStore.open(home.path('queue', 'agentd'), logger);
    return { folder, orders, name: ownIdentity(home, undefined).name };
  },
  async accept(next, current, { home, logger }) {
    if (current !== undefined) keepShared(current.config.shared, next.config.shared);
    await new LastGoodConfiguration(home, logger).follow(next.config.shared);
  },
  async build(context, parts) {
    const { home, logger, settings, problems, requests, fatal, reload } = context;
    const { client, options, reconnectAfter, config } = settings.started;
    problems.set('shared', sharedProblem(config.shared));
    const keys = new ClientKeysFile(home.path('etc', 'client.keys'));
    if (!client.enrollment.enabled && (await keys.read()).agents.length === 0) {
      throw new Error('(1751): File client.keys not found or empty.');
    }
    logger.info(`Using notify time: ${client.notify_time} and max time to reconnect: ${reconnectAfter}`);
    const uname = unameText();
    logger.info(`Version detected -> ${uname}`);
    logger.info(`Using ${client.crypto_method === 'aes' ? 'AES' : 'Blowfish'} as encryption method.`);

    const made = makeParts(context, keys, uname, parts);
    const { state, outlet, link, front, sink, stateFile } = made;
    await front.start(
      requests({
        stats: (calls) => ({ requests: { ...calls }, ...daemonCounters(made) }),
        handlers: { getstate: () => state.toJson(outlet.waiting) },
      }),
    );
    await front.start(sink);
    made.responses.start();
    made.lastEnded(link.run().catch(fatal));
    made.lastEnded(made.maintenance.run());
    outlet.start();
    const writeState = (): void => {
      stateFile.write(state.toFile(outlet.waiting));
    };
    const interval = options.get('agent.state_interval') * SECOND_MS;
    if (interval > 0) {
      writeState();
      parts.every(interval, writeState);
    }

    // What scripts for the reference send; without this Node.js would open its debugger.
    process.on('SIGUSR1', () => {
      logger.info('SIGNAL [(10)-(User defined signal 1)] Received. Reload agentd.');
      // The outcome is logged where the reload runs.
      reload().catch(() => {});
    });
    return {
      addresses: {
        requests: { protocol: 'ipc', address: home.socket('svc-agentd') },
        events: { protocol: 'ipc', address: home.eventsSocket() },
      },
      apply(now) {
        problems.set('shared', sharedProblem(now.config.shared));
        const buffer = outletSettings(now);
        logger.info(`Buffer agent.conf updated, enable: ${buffer.disabled ? 0 : 1} size: ${buffer.size} `);
        outlet.apply(buffer);
        link.session?.planRenewal();
      },
    };
  },
});

type AgentdParts = ReturnType<typeof makeParts>;

/** Makes the parts, from the one that stops last to the one that stops first; they begin in another order. */
function makeParts(context: AgentdContext, keys: ClientKeysFile, uname: string, parts: DaemonParts) {
  const { home, logger, settings } = context;
  const state = new AgentState();
  const stateFile = parts.adopt(
    new StateFile(home.path('var', 'run', STATE_FILE), (problem) => {
      logger.error(problem);
    }),
    (file) => {
      file.remove();
    },
  );
  mkdirSync(home.path('queue', 'rids'), { recursive: true, mode: 0o770 });
  const counter = parts.use(
    new SenderCounter(home.path('queue', 'rids', 'sender_counter'), (error) => {
      logger.error(`Counters of messages cannot be kept in queue/rids: ${describeError(error)}`);
    }),
  );
  const logcollector = parts.use(
    new RequestClient({ contract: logcollectorContract, path: home.socket('svc-logcollector') }),
  );
  const execd = parts.use(new RequestClient({ contract: execdContract, path: home.socket('svc-execd') }));
  const lastEnded = parts.waitPoint({ withinMs: LAST_MS });
  parts.defer(() => {
    // An installation that does not end by then is finished at the next start.
    lastEnded(shared.idle());
  });
  const stopped = parts.adopt(new AbortController(), (controller) => {
    controller.abort();
  });
  const { signal } = stopped;

  const { integrity, modules } = partOrders(home, logger, parts);
  const responses = new ResponseOrders({
    ...{ execd, deadlineMs: PART_DEADLINE_MS, signal, logger },
    store: parts.use(context.prepared.orders),
  });
  const outlet = eventOutlet(settings.started, logger, () => link);
  const orders = new ManagerOrders({
    state,
    sections: activeSections(() => settings.current),
    waiting: () => outlet.waiting,
    logcollector,
    integrity,
    modules,
    responses,
    ...hostRestart(home, logger, signal),
    logger,
  });
  const others = new HostReload(supervisorOf(home), logger);
  const shared = pushedFiles(context, others, () => link);
  const link: ManagerLink = linkToManager(context, { keys, uname, counter, state, orders, shared, others, signal });
  const sink = eventSink(context, link, outlet, state);
  parts.defer(() => {
    link.refuse();
  });
  parts.defer(() => {
    const pumping = outlet.stop();
    lastEnded(pumping);
    return within(
      DRAIN_MS,
      pumping.then(() => sendRest(outlet, link)),
    );
  });
  const maintenance = logMaintenance(context, signal);
  const front = parts.together({ withinMs: DRAIN_MS });
  parts.defer(() => {
    // Who waits for a connection waits no more; with one, what is in hand goes out.
    if (link.session === undefined) link.refuse();
  });
  return { state, stateFile, lastEnded, integrity, modules, responses, outlet, shared, link, sink, front, maintenance };
}

/** The daemons of the host that a manager gives orders to. */
function partOrders(home: Home, logger: Logger, parts: DaemonParts): Record<'integrity' | 'modules', PartOrders> {
  const syscheckd = parts.use(new RequestClient({ contract: syscheckdContract, path: home.socket('svc-syscheckd') }));
  const modulesd = parts.use(new RequestClient({ contract: modulesdContract, path: home.socket('svc-modulesd') }));
  const common = { deadlineMs: PART_DEADLINE_MS, logger };
  return {
    integrity: new PartOrders({
      ...{ daemon: 'svc-syscheckd', prefix: 'SYSCOM', ...common },
      part: {
        order: (params, options) => syscheckd.call('order', params, options),
        config: (params, options) => syscheckd.call('config', params, options),
      },
    }),
    modules: new PartOrders({
      ...{ daemon: 'svc-modulesd', prefix: 'WMCOM', ...common },
      part: {
        order: (params, options) => modulesd.call('order', params, options),
        config: (params, options) => modulesd.call('config', params, options),
      },
    }),
  };
}

/** Rotation of the logs of the host, and how long they are kept. */
function logMaintenance({ home, logger, settings }: AgentdContext, signal: AbortSignal): LogMaintenance {
  return new LogMaintenance({
    clock: HOST_CLOCK,
    logger,
    logs: [MANAGER_LOG, RESPONSES_LOG].map((log) => new LogRotation({ home, logger, clock: HOST_CLOCK, signal }, log)),
    retention: new Retention(home, logger, () => settings.current.retention),
    outputs: undefined,
    settings: () => settings.current.maintenance,
    signal,
  });
}

/** Groups of `stats`, beside those of the request socket. */
function daemonCounters({
  state,
  outlet,
  sink,
  integrity,
  modules,
  responses,
  shared,
}: AgentdParts): Record<string, unknown> {
  const { status, connections, sent, cut, requests } = state;
  return {
    events: {
      received: state.generated,
      duplicates: sink.counters.duplicates,
      dropped: { buffer_full: outlet.dropped },
      pending: (outlet.waiting ?? 0) + sink.waiting,
    },
    buffer: outlet.state,
    connection: { status, connections, sent, cut, requests },
    integrity: { ...integrity.counters },
    modules: { ...modules.counters },
    responses: { ...responses.counters },
    shared: { ...shared.counters },
  };
}

/** How a manager's order to restart or reload the agent is carried out. */
function hostRestart(home: Home, logger: Logger, signal: AbortSignal): Pick<OrderParts, 'canRestart' | 'restart'> {
  return {
    canRestart: async () => {
      await callSupervisor(home, { command: 'ping' }, undefined, SUPERVISOR_MS);
    },
    restart: (command) => {
      logger.info(`The manager asked for a ${command} of this agent.`);
      void delay(BEFORE_RESTART_MS)
        .then(() => callSupervisor(home, { command }))
        .catch((error: unknown) => {
          if (!signal.aborted) logger.error(`The ${command} failed: ${describeError(error)}`);
        });
    },
  };
}

function eventOutlet(settings: AgentdSettings, logger: Logger, link: () => ManagerLink): EventOutlet {
  const { options } = settings;
  return new EventOutlet(
    {
      warn: options.get('agent.warn_level'),
      normal: options.get('agent.normal_level'),
      tolerance: options.get('agent.tolerance') * SECOND_MS,
      send: (event) => link().sendEvent(event),
      notify: (event) => {
        link().notify(event);
      },
      logger,
    },
    outletSettings(settings),
  );
}

/** Where events of the host's daemons come in. */
function eventSink({ home, logger }: AgentdContext, link: ManagerLink, outlet: EventOutlet, state: AgentState) {
  return new EventSink({
    path: home.eventsSocket(),
    positions: new MemoryStreamPositions(),
    logger,
    maxGroupEvents: GROUP_EVENTS,
    onBatch: async ({ events }) => {
      // Without a connection those who send events wait, and keep them.
      await link.connected();
      state.generated += events.length;
      for (const event of events) await outlet.take(payloadOf(event, state));
    },
  });
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
