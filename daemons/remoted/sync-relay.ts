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
};

/** Messages of one agent for one store that wait, the next one first. */
type Lane = {
  readonly name: string;
  readonly agent: Agent;
  readonly method: RelayMethod;
  readonly messages: Buffer[];
  head: number;
  bytes: number;
  calls: number;
};

/** Location of messages about inventories; the others are about files. */
const INVENTORY_LOCATION = 'syscollector';
const HEADER = Buffer.from(CONTROL_HEADER, 'latin1');

/**
 * Takes messages of the synchronisation (queue 5) from agents to svc-db, and the answers back (integrity-and-inventory.md
 * 4.3, 4.4). Each agent's are asked in their order, those about
 * files beside those about its inventory, those that wait together in one go, the agents by turns. What finds no room, and what
 * svc-db does not answer, is dropped and counted: the agent begins another round.
 */
export class SyncRelay {
  readonly counters = { received: 0, answered: 0, dropped: 0, failed: 0 };
  readonly #parts: SyncRelayParts;
  readonly #lanes = new Map<string, Lane>();
  /** Lanes that may ask, in the order of their turns. */
  readonly #ready = new Set<Lane>();
  readonly #droppedLog: LimitedLogger;
  readonly #failedLog: LimitedLogger;
  #messages = 0;
  #bytes = 0;
  #calls = 0;
  #closed = false;

  constructor(parts: SyncRelayParts) {
    this.#parts = parts;
    const { logger } = parts;
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
    const method = location === INVENTORY_LOCATION ? 'inventory.sync_all' : 'fim.sync_all';
    const name = `${method} ${agent.id}`;
    let lane = this.#lanes.get(name);
    if (lane?.agent !== agent) lane = { name, agent, method, messages: [], head: 0, bytes: 0, calls: 0 };
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
    this.#lanes.set(name, lane);
    // A copy: the message is a part of a larger buffer that would be kept with it.
    lane.messages.push(Buffer.from(message));
    lane.bytes += message.length;
    this.#messages += 1;
    this.#bytes += message.length;
    this.#ready.add(lane);
    this.#ask();
  }

  /** Nothing is asked or answered any more. */
  close(): void {
    this.#closed = true;
    this.#ready.clear();
    this.#lanes.clear();
  }

  #ask(): void {
    for (const lane of this.#ready) {
      if (this.#closed || this.#calls >= MAX_SYNC_CALLS) return;
      // To the end of the turns: the loop comes to it again when it may still ask.
      this.#ready.delete(lane);
      if (lane.calls >= MAX_SYNC_CALLS_PER_AGENT) continue;
      const messages = this.#takeFrom(lane);
      if (messages.length === 0) continue;
      this.#ready.add(lane);
      void this.#carry(lane, messages);
    }
  }

  /** What goes along in one call. */
  #takeFrom(lane: Lane): Buffer[] {
    const taken: Buffer[] = [];
    let bytes = 0;
    for (let { head } = lane; taken.length < MAX_SYNC_CALL_MESSAGES && bytes < MAX_SYNC_CALL_BYTES; head += 1) {
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
    return taken;
  }

  async #carry(lane: Lane, messages: Buffer[]): Promise<void> {
    lane.calls += 1;
    this.#calls += 1;
    try {
      const { orders, failed, reason = '' } = await this.#parts.call(lane.method, { agent: lane.agent.id, messages });
      if (this.#closed) return;
      for (const order of orders) this.#parts.send(lane.agent, Buffer.concat([HEADER, order]));
      this.counters.answered += orders.length;
      if (failed > 0) this.#failed(lane.agent, failed, reason);
    } catch (error) {
      this.#failed(lane.agent, messages.length, describeError(error));
    } finally {
      lane.calls -= 1;
      this.#calls -= 1;
      const isEmpty = lane.head === lane.messages.length;
      if (isEmpty && lane.calls === 0 && this.#lanes.get(lane.name) === lane) this.#lanes.delete(lane.name);
      if (!isEmpty && !this.#closed) this.#ready.add(lane);
      this.#ask();
    }
  }

  #failed(agent: Agent, messages: number, reason: string): void {
    this.counters.failed += messages;
    if (this.#closed) return;
    this.#failedLog.warn(`A message of the synchronisation of agent '${agent.id}' was not taken: ${reason}`);
  }
}
