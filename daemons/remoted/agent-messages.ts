import { isControl, SHUTDOWN_MESSAGE } from '../../lib/agentlink/control-text.js';
import { agentStateText, parseEventPayload } from '../../lib/agentlink/event-payload.js';
import { encodeFrame } from '../../lib/agentlink/frame-decoder.js';
import type { BusEvent } from '../../lib/bus/bus-event.js';
import { QUEUE_IDS } from '../../lib/events/queue-ids.js';
import { type Agent, type AgentLink, busAgentOf, linkOf } from './agent-link.js';
import type { ControlMessages } from './control-messages.js';
import type { EventGate } from './event-gate.js';
import type { FloodGuard } from './flood-guard.js';
import type { LateKeys } from './late-keys.js';
import { PONG } from './link/message-prefix.js';
import type { MessageReceiver, ReceivedMessage } from './link/message-receiver.js';
import type { RemotedCounters } from './remoted-counters.js';
import type { SyncRelay } from './sync-relay.js';
import type { MessageDisposition, TcpConnection } from './tcp-connection.js';
import type { TcpMessages } from './tcp-listener.js';
import type { UdpMessages, UdpPeer } from './udp-listener.js';
import type { UpgradeReports } from './upgrade-reports.js';

/** Location of events that this daemon makes: rules of users match it. */
const OWN_LOCATION = 'wazuh-remoted';
/** How a request for a key begins that names the agent. */
const BY_ID = 'id:';
const FRAMED_PONG = encodeFrame(PONG);

export type AgentMessagesParts = {
  readonly receiver: MessageReceiver<AgentLink>;
  readonly control: ControlMessages;
  readonly gate: EventGate;
  readonly sync: Pick<SyncRelay, 'take'>;
  readonly upgrades: Pick<UpgradeReports, 'take'>;
  readonly counters: RemotedCounters;
  readonly log: FloodGuard;
  /** In a cluster: messages that wait for their key. */
  readonly late?: LateKeys | undefined;
  /** `<connection_overtake_time>`, milliseconds; 0: a connection that is open is never overtaken. */
  readonly overtakeMs: () => number;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** The way of a message from its carrier to where it belongs (agents-and-groups.md 3.5). */
export class AgentMessages implements TcpMessages, UdpMessages {
  readonly #parts: AgentMessagesParts;
  /** The connection whose message is being opened. */
  #claiming: TcpConnection | undefined;
  #now = 0;

  constructor(parts: AgentMessagesParts) {
    this.#parts = parts;
  }

  takeTcp(connection: TcpConnection, message: Buffer): MessageDisposition {
    const { receiver, counters } = this.#parts;
    const now = (this.#now = this.#parts.now());
    this.#claiming = connection;
    const received = receiver.receive(message, connection.source, now, this.#claim);
    if (received.kind === 'ping') {
      counters.received.ping += 1;
      connection.send(FRAMED_PONG);
      return 'next';
    }
    if (received.kind !== 'message') {
      if (this.#isLate(received, connection, message)) return 'held';
      this.#reject(received);
      return 'close';
    }
    const { agent, payload } = received;
    if (connection.open) this.#attach(agent, connection, now);
    else counters.received.dequeuedAfter += 1;
    const event = this.#eventOf(agent, payload, connection, now);
    return event === undefined || this.#parts.gate.offer(event, connection) ? 'next' : 'held';
  }

  takeUdp(peer: UdpPeer, message: Buffer): void {
    const { receiver, counters, gate } = this.#parts;
    const now = this.#parts.now();
    const received = receiver.receive(message, peer.source, now);
    if (received.kind === 'ping') {
      counters.received.ping += 1;
      peer.send(PONG);
      return;
    }
    if (received.kind !== 'message') {
      this.#reject(received);
      return;
    }
    const { agent, payload } = received;
    const link = linkOf(agent);
    const route = link.route;
    // A connection that is in use stays the way to the agent: a datagram can be sent again by anybody who saw it.
    if (route === undefined || route.lossy || !this.#inUse(route.open, route.lastReceivedAt, now)) link.route = peer;
    peer.lastReceivedAt = now;
    const event = this.#eventOf(agent, payload, peer, now);
    if (event !== undefined && !gate.queue(event)) counters.received.discarded += 1;
  }

  gone(connection: TcpConnection): void {
    this.#parts.late?.gone(connection);
    const link = connection.agent?.state;
    if (link?.route === connection) link.route = undefined;
  }

  /** Whether the agent may use the connection whose message is being opened (3.5 step 5). */
  readonly #claim = (agent: Agent): boolean => {
    const route = agent.state?.route;
    if (route === undefined || route === this.#claiming || route.lossy) return true;
    // What a connection has brought before it broke off still counts, and takes nothing from the next one.
    if (this.#claiming?.open === false) return true;
    return !this.#inUse(route.open, route.lastReceivedAt, this.#now);
  };

  #inUse(open: boolean, lastReceivedAt: number, now: number): boolean {
    const overtakeMs = this.#parts.overtakeMs();
    return open && (overtakeMs === 0 || now - lastReceivedAt <= overtakeMs);
  }

  /** The connection has just shown that it is the agent's. */
  #attach(agent: Agent, connection: TcpConnection, now: number): void {
    connection.lastReceivedAt = now;
    const link = linkOf(agent);
    if (link.route === connection) return;
    const old = link.route;
    link.route = connection;
    if (old?.lossy === false && old.open) {
      this.#parts.counters.connections.overtaken += 1;
      old.close();
    }
    if (connection.agent !== undefined && connection.agent !== agent) this.gone(connection);
    connection.agent = agent;
  }

  /** Does what a control message asks for; what is to be handed on as an event is returned. */
  #eventOf(agent: Agent, payload: Buffer, route: TcpConnection | UdpPeer, now: number): BusEvent | undefined {
    const { control, counters, log, sync, upgrades } = this.#parts;
    if (isControl(payload)) {
      // Nobody is there to be answered; that an agent has stopped is true all the same (3.6).
      if (!route.open && payload.toString('latin1') !== SHUTDOWN_MESSAGE) return undefined;
      if (!control.take(agent, payload, route, now)) return undefined;
      const text = agentStateText('stopped', agent);
      return this.#event(QUEUE_IDS.log, OWN_LOCATION, Buffer.from(text), agent, now);
    }
    const event = parseEventPayload(payload);
    if (event === 'ignored') return undefined;
    if (event === 'malformed') {
      counters.received.unknown += 1;
      log.log('error', `(1106): String not correctly formatted. Message received from agent '${agent.id}'.`);
      return undefined;
    }
    counters.received.event += 1;
    linkOf(agent).counts.event += 1;
    // Messages of the synchronisation are no events (integrity-and-inventory.md 1.3).
    if (event.queue === QUEUE_IDS.synchronization) {
      sync.take(agent, event.location, event.message);
      return undefined;
    }
    // Nor is how an upgrade went (agents-and-groups.md 4.5).
    if (event.queue === QUEUE_IDS.upgrade) {
      upgrades.take(agent, event.message);
      return undefined;
    }
    return this.#event(event.queue, event.location, event.message, agent, now);
  }

  #event(queue: string, location: string, message: Buffer, agent: Agent, receivedAt: number): BusEvent {
    return { queue, location, message, receivedAt, agent: busAgentOf(agent) };
  }

  /** Whether the message waits for a key that may be on its way. Over UDP agents repeat what is not answered. */
  #isLate(received: ReceivedMessage<AgentLink>, connection: TcpConnection, message: Buffer): boolean {
    const { late } = this.#parts;
    if (late === undefined || received.kind !== 'rejected' || !connection.open) return false;
    const id = received.keyRequest?.startsWith(BY_ID) === true ? received.keyRequest.slice(BY_ID.length) : undefined;
    return id !== undefined && late.wait(connection, id, message);
  }

  #reject(received: ReceivedMessage<AgentLink> & { kind: 'in_use' | 'rejected' }): void {
    this.#parts.counters.received.unknown += 1;
    for (const { level, text } of received.logs) this.#parts.log.log(level, text);
  }
}
