import { CONTROL_HEADER } from '../../lib/agentlink/control-text.js';
import type { CallParams, CallResult } from '../../lib/bus/contract.js';
import type { dbContract } from '../../lib/bus/contracts/db.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../lib/log/logger.js';
import type { Agent } from './agent-link.js';
import {
  MAX_SYNC_BYTES,
  MAX_SYNC_BYTES_PER_AGENT,
  MAX_SYNC_CALL_BYTES,
  MAX_SYNC_CALL_MESSAGES,
  MAX_SYNC_CALLS,
  MAX_SYNC_CALLS_PER_AGENT,
  MAX_SYNC_MESSAGES,
  MAX_SYNC_MESSAGES_PER_AGENT,
} from './remoted-limits.js';
import { SyncPace } from './sync-pace.js';

type RelayMethod = 'fim.sync_all' | 'inventory.sync_all';
export type SyncCall = (
  method: RelayMethod,
  params: CallParams<typeof dbContract, RelayMethod>,
) => Promise<CallResult<typeof dbContract, RelayMethod>>;

export type SyncRelayParts = {
  readonly call: SyncCall;
  /** Sends a payload to an agent; it may not get there. */
  readonly send: (agent: Agent, payload: Buffer) => void;
  readonly logger: Logger;
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number;
};

/** Messages of one agent for one store that wait, the next one first. */
type Lane = {
  readonly agent: Agent;
  readonly messages: Buffer[];
  head: number;
  bytes: number;
  calls: number;
};

/** The way of messages to one store. @property ready lanes that may ask, in the order of their turns */
type Way = {
  readonly method: RelayMethod;
  readonly lanes: Map<string, Lane>;
  readonly ready: Set<Lane>;
  calls: number;
};
/** Part of a call. */
type Share = { readonly lane: Lane; readonly messages: Buffer[] };

/** Location of messages about inventories; the others are about files. */
const INVENTORY_LOCATION = 'syscollector';
const HEADER = Buffer.from(CONTROL_HEADER, 'latin1');

/**
 * Takes messages of the synchronisation (queue 5) from agents to svc-db, and the answers back (integrity-and-inventory.md
 * 4.3, 4.4). Each agent's are asked in their order, those about
 * files beside those about its inventory, those that wait together in one call, also those of many agents, by turns. What finds no room, and what
 * svc-db does not answer, is dropped and counted: the agent begins another round.
 */
export class SyncRelay {
  readonly counters = { received: 0, answered: 0, dropped: 0, failed: 0 };
  readonly pace: SyncPace;
  readonly #parts: SyncRelayParts;
  readonly #files = newWay('fim.sync_all');
  readonly #inventory = newWay('inventory.sync_all');
  readonly #droppedLog: LimitedLogger;
  readonly #failedLog: LimitedLogger;
  #messages = 0;
  #bytes = 0;
  #closed = false;

  constructor(parts: SyncRelayParts) {
    this.#parts = parts;
    const { logger, now } = parts;
    const send = (agent: Agent, order: Buffer): void => {
      parts.send(agent, Buffer.concat([HEADER, order]));
    };
    this.pace = new SyncPace({ send, logger, now });
    this.#droppedLog = logger.limited();
    this.#failedLog = logger.limited();
  }

  /** Messages that wait. */
  get waiting(): number {
    return this.#messages;
  }

  take(agent: Agent, location: string, message: Buffer): void {
    if (this.#closed) return;
    this.counters.received += 1;
    this.pace.heard(agent);
    const way = location === INVENTORY_LOCATION ? this.#inventory : this.#files;
    let lane = way.lanes.get(agent.id);
    if (lane?.agent !== agent) lane = { agent, messages: [], head: 0, bytes: 0, calls: 0 };
    if (
      this.#messages >= MAX_SYNC_MESSAGES ||
      this.#bytes >= MAX_SYNC_BYTES ||
      lane.messages.length - lane.head >= MAX_SYNC_MESSAGES_PER_AGENT ||
      lane.bytes >= MAX_SYNC_BYTES_PER_AGENT
    ) {
      this.counters.dropped += 1;
      this.#droppedLog.warn(`Too many messages of the synchronisation wait: some of agent '${agent.id}' are dropped.`);
      return;
    }
    way.lanes.set(agent.id, lane);
    // A copy: the message is a part of a larger buffer that would be kept with it.
    lane.messages.push(Buffer.from(message));
    lane.bytes += message.length;
    this.#messages += 1;
    this.#bytes += message.length;
    way.ready.add(lane);
    this.#ask(way);
  }

  /** Whose turn it is; to be called a few times a second. */
  look(): void {
    this.pace.look(this.#messages);
  }

  /** Nothing is asked or answered any more. */
  close(): void {
    this.#closed = true;
    this.pace.close();
    for (const { ready, lanes } of [this.#files, this.#inventory]) {
      ready.clear();
      lanes.clear();
    }
  }

  #ask(way: Way): void {
    while (!this.#closed && way.calls < MAX_SYNC_CALLS) {
      const shares = this.#gather(way);
      if (shares.length === 0) return;
      void this.#carry(way, shares);
    }
  }

  /** What goes along in one call: of each lane in its turn what waits, until the call is full. */
  #gather({ ready }: Way): Share[] {
    const shares: Share[] = [];
    const room = { messages: MAX_SYNC_CALL_MESSAGES, bytes: MAX_SYNC_CALL_BYTES };
    for (const lane of ready) {
      if (room.messages <= 0 || room.bytes <= 0) break;
      ready.delete(lane);
      if (lane.calls >= MAX_SYNC_CALLS_PER_AGENT) continue;
      const messages = this.#takeFrom(lane, room);
      if (messages.length === 0) continue;
      shares.push({ lane, messages });
      // To the end of the turns. There is something left only when the call is full.
      if (lane.head < lane.messages.length) ready.add(lane);
    }
    return shares;
  }

  #takeFrom(lane: Lane, room: { messages: number; bytes: number }): Buffer[] {
    const taken: Buffer[] = [];
    let bytes = 0;
    for (let { head } = lane; taken.length < room.messages && bytes < room.bytes; head += 1) {
      const message = lane.messages[head];
      if (message === undefined) break;
      taken.push(message);
      bytes += message.length;
    }
    lane.head += taken.length;
    if (lane.head === lane.messages.length || lane.head >= MAX_SYNC_MESSAGES_PER_AGENT) {
      lane.messages.splice(0, lane.head);
      lane.head = 0;
    }
    lane.bytes -= bytes;
    this.#messages -= taken.length;
    this.#bytes -= bytes;
    room.messages -= taken.length;
    room.bytes -= bytes;
    return taken;
  }

  async #carry(way: Way, shares: readonly Share[]): Promise<void> {
    way.calls += 1;
    for (const { lane } of shares) lane.calls += 1;
    try {
      const agents = shares.map(({ lane, messages }) => ({ agent: lane.agent.id, messages }));
      const { answers } = await this.#parts.call(way.method, { agents });
      if (this.#closed) return;
      for (const [index, { lane, messages }] of shares.entries()) {
        const { orders = [], failed = messages.length, reason = '' } = answers[index] ?? {};
        for (const order of orders) this.pace.offer(lane.agent, Buffer.from(order));
        this.counters.answered += orders.length;
        if (failed > 0) this.#failed(lane.agent, failed, reason);
      }
    } catch (error) {
      for (const { lane, messages } of shares) this.#failed(lane.agent, messages.length, describeError(error));
    } finally {
      way.calls -= 1;
      for (const { lane } of shares) this.#answered(way, lane);
      this.#ask(way);
    }
  }

  #answered({ lanes, ready }: Way, lane: Lane): void {
    lane.calls -= 1;
    const isEmpty = lane.head === lane.messages.length;
    if (isEmpty && lane.calls === 0 && lanes.get(lane.agent.id) === lane) lanes.delete(lane.agent.id);
    if (!isEmpty && !this.#closed) ready.add(lane);
  }

  #failed(agent: Agent, messages: number, reason: string): void {
    this.counters.failed += messages;
    if (this.#closed) return;
    this.#failedLog.warn(`A message of the synchronisation of agent '${agent.id}' was not taken: ${reason}`);
  }
}

function newWay(method: RelayMethod): Way {
  return { method, lanes: new Map(), ready: new Set(), calls: 0 };
}
