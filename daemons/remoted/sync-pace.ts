import type { LimitedLogger, Logger } from '../../lib/log/logger.js';
import type { Agent } from './agent-link.js';
import {
  FEW_SYNC_MESSAGES,
  FEWEST_SYNCHRONISING,
  MANY_SYNC_MESSAGES,
  MAX_SYNC_ORDERS,
  MAX_SYNC_ORDERS_PER_AGENT,
} from './remoted-limits.js';

/** An agent that sent nothing for so long has told what it was asked for, milliseconds. */
const QUIET_MS = 1500;
/** While others wait, an agent that goes on sending keeps its place no longer: those that never end would keep all of them. */
const TURN_MS = 60_000;
/**
 * How the number of agents grows and shrinks from one look to the next. It grows slowly: whoever was told to send goes on for seconds,
 * and what is too much shows late.
 */
const GROWTH = 16;
const GROWTH_SHARE = 1 / 64;
const SHRINKAGE = 0.7;

export type SyncPaceParts = {
  /** Sends an order to an agent; it may not get there. */
  readonly send: (agent: Agent, order: Buffer) => void;
  readonly logger: Logger;
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number;
};

/** Of one agent: when it began, and when it was heard last. */
type Turn = { readonly since: number; heard: number };

/**
 * Says when agents are told what to send of their tables (integrity-and-inventory.md 4.4): thousands that begin at once,
 * after a restart of the manager say, are asked some at a time, as many as svc-db keeps up with. What they were asked for and did
 * not find room would be lost until their next round.
 */
export class SyncPace {
  /** Orders that had to wait, and those that found no room: the agent begins another round. */
  readonly counters = { held: 0, dropped: 0 };
  readonly #parts: SyncPaceParts;
  readonly #droppedLog: LimitedLogger;
  /** Agents that were told to send. */
  readonly #active = new Map<string, Turn>();
  /** Orders that wait, the agents in the order of their turns. */
  readonly #held = new Map<Agent, Buffer[]>();
  #orders = 0;
  #limit = FEWEST_SYNCHRONISING;

  constructor(parts: SyncPaceParts) {
    this.#parts = parts;
    this.#droppedLog = parts.logger.limited();
  }

  /** Orders that wait. */
  get waiting(): number {
    return this.#orders;
  }

  /** Agents that may send at the moment. */
  get active(): number {
    return this.#active.size;
  }

  /** An agent sends: it is not through yet. */
  heard(agent: Agent): void {
    const turn = this.#active.get(agent.id);
    if (turn !== undefined) turn.heard = this.#parts.now();
  }

  /** Sends an order at once, or when it is the agent's turn. */
  offer(agent: Agent, order: Buffer): void {
    const held = this.#held.get(agent);
    const isFree = this.#active.has(agent.id) || (this.#held.size === 0 && this.#active.size < this.#limit);
    if (held === undefined && isFree) {
      this.#send(agent, [order]);
      return;
    }
    if (this.#orders >= MAX_SYNC_ORDERS || (held?.length ?? 0) >= MAX_SYNC_ORDERS_PER_AGENT) {
      this.counters.dropped += 1;
      this.#droppedLog.warn(
        `Too many agents wait to be asked what differs: agent '${agent.id}' and others are not until their next round.`,
      );
      return;
    }
    if (held === undefined) this.#held.set(agent, [order]);
    else held.push(order);
    this.#orders += 1;
    this.counters.held += 1;
  }

  /** Looks who is through, and whose turn it is. @param messages of agents that wait for svc-db */
  look(messages: number): void {
    const now = this.#parts.now();
    for (const [id, { since, heard }] of this.#active) {
      const isOver = now - heard >= QUIET_MS || (this.#orders > 0 && now - since >= TURN_MS);
      if (isOver) this.#active.delete(id);
    }
    if (messages > MANY_SYNC_MESSAGES) {
      this.#limit = Math.max(FEWEST_SYNCHRONISING, Math.floor(this.#limit * SHRINKAGE));
    } else if (messages < FEW_SYNC_MESSAGES && this.#orders > 0) {
      this.#limit += GROWTH + Math.floor(this.#limit * GROWTH_SHARE);
    } else if (this.#orders === 0) {
      this.#limit = Math.max(FEWEST_SYNCHRONISING, this.#active.size);
    }
    for (const [agent, orders] of this.#held) {
      if (this.#active.size >= this.#limit) return;
      this.#held.delete(agent);
      this.#orders -= orders.length;
      this.#send(agent, orders);
    }
  }

  /** Nothing is sent any more. */
  close(): void {
    this.#held.clear();
    this.#orders = 0;
  }

  #send(agent: Agent, orders: readonly Buffer[]): void {
    const now = this.#parts.now();
    this.#active.set(agent.id, { since: this.#active.get(agent.id)?.since ?? now, heard: now });
    for (const order of orders) this.#parts.send(agent, order);
  }
}
