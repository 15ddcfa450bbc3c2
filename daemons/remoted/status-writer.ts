import { BusError } from '../../lib/bus/bus-error.js';
import type { dbContract } from '../../lib/bus/contracts/db.js';
import type { AgentChanges } from '../../lib/bus/contracts/db-agents.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../lib/log/logger.js';
import { type Agent, linkOf } from './agent-link.js';
import { tableId } from './agent-report.js';
import type { StatusMessage, StatusSink } from './control-messages.js';
import { ControlMailbox } from './link/control-mailbox.js';
import type { RemotedCounters } from './remoted-counters.js';
import { MAX_REPORTED_AGENTS, MAX_REPORTED_CHARS } from './remoted-limits.js';
import { restoreLabels } from './restore-labels.js';

/** Messages are collected this long before a call: with 1,000 keepalives a second it carries 100 of them. */
const COLLECT_MS = 100;
/** Pause after a call that failed. */
const RETRY_MS = 1000;
/** Attempts with a call that svc-db answers with an error of its own; it is then given up, so that others go on. */
const MAX_REFUSALS = 5;
const LIMITS = { deadlineMs: 10_000 };
const STATUS_SHUTDOWN = 3;

/** Errors after which the same call may well succeed, whenever svc-db is able again. */
const PASSING = new Set(['unavailable', 'timeout', 'busy', 'closed', 'disk_full']);

export type StatusWriterParts = {
  readonly db: Pick<RequestClient<typeof dbContract>, 'call'>;
  readonly counters: RemotedCounters;
  readonly logger: Logger;
  /** All that have a key. */
  readonly agents: () => Iterable<Agent>;
  /** `remoted.control_msg_queue_size` */
  readonly mostAgents: number;
  /** Waits; resolves early when the daemon stops. */
  readonly sleep: (milliseconds: number) => Promise<void>;
};

type WaitingStatus = { readonly agent: Agent; readonly message: StatusMessage; readonly kind: StatusMessage['kind'] };
type StatusItem = {
  id: string;
  status?: 'pending' | 'disconnected';
  statusCode: number;
  at?: number;
  disconnectionTime?: number;
  version?: string | null;
};
type StatusBatch = {
  readonly statuses: StatusItem[];
  readonly keepalives: { id: string; at: number; changes?: AgentChanges }[];
  readonly reported: Map<string, { readonly agent: Agent; readonly report: AgentChanges | undefined }>;
};

/**
 * Tells svc-db what agents tell of themselves (agents-and-groups.md 3.6, 4.6), many in one call. While svc-db is away the
 * last word of each agent waits; agents notice nothing.
 */
export class StatusWriter implements StatusSink {
  readonly #parts: StatusWriterParts;
  readonly #mailbox: ControlMailbox<WaitingStatus>;
  readonly #failureLog: LimitedLogger;
  #wake: (() => void) | undefined;
  #stopping = false;
  #failing = false;

  constructor(parts: StatusWriterParts) {
    this.#parts = parts;
    this.#mailbox = new ControlMailbox(parts.mostAgents);
    this.#failureLog = parts.logger.limited();
  }

  /** Agents whose word waits. */
  get waiting(): number {
    return this.#mailbox.size;
  }

  put(agent: Agent, message: StatusMessage): void {
    const { mailbox } = this.#parts.counters;
    const result = this.#mailbox.put(agent.id, { agent, message, kind: message.kind });
    mailbox[result] += 1;
    // What is not even kept here is told again with the next keepalive.
    if (result === 'full') linkOf(agent).keepalive = undefined;
    this.#wake?.();
  }

  /**
   * Works until `stop`. All agents begin as disconnected, whatever an earlier process has left (code 5).
   * @param startedAt epoch milliseconds
   */
  async run(startedAt: number): Promise<void> {
    const { db } = this.#parts;
    await this.#untilDone('the reset of connections', () =>
      db.call('agents.reset_connections', { at: seconds(startedAt) }, LIMITS),
    );
    await this.#untilDone('a question for labels', () => restoreLabels(db, this.#parts.agents()));
    while (!this.#stopping || this.#mailbox.size > 0) {
      if (this.#mailbox.size === 0) await this.#untilWoken();
      await this.#parts.sleep(COLLECT_MS);
      const batch = this.#collect();
      if (batch.statuses.length > 0) {
        await this.#untilDone('the states of agents', async () => {
          const { unknown } = await db.call('agents.status', { agents: batch.statuses }, LIMITS);
          this.#forget(batch, unknown);
        });
      }
      if (batch.keepalives.length > 0) {
        await this.#untilDone('keepalives', async () => {
          const keepalives = await db.call('agents.keepalives', { agents: batch.keepalives }, LIMITS);
          this.#settle(batch);
          this.#forget(batch, keepalives.unknown);
          this.#forget(batch, keepalives.incomplete);
        });
      }
      this.#parts.counters.mailbox.processed += batch.statuses.length + batch.keepalives.length;
    }
  }

  /** Lets `run` write what waits, once, and end. */
  stop(): void {
    this.#stopping = true;
    this.#wake?.();
  }

  async #untilWoken(): Promise<void> {
    if (this.#stopping) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }

  #collect(): StatusBatch {
    const batch: StatusBatch = { statuses: [], keepalives: [], reported: new Map() };
    let chars = 0;
    for (let agents = 0; agents < MAX_REPORTED_AGENTS && chars < MAX_REPORTED_CHARS; agents += 1) {
      const taken = this.#mailbox.take();
      if (taken === undefined) break;
      for (const { agent, message } of taken.messages) {
        // Its key is gone, and so is its row.
        if (agent.removed) continue;
        const id = tableId(agent.id);
        if (message.kind !== 'keepalive') {
          batch.statuses.push(statusItem(id, message));
          continue;
        }
        const { report } = linkOf(agent);
        batch.reported.set(id, { agent, report });
        batch.keepalives.push({ id, at: seconds(message.at), ...(report === undefined ? {} : { changes: report }) });
        for (const [key, value] of report?.labels ?? []) chars += key.length + value.length;
      }
    }
    return batch;
  }

  /** What was told is known now, unless the agent has told something else meanwhile. */
  #settle(batch: StatusBatch): void {
    for (const { agent, report } of batch.reported.values()) {
      const link = linkOf(agent);
      if (link.report === report) link.report = undefined;
    }
  }

  /** Agents without a row tell everything again: svc-db may not have heard of their enrolment yet. So do those that were elsewhere. */
  #forget(batch: StatusBatch, unknown: readonly string[]): void {
    for (const id of unknown) {
      const agent = batch.reported.get(id)?.agent;
      if (agent !== undefined) linkOf(agent).keepalive = undefined;
    }
  }

  /** Repeats a call until it is done; while the daemon stops it is tried once. */
  async #untilDone(what: string, work: () => Promise<unknown>): Promise<void> {
    for (let refusals = 0; ;) {
      try {
        await work();
        if (this.#failing) this.#parts.logger.info('svc-db takes the states of agents again.');
        this.#failing = false;
        return;
      } catch (error) {
        const passing = error instanceof BusError && PASSING.has(error.code);
        if (!passing) refusals += 1;
        this.#failing = true;
        this.#failureLog.error(`svc-db did not take ${what}, agents stay connected: ${describeError(error)}`);
        if (this.#stopping || refusals >= MAX_REFUSALS) return;
      }
      await this.#parts.sleep(RETRY_MS);
    }
  }
}

function statusItem(id: string, message: StatusMessage & { kind: 'startup' | 'shutdown' }): StatusItem {
  const at = seconds(message.at);
  if (message.kind === 'shutdown') {
    return { id, status: 'disconnected', statusCode: STATUS_SHUTDOWN, disconnectionTime: at };
  }
  const version = message.version === undefined ? undefined : `Wazuh ${message.version}`.slice(0, 256);
  if (message.refused !== undefined) return { id, statusCode: message.refused, version: version ?? null };
  const told = version === undefined ? {} : { version };
  return { id, status: 'pending', statusCode: 0, at, disconnectionTime: 0, ...told };
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
