import { MAX_PAYLOAD_BYTES } from '../../../lib/agentlink/link-limits.js';
import { unlessAborted } from '../../../lib/async/unless-aborted.js';
import type { InventoryTableName } from '../../../lib/events/inventory/inventory-tables.js';
import { tableOfComponent } from '../../../lib/events/inventory/read-row.js';
import type { SyncAnswer } from '../../../lib/events/sync/sync-step.js';
import { bytesOf } from '../../../lib/fim/byte-order.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';
import { Pace } from '../../../lib/sync/pace.js';
import { type RangeSource, RangeSync } from '../../../lib/sync/range-sync.js';
import { StepSender } from '../../../lib/sync/step-sender.js';
import { SyncAnswers } from '../../../lib/sync/sync-answers.js';
import type { SyncClock } from '../../../lib/sync/sync-clock.js';
import type { SyncOutlet } from '../../../lib/sync/sync-outlet.js';
import type { FinishedRow } from './finished-row.js';
import { componentOf, INVENTORY_LOCATION, inventorySyncMessage } from './inventory-messages.js';

/** Answers of one table that may wait; one on top is dropped, and the next round asks again. */
const MOST_ANSWERS = 16_384;
/** Queue and location in front of a message. */
const HEADER_BYTES = 4 + INVENTORY_LOCATION.length;

export type InventorySyncParts = {
  readonly sources: ReadonlyMap<InventoryTableName, RangeSource<FinishedRow>>;
  readonly outlet: SyncOutlet;
  readonly clock: SyncClock;
  /** Messages a second. */
  readonly maxEps: () => number;
  readonly logger: Logger;
};

/** One table and what the manager answered about it. */
type TableSync = {
  readonly sync: RangeSync<FinishedRow>;
  readonly answers: SyncAnswers;
  readonly sender: StepSender<FinishedRow>;
};

/**
 * Makes the manager's tables of the inventory equal to those here (integrity-and-inventory.md 5, 11.4): a round of each table
 * when it is asked for, and what the manager's answers call for, one after the other and at most so many messages a second.
 */
export class InventorySync {
  readonly #parts: InventorySyncParts;
  readonly #tables: ReadonlyMap<string, TableSync>;
  readonly #counters = { rounds: 0, failed: 0, unknown: 0 };
  readonly #failedLog: LimitedLogger;
  /** Tables whose round is to begin. */
  readonly #due = new Set<string>();
  #idle = new AbortController();
  #running: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;

  constructor(parts: InventorySyncParts) {
    const { outlet, clock, maxEps, logger } = parts;
    this.#parts = parts;
    this.#failedLog = logger.limited();
    const pace = new Pace(clock, maxEps);
    const tableSync = (name: InventoryTableName, source: RangeSource<FinishedRow>): TableSync => ({
      sync: new RangeSync(source),
      answers: new SyncAnswers(componentOf(name), logger),
      sender: new StepSender({
        ...{ outlet, pace, logger },
        message: (step) => inventorySyncMessage(name, step),
        maxBytes: MAX_PAYLOAD_BYTES - HEADER_BYTES,
      }),
    });
    this.#tables = new Map([...parts.sources].map(([name, source]) => [name, tableSync(name, source)]));
  }

  /** For `stats` of the daemon: sums of all tables. */
  get stats(): Record<string, number> {
    const sums: Record<string, number> = { ...this.#counters, waiting: 0, lost: this.#parts.outlet.lost };
    for (const { answers, sender } of this.#tables.values()) {
      const all = { waiting: answers.length, ...sender.counters, ...answers.counters };
      for (const [name, value] of Object.entries(all)) sums[name] = (sums[name] ?? 0) + value;
    }
    return sums;
  }

  start(): void {
    if (this.#running !== undefined) return;
    const stop = new AbortController();
    this.#running = { stop, ended: this.#work(stop.signal) };
  }

  /** Has a round of each of the tables begin. */
  round(tables: Iterable<InventoryTableName>): void {
    for (const table of tables) this.#due.add(table);
    this.#idle.abort();
  }

  /** Has none begin of a table that is not taken any more: it would clear the manager's. */
  forget(table: InventoryTableName): void {
    this.#due.delete(table);
  }

  /** Takes an answer of the manager, `syscollector_<table> dbsync <verb> <json>`, a byte string. What is none is counted. */
  take(order: string): void {
    const text = bytesOf(order).toString('utf8');
    const table = this.#tables.get(tableOfComponent(text.slice(0, Math.max(0, text.indexOf(' '))))?.name ?? '');
    if (table === undefined || this.#running === undefined) this.#counters.unknown += 1;
    else if (table.answers.take(text, MOST_ANSWERS)) this.#idle.abort();
  }

  /** Ends it in the middle of whatever it does. */
  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    running?.stop.abort();
    this.#idle.abort();
    await running?.ended;
    for (const { answers } of this.#tables.values()) answers.clear();
    this.#due.clear();
  }

  async #work(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#idle = new AbortController();
      const next = this.#nextAnswer();
      const [due] = this.#due;
      try {
        if (next !== undefined) await this.#answer(...next, signal);
        else if (due !== undefined) await this.#round(due, signal);
        else await unlessAborted(AbortSignal.any([signal, this.#idle.signal]), new Promise(() => {}));
      } catch (error) {
        if (signal.aborted) return;
        this.#counters.failed += 1;
        this.#failedLog.warn(
          `The synchronisation of the inventory stopped until its next round: ${describeError(error)}`,
        );
      }
    }
  }

  #nextAnswer(): [TableSync, SyncAnswer] | undefined {
    for (const table of this.#tables.values()) {
      const answer = table.answers.next();
      if (answer !== undefined) return [table, answer];
    }
    return undefined;
  }

  async #answer({ sync, sender }: TableSync, answer: SyncAnswer, signal: AbortSignal): Promise<void> {
    await sender.sendAll(sync.answer(answer, signal), signal);
  }

  async #round(name: string, signal: AbortSignal): Promise<void> {
    this.#due.delete(name);
    const table = this.#tables.get(name);
    if (table === undefined) return;
    this.#counters.rounds += 1;
    await table.sender.send(await table.sync.start(this.#parts.clock.now(), signal), signal);
  }
}
