import { setTimeout as delay } from 'node:timers/promises';
import { startupMessage } from '../../lib/agentlink/control-text.js';
import { RunFiles } from '../../lib/daemon/run-files.js';
import { readRunRecord } from '../../lib/daemon/run-record.js';
import { type AgentIdentity, MinimalAgent } from '../support/agentlink/minimal-agent.js';
import { eventually } from '../support/eventually.js';
import { AgentRecord } from './agent-record.js';
import type { ManagerNode } from './manager-node.js';

/** A manager that answers nothing for so long is taken for lost. */
const SILENCE_MS = 5000;
const KEEPALIVE_MS = 500;
const RETRY_MS = 100;

/** An agent that is connected to one manager of a cluster or another, whatever happens to them, and notes the orders that it gets. */
export class OrderAgent {
  readonly record: AgentRecord;
  readonly #agent: MinimalAgent;
  readonly #nodes: readonly ManagerNode[];
  readonly #tokenOf: (order: string) => string | undefined;
  #at: number;
  #stopped = false;
  #moving = false;
  #running: Promise<void> = Promise.resolve();

  /** @param tokenOf what an order is known by; undefined: it is not one that counts @param at the node that comes first */
  constructor(
    identity: AgentIdentity,
    nodes: readonly ManagerNode[],
    tokenOf: (order: string) => string | undefined,
    at: number,
  ) {
    this.record = new AgentRecord(identity.id);
    this.#agent = new MinimalAgent(identity);
    this.#nodes = nodes;
    this.#tokenOf = tokenOf;
    this.#at = at;
    this.#agent.onRequest = () => 'ok {"active-response":{"disabled":"no"}}';
    this.#agent.onOrder = (order) => {
      const token = this.#tokenOf(order);
      if (token !== undefined) this.record.received(token);
    };
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Goes to another manager although this one is well. */
  move(): void {
    this.#moving = true;
  }

  /** Resolves when a manager has answered what was sent after this call. */
  async settled(): Promise<void> {
    const now = performance.now();
    await eventually(`agent ${this.record.id} is connected`, () => this.record.answeredSince(now), 60_000);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    for (; !this.#stopped; this.#at += 1) {
      const node = this.#nodes[this.#at % this.#nodes.length];
      const port = node === undefined ? undefined : portOf(node);
      const host = node?.host.place.address;
      this.#moving = false;
      if (port !== undefined) await this.#stay(port, host).catch(() => {});
      this.#agent.close();
      if (!this.#moving) await delay(RETRY_MS);
    }
  }

  /** Until the connection ends, the manager is silent, or it is to move. @throws the socket's error */
  async #stay(port: number, host?: string): Promise<void> {
    const agent = this.#agent;
    await agent.connect(port, host);
    if (!(await this.#answered(() => agent.send(startupMessage('v4.14.7'))))) return;
    this.record.connected(performance.now());
    while (!this.#stopped && !this.#moving) {
      const sentAt = performance.now();
      if (!(await this.#answered(() => agent.keepalive()))) return;
      this.record.proven(sentAt);
      await delay(KEEPALIVE_MS);
    }
  }

  async #answered(ask: () => void): Promise<boolean> {
    const agent = this.#agent;
    const before = agent.acks;
    ask();
    await eventually('an answer', () => agent.acks > before || agent.closed, SILENCE_MS).catch(() => {});
    return agent.acks > before && !agent.closed;
  }
}

function portOf(node: ManagerNode): number | undefined {
  return readRunRecord(new RunFiles(node.host.home, 'svc-remoted').record())?.addresses['agents_tcp']?.port;
}
