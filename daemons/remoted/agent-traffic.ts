import { MessageOpener } from '../../lib/agentlink/message-opener.js';
import type { dbContract } from '../../lib/bus/contracts/db.js';
import type { modulesdContract } from '../../lib/bus/contracts/modulesd.js';
import { EventProducer } from '../../lib/bus/event-producer.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import type { DaemonParts } from '../../lib/daemon/daemon-parts.js';
import type { AgentCrypto } from './agent-crypto.js';
import { AgentMessages } from './agent-messages.js';
import { ControlMessages } from './control-messages.js';
import { EventGate } from './event-gate.js';
import { handOver } from './hand-over.js';
import { HeldAgents } from './held-agents.js';
import { LateKeys } from './late-keys.js';
import { MessageReceiver } from './link/message-receiver.js';
import type { RequestTable } from './link/request-table.js';
import { Listeners } from './listeners.js';
import type { ConfigurationPush } from './push/configuration-push.js';
import type { RemotedBase } from './remoted-base.js';
import { isClustered, managerIdentity } from './remoted-settings.js';
import type { StatusWriter } from './status-writer.js';
import { SyncRelay } from './sync-relay.js';
import { UpgradeReports } from './upgrade-reports.js';

const SECOND_MS = 1000;
/** How long a stop reads what agents have sent before they hear of it: they end their connections at once when they do. */
const FINISH_MS = 2000;
/** svc-db answers messages of the synchronisation by then: a check reads all of a large table. */
const SYNC_DEADLINE_MS = 30_000;
/** How often it is looked whether further agents are told to send their tables. */
const SYNC_LOOK_MS = 250;

export type AgentTrafficParts = {
  readonly base: RemotedBase;
  readonly crypto: AgentCrypto;
  readonly db: RequestClient<typeof dbContract>;
  readonly modulesd: RequestClient<typeof modulesdContract>;
  readonly requests: RequestTable;
  readonly status: StatusWriter;
  readonly pushes: ConfigurationPush;
  /** What is done at the stop after connections are closed; events are handed on there. */
  readonly drain: DaemonParts;
  /** How long events may wait for that, milliseconds. */
  readonly drainMs: number;
};

export type AgentTraffic = {
  readonly producer: EventProducer;
  readonly gate: EventGate;
  /** Events that may wait for the bus. */
  readonly queueSize: number;
  readonly sync: SyncRelay;
  readonly upgrades: UpgradeReports;
  readonly listeners: Listeners;
  readonly held: HeldAgents;
  /** In a cluster alone. */
  readonly late: LateKeys | undefined;
};

/**
 * The way of agents' messages from the sockets to the bus, to svc-db and to those that wait for answers. At the stop what
 * agents have sent is read first, then their connections are closed.
 */
export function agentTraffic(
  { base, crypto, db, modulesd, requests, status, pushes, drain, drainMs }: AgentTrafficParts,
  parts: DaemonParts,
): AgentTraffic {
  const { home, logger, settings, counters, log } = base;
  const { options, secure } = settings.started;
  const { sender } = crypto;
  const producer = new EventProducer({ path: home.eventsSocket(), daemon: 'svc-remoted', logger });
  const queueSize = secure?.queue_size ?? 1;
  const gate = new EventGate(producer, queueSize, logger);
  const sync = new SyncRelay({
    call: (method, params) => db.call(method, params, { deadlineMs: SYNC_DEADLINE_MS }),
    send: (agent, payload) => {
      sender.send(agent, payload, 0);
    },
    logger,
    now: () => performance.now(),
  });
  parts.every(SYNC_LOOK_MS, () => {
    sync.look();
  });
  const upgrades = new UpgradeReports({ modulesd, logger });
  const late = isClustered(settings.started) ? parts.use(new LateKeys(crypto.store)) : undefined;
  const listeners = new Listeners({
    messages: new AgentMessages({
      receiver: new MessageReceiver({
        store: crypto.store,
        opener: new MessageOpener(crypto.schedules),
        counters: crypto.counterFiles,
        verify: options.get('remoted.verify_msg_id') === 1,
      }),
      control: new ControlMessages({
        sender,
        status,
        requests,
        configuration: pushes,
        counters,
        log,
        manager: managerIdentity(settings.started),
        allowHigherVersions: () => settings.current.secure?.agents.allow_higher_versions === true,
      }),
      gate,
      sync,
      upgrades,
      counters,
      log,
      late,
      overtakeMs: () => (settings.current.secure?.connection_overtake_time ?? 0) * SECOND_MS,
      now: () => Date.now(),
    }),
    counters,
    log,
    sendBuffer: options.get('remoted.send_buffer_size'),
    keepAliveMs: options.get('remoted.tcp_keepidle') * SECOND_MS,
    now: () => performance.now(),
  });

  drain.defer(() => handOver([gate], producer, drainMs));
  parts.use(listeners);
  parts.use(sync);
  parts.use(upgrades);
  const held = parts.use(new HeldAgents(gate, sender));
  parts.defer(() => listeners.finish(FINISH_MS));
  return { producer, gate, queueSize, sync, upgrades, listeners, held, late };
}
