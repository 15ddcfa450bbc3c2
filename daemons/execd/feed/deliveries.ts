import { BusError } from '../../../lib/bus/bus-error.js';
import type { dbContract } from '../../../lib/bus/contracts/db.js';
import { MAX_AGENTS_PER_PAGE } from '../../../lib/bus/contracts/db-agents.js';
import type { remotedContract } from '../../../lib/bus/contracts/remoted.js';
import type { RequestClient } from '../../../lib/bus/request-client.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';
import type { Change } from '../../../lib/store/commit-queue.js';
import { StoreError } from '../../../lib/store/store-error.js';
import { agentOrder } from './agent-order.js';
import { AgentTurns } from './agent-turns.js';
import type { FeedStore, Recipients, StoredOrder } from './feed-store.js';
import { type NodeLanes, orderName, REFUSALS, type SendFailures } from './node-lanes.js';
import { PeerLog } from './peer-log.js';
import { WaitingOrders } from './waiting-orders.js';

/** How often it is tried to reach agents that are away, and daemons that do not answer; milliseconds. */
export const RETRY_MS = 5000;
/** Orders that wait at once: each is up to 64 KiB on disk. The oldest is given up for a new one. */
const MAX_ORDERS = 10_000;
/** Sending to 100,000 agents takes a while. */
const SEND_DEADLINE_MS = 60_000;
const MANAGER = '000';
/** `agents.send`: an agent that may be there later. */
const LATER: ReadonlySet<string> = new Set(['disconnected', 'closed', 'full']);
/** In a cluster svc-db says who exists; that a key has not come to a node yet says nothing. */
const LATER_IN_CLUSTER: ReadonlySet<string> = new Set([...LATER, 'unknown_agent']);
/** Agents of other nodes that are asked for: what waits for the others is not carried about in vain. */
const MAY_BE_THERE: ReadonlySet<unknown> = new Set(['active', 'pending']);

export type DeliveriesParts = {
  readonly store: FeedStore;
  readonly db: Pick<RequestClient<typeof dbContract>, 'call'>;
  readonly remoted: Pick<RequestClient<typeof remotedContract>, 'call'>;
  /** Of a cluster: this node's name there, and the way to agents of other nodes. */
  readonly cluster?: { readonly self: string; readonly lanes: Pick<NodeLanes, 'send' | 'stop'> } | undefined;
  /** Name of this node. */
  readonly node: () => string;
  readonly logger: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly retryMs?: number;
};

/** One message for agents of one node; undefined is this one. */
type Sending = { readonly node: string | undefined; readonly message: string; readonly agents: string[] };

/**
 * Brings responses to agents (rules-and-alerts.md 8.3, step 4): each agent gets each once, in their order, as soon as it is there,
 * at whichever node. What waits is on disk. Only when this process ends between a sending and its note may an agent get one a
 * second time.
 */
export class Deliveries {
  /** Since the start; agents, not orders. */
  readonly counts = { sent: 0, dropped: 0 };
  readonly #parts: DeliveriesParts;
  readonly #orders: WaitingOrders;
  readonly #peers: PeerLog;
  readonly #dropLog: LimitedLogger;
  readonly #later: ReadonlySet<string>;
  readonly #turns = new AgentTurns();
  readonly #stopping = new AbortController();
  #awayAt = performance.now();
  /** Something came since the round began. */
  #woken = false;
  #wake: () => void = () => {};
  #running: Promise<void> = Promise.resolve();
  #onFailure: (error: unknown) => void = () => {};

  constructor(parts: DeliveriesParts) {
    this.#parts = parts;
    this.#dropLog = parts.logger.limited();
    this.#peers = new PeerLog(
      parts.logger,
      'Active responses for agents wait',
      'Active responses are brought to agents again',
    );
    this.#orders = new WaitingOrders(parts.store);
    this.#later = parts.cluster === undefined ? LATER : LATER_IN_CLUSTER;
  }

  /** Agents that something waits for; one is counted as often as it is waited for. */
  get waiting(): number {
    return this.#orders.agents;
  }

  /** Takes an order over, together with other changes. @throws StoreError: it is not taken */
  async add(order: StoredOrder, recipients: Recipients, beside: readonly Change[]): Promise<void> {
    await this.#orders.add(order, recipients, beside);
    this.#goOn();
  }

  get #untilStop(): { readonly signal: AbortSignal } {
    return { signal: this.#stopping.signal };
  }

  start(onFailure: (error: unknown) => void): void {
    this.#onFailure = onFailure;
    this.#running = this.#run().catch(onFailure);
  }

  /** What is not sent by now is sent after the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake();
    await Promise.all([this.#running, this.#parts.cluster?.lanes.stop()]);
  }

  async #run(): Promise<void> {
    const { retryMs = RETRY_MS } = this.#parts;
    while (!this.#stopping.signal.aborted) {
      this.#woken = false;
      try {
        await this.#round();
        this.#peers.worked();
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        if (!(error instanceof BusError || error instanceof StoreError)) throw error;
        this.#peers.failed(error);
        this.#woken = false;
      }
      await this.#wait(retryMs);
      // Those that were away are tried again after a while, not whenever there is something for others.
      if (performance.now() - this.#awayAt < retryMs) continue;
      this.#turns.retry();
      this.#awayAt = performance.now();
    }
  }

  /** Until something comes. */
  async #wait(mostMs: number): Promise<void> {
    if (this.#woken || this.#stopping.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, mostMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #goOn(): void {
    this.#woken = true;
    this.#wake();
  }

  async #round(): Promise<void> {
    this.#turns.begin();
    while (this.#orders.size > MAX_ORDERS) {
      const { oldest } = this.#orders;
      if (oldest !== undefined) await this.#drop(oldest, 'too many wait already');
    }
    for (const [id, { expires }] of this.#orders.all()) {
      if (this.#stopping.signal.aborted) return;
      if (this.#parts.now() >= expires) await this.#drop(id, 'they were away for too long');
      else await this.#deliver(id);
    }
  }

  async #deliver(id: number): Promise<void> {
    await this.#nameAll(id);
    const recipients = this.#orders.recipients(id);
    const ids = recipients?.agents.filter((agent) => this.#turns.take(agent)) ?? [];
    if (recipients !== undefined && recipients.agents.length === 0) return this.#orders.keep(id, () => []);
    const order = ids.length === 0 ? undefined : this.#orders.order(id);
    if (order === undefined) return;
    const alert = JSON.parse(order.alert) as Record<string, unknown>;
    const { command, extraArgs } = order;
    const origin = { name: this.#parts.node(), module: 'wazuh-analysisd' };
    for (const sending of await this.#sendings(id, ids, (version) =>
      agentOrder({ origin, command, extraArgs, alert }, version),
    )) {
      if (sending.node === undefined) await this.#send(id, command, sending);
      else this.#sendElsewhere(sending.node, id, order, sending);
    }
  }

  /** `all` are those that are active now, at any node. */
  async #nameAll(id: number): Promise<void> {
    if (this.#orders.recipients(id)?.all !== true) return;
    const { ids } = await this.#parts.db.call('agents.ids', { status: 'active' }, this.#untilStop);
    const active = ids.filter((agent) => agent !== MANAGER);
    await this.#orders.keep(id, (named) => [...new Set([...named, ...active])]);
  }

  /** The message for each agent, as its version takes it, with those of its node that get the same. */
  async #sendings(
    id: number,
    ids: readonly string[],
    messageFor: (version: string) => string,
  ): Promise<readonly Sending[]> {
    const { db, logger } = this.#parts;
    const sendings = new Map<string, Sending>();
    for (let from = 0; from < ids.length; from += MAX_AGENTS_PER_PAGE) {
      const asked = ids.slice(from, from + MAX_AGENTS_PER_PAGE);
      const select = ['id', 'version', 'node_name', 'status'] as const;
      const { items, unknown } = await db.call('agents.get', { ids: asked, select: [...select] }, this.#untilStop);
      if (unknown.length > 0) await this.#giveUp(id, unknown, 'there is no such agent');
      for (const { id: agent, version, node_name: at, status } of items) {
        if (typeof agent !== 'string') continue;
        if (typeof version !== 'string') {
          logger.debug(`Unable to read agent version. Agent ${agent} is tried again.`);
          this.#turns.away(agent);
          continue;
        }
        const node = this.#otherNode(at);
        if (node !== undefined && !MAY_BE_THERE.has(status)) {
          this.#turns.away(agent);
          continue;
        }
        const message = messageFor(version);
        const key = `${node ?? ''}\0${message}`;
        const same = sendings.get(key);
        if (same === undefined) sendings.set(key, { node, message, agents: [agent] });
        else same.agents.push(agent);
      }
    }
    return [...sendings.values()];
  }

  /** The node that has an agent when it is not this one. */
  #otherNode(node: unknown): string | undefined {
    const { cluster } = this.#parts;
    if (cluster === undefined || typeof node !== 'string' || node === '' || node === cluster.self) return undefined;
    return node;
  }

  async #send(id: number, command: string, { message, agents }: Sending): Promise<void> {
    let failed: SendFailures;
    try {
      const params = { ids: [...agents], message };
      ({ failed } = await this.#parts.remoted.call('agents.send', params, {
        ...this.#untilStop,
        deadlineMs: SEND_DEADLINE_MS,
      }));
    } catch (error) {
      if (!(error instanceof BusError && REFUSALS.has(error.code))) throw error;
      return this.#giveUp(id, agents, describeError(error));
    }
    await this.#settle(id, command, agents, failed);
  }

  /** Does not wait for it: the next round is begun when it is known what became of it. */
  #sendElsewhere(node: string, id: number, order: StoredOrder, { message, agents }: Sending): void {
    const { cluster } = this.#parts;
    const once = orderName(cluster?.self ?? '', order);
    const taken = cluster?.lanes.send(node, { message, agents, once }, async (outcome) => {
      try {
        if (outcome instanceof BusError) await this.#giveUp(id, agents, describeError(outcome));
        else await this.#settle(id, order.command, agents, outcome);
      } catch (error) {
        for (const agent of agents) this.#turns.away(agent);
        if (error instanceof StoreError) this.#peers.failed(error);
        else this.#onFailure(error);
      }
      for (const agent of agents) this.#turns.free(agent);
      this.#goOn();
    });
    for (const agent of agents) {
      if (taken === true) this.#turns.busy(agent);
      else this.#turns.away(agent);
    }
  }

  async #settle(id: number, command: string, agents: readonly string[], failed: SendFailures): Promise<void> {
    for (const { id: agent, code } of failed) if (this.#later.has(code)) this.#turns.away(agent);
    const failedIds = new Set(failed.map(({ id: agent }) => agent));
    const sent = agents.filter((agent) => !failedIds.has(agent));
    this.counts.sent += sent.length;
    if (sent.length > 0) this.#parts.logger.debug(`Active response '${command}' sent to agents ${sent.join(',')}.`);
    await this.#orders.without(id, sent);
    for (const { id: agent, code, message: reason } of failed) {
      if (!this.#later.has(code)) await this.#giveUp(id, [agent], reason);
    }
  }

  async #drop(id: number, reason: string): Promise<void> {
    const recipients = this.#orders.recipients(id);
    await this.#giveUp(id, recipients?.agents ?? [], reason);
    // Nobody has said which agents these are.
    if (recipients?.all === true) this.#dropLog.warn(`An active response is not sent to the active agents: ${reason}.`);
    await this.#orders.keep(id, () => []);
  }

  async #giveUp(id: number, agents: readonly string[], reason: string): Promise<void> {
    if (agents.length === 0) return;
    const order = this.#orders.order(id);
    await this.#orders.without(id, agents);
    this.counts.dropped += agents.length;
    const shown = agents.slice(0, MAX_SHOWN).join(',') + (agents.length > MAX_SHOWN ? ',...' : '');
    this.#dropLog.warn(`Active response '${order?.command ?? ''}' is not sent to agents ${shown}: ${reason}.`);
  }
}

/** Agents that a line of the log names. */
const MAX_SHOWN = 20;
