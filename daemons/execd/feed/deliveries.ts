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
import type { FeedStore, Recipients, StoredOrder } from './feed-store.js';
import { PeerLog } from './peer-log.js';

/** How often it is tried to reach agents that are away, and daemons that do not answer; milliseconds. */
const RETRY_MS = 5000;
/** Orders that wait at once: each is up to 64 KiB on disk. The oldest is given up for a new one. */
const MAX_ORDERS = 10_000;
/** Sending to 100,000 agents takes a while. */
const SEND_DEADLINE_MS = 60_000;
const MANAGER = '000';
/** `agents.send`: an agent that may be there later. */
const LATER: ReadonlySet<string> = new Set(['disconnected', 'closed', 'full']);

export type DeliveriesParts = {
  readonly store: FeedStore;
  readonly db: Pick<RequestClient<typeof dbContract>, 'call'>;
  readonly remoted: Pick<RequestClient<typeof remotedContract>, 'call'>;
  /** Name of this node. */
  readonly node: () => string;
  readonly logger: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly retryMs?: number;
};

type WaitingOrder = { readonly expires: number; readonly recipients: Recipients };

/**
 * Brings responses to agents (rules-and-alerts.md 8.3, step 4): each agent gets each once, in their order, as soon as it is there.
 * What waits is on disk. Only when this process ends between a sending and its note may an agent get one a second time.
 */
export class Deliveries {
  /** Since the start; agents, not orders. */
  readonly counts = { sent: 0, dropped: 0 };
  readonly #parts: DeliveriesParts;
  readonly #peers: PeerLog;
  readonly #dropLog: LimitedLogger;
  readonly #waiting = new Map<number, WaitingOrder>();
  /** Agents that were away when they were tried last. */
  readonly #away = new Set<string>();
  readonly #stopping = new AbortController();
  #awayAt = performance.now();
  #lastId = 0;
  /** Something came since the round began. */
  #woken = false;
  #wake: () => void = () => {};
  #running: Promise<void> = Promise.resolve();

  constructor(parts: DeliveriesParts) {
    this.#parts = parts;
    this.#dropLog = parts.logger.limited();
    this.#peers = new PeerLog(
      parts.logger,
      'Active responses for agents wait',
      'Active responses are brought to agents again',
    );
    const { orders, recipients } = parts.store;
    for (const [id, { expires }] of orders.entries()) {
      this.#waiting.set(id, { expires, recipients: recipients.get(id) ?? { agents: [], all: false } });
      this.#lastId = id;
    }
  }

  /** Agents that something waits for; one is counted as often as it is waited for. */
  get waiting(): number {
    let count = 0;
    for (const { recipients } of this.#waiting.values()) count += recipients.agents.length + (recipients.all ? 1 : 0);
    return count;
  }

  /** Takes an order over, together with other changes. @throws StoreError: it is not taken */
  async add(order: StoredOrder, recipients: Recipients, beside: readonly Change[]): Promise<void> {
    const { store } = this.#parts;
    const id = (this.#lastId += 1);
    await store.commit([store.orders.put(id, order), store.recipients.put(id, recipients), ...beside]);
    this.#waiting.set(id, { expires: order.expires, recipients });
    this.#woken = true;
    this.#wake();
  }

  get #untilStop(): { readonly signal: AbortSignal } {
    return { signal: this.#stopping.signal };
  }

  start(onFailure: (error: unknown) => void): void {
    this.#running = this.#run().catch(onFailure);
  }

  /** What is not sent by now is sent after the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake();
    await this.#running;
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
      this.#away.clear();
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

  async #round(): Promise<void> {
    while (this.#waiting.size > MAX_ORDERS) {
      const [oldest] = this.#waiting.keys();
      if (oldest !== undefined) await this.#drop(oldest, 'too many wait already');
    }
    for (const [id, { expires }] of [...this.#waiting]) {
      if (this.#stopping.signal.aborted) return;
      if (this.#parts.now() >= expires) await this.#drop(id, 'they were away for too long');
      else await this.#deliver(id);
    }
  }

  async #deliver(id: number): Promise<void> {
    await this.#nameAll(id);
    const { store, node } = this.#parts;
    const recipients = this.#waiting.get(id)?.recipients;
    const ids = recipients?.agents.filter((agent) => !this.#away.has(agent)) ?? [];
    if (recipients !== undefined && recipients.agents.length === 0) return this.#note(id, []);
    const order = ids.length === 0 ? undefined : store.orders.get(id);
    if (order === undefined) return;
    const alert = JSON.parse(order.alert) as Record<string, unknown>;
    const { command, extraArgs } = order;
    const origin = { name: node(), module: 'wazuh-analysisd' };
    for (const [message, agents] of await this.#messages(id, ids, (version) =>
      agentOrder({ origin, command, extraArgs, alert }, version),
    )) {
      await this.#send(id, command, message, agents);
    }
  }

  /** `all` are those that are active now. */
  async #nameAll(id: number): Promise<void> {
    const recipients = this.#waiting.get(id)?.recipients;
    if (recipients?.all !== true) return;
    const { ids } = await this.#parts.db.call('agents.ids', { status: 'active' }, this.#untilStop);
    await this.#note(id, [...new Set([...recipients.agents, ...ids.filter((agent) => agent !== MANAGER)])]);
  }

  /** The message for each agent, as its version takes it, with those that get the same. */
  async #messages(
    id: number,
    ids: readonly string[],
    messageFor: (version: string) => string,
  ): Promise<ReadonlyMap<string, string[]>> {
    const { db } = this.#parts;
    const messages = new Map<string, string[]>();
    for (let from = 0; from < ids.length; from += MAX_AGENTS_PER_PAGE) {
      const asked = ids.slice(from, from + MAX_AGENTS_PER_PAGE);
      const { items, unknown } = await db.call(
        'agents.get',
        { ids: asked, select: ['id', 'version'] },
        this.#untilStop,
      );
      if (unknown.length > 0) await this.#giveUp(id, unknown, 'there is no such agent');
      for (const { id: agent, version } of items) {
        if (typeof agent !== 'string') continue;
        if (typeof version !== 'string') {
          this.#parts.logger.debug(`Unable to read agent version. Agent ${agent} is tried again.`);
          this.#away.add(agent);
          continue;
        }
        const message = messageFor(version);
        const same = messages.get(message);
        if (same === undefined) messages.set(message, [agent]);
        else same.push(agent);
      }
    }
    return messages;
  }

  async #send(id: number, command: string, message: string, agents: readonly string[]): Promise<void> {
    let failed: readonly { readonly id: string; readonly code: string; readonly message: string }[];
    try {
      const params = { ids: [...agents], message };
      ({ failed } = await this.#parts.remoted.call('agents.send', params, {
        ...this.#untilStop,
        deadlineMs: SEND_DEADLINE_MS,
      }));
    } catch (error) {
      const refused = error instanceof BusError && (error.code === 'bad_message' || error.code === 'bad_params');
      if (!refused) throw error;
      return this.#giveUp(id, agents, describeError(error));
    }
    const later = new Set(failed.filter(({ code }) => LATER.has(code)).map(({ id: agent }) => agent));
    const never = failed.filter(({ code }) => !LATER.has(code));
    for (const agent of later) this.#away.add(agent);
    const failedIds = new Set(failed.map(({ id: agent }) => agent));
    const sent = agents.filter((agent) => !failedIds.has(agent));
    this.counts.sent += sent.length;
    if (sent.length > 0) this.#parts.logger.debug(`Active response '${command}' sent to agents ${sent.join(',')}.`);
    await this.#note(id, this.#without(id, sent));
    for (const { id: agent, message: reason } of never) await this.#giveUp(id, [agent], reason);
  }

  async #drop(id: number, reason: string): Promise<void> {
    const recipients = this.#waiting.get(id)?.recipients;
    await this.#giveUp(id, recipients?.agents ?? [], reason);
    // Nobody has said which agents these are.
    if (recipients?.all === true) this.#dropLog.warn(`An active response is not sent to the active agents: ${reason}.`);
    await this.#note(id, []);
  }

  async #giveUp(id: number, agents: readonly string[], reason: string): Promise<void> {
    if (agents.length === 0) return;
    const order = this.#parts.store.orders.get(id);
    await this.#note(id, this.#without(id, agents));
    this.counts.dropped += agents.length;
    const shown = agents.slice(0, MAX_SHOWN).join(',') + (agents.length > MAX_SHOWN ? ',...' : '');
    this.#dropLog.warn(`Active response '${order?.command ?? ''}' is not sent to agents ${shown}: ${reason}.`);
  }

  #without(id: number, agents: readonly string[]): readonly string[] {
    const gone = new Set(agents);
    return this.#waiting.get(id)?.recipients.agents.filter((agent) => !gone.has(agent)) ?? [];
  }

  /** Who is left of an order; nobody: it is over. */
  async #note(id: number, agents: readonly string[]): Promise<void> {
    const { store } = this.#parts;
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    if (agents.length === 0) {
      await store.commit([store.orders.remove(id), store.recipients.remove(id)]);
      this.#waiting.delete(id);
      return;
    }
    const recipients = { agents: [...agents], all: false };
    await store.commit([store.recipients.put(id, recipients)]);
    this.#waiting.set(id, { ...waiting, recipients });
  }
}

/** Agents that a line of the log names. */
const MAX_SHOWN = 20;
