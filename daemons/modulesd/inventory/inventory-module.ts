import type { SyscollectorConfig } from '../../../lib/config/sections/modules.js';
import { INVENTORY_TABLES, type InventoryTableName } from '../../../lib/events/inventory/inventory-tables.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';
import type { SyncClock } from '../../../lib/sync/sync-clock.js';
import type { SyncOutlet } from '../../../lib/sync/sync-outlet.js';
import { ThreadDeadlineError } from '../../../lib/thread/run-in-thread.js';
import { ModuleLoop } from '../schedule/module-loop.js';
import { DeltaSender, type DeltaSenderParts } from './delta-sender.js';
import type { FinishedRow } from './finished-row.js';
import type { Note, NoteKind } from './host/scan-notes.js';
import type { ScanNews, ScanOrder, ScanSummary } from './host/scan-order.js';
import { scanTimeOf } from './host/scan-time.js';
import { InventorySync } from './inventory-sync.js';
import { syncEps, wantedTables } from './scan-settings.js';
import { changesBetween, TableRows } from './table-rows.js';

/** Looks at the host elsewhere, and tells what it sees. */
export type ScanRun = (order: ScanOrder, onNews: (news: ScanNews) => void, signal: AbortSignal) => Promise<ScanSummary>;

export type InventoryModuleParts = {
  /** Directory that stands for `/`: another one in tests alone. */
  readonly root: string;
  readonly scan: ScanRun;
  readonly producer: DeltaSenderParts['producer'];
  readonly outlet: SyncOutlet;
  readonly clock: SyncClock;
  readonly maxEps: () => number;
  /** `wazuh_modules.task_nice` */
  readonly nice: () => number;
  readonly logger: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** A table with what is known of it. */
type Table = { readonly rows: TableRows; hasBaseline: boolean; failures: number };

type Running = { readonly settings: string; readonly loop: ModuleLoop };

/** Scans whose thread is left behind in a call of the system; those that were merely slow do not count. */
const MOST_STUCK = 3;

/** What notes are called in the log. */
const NOTES: Readonly<Record<NoteKind, string>> = {
  unreadable: 'could not be read',
  too_large: 'larger than is read',
  malformed: 'not what it should be',
  cut: 'with texts that were cut to fit into a message',
  repeated: 'with a key that was there already',
  too_many: 'with more in it than is looked at',
};

/**
 * `<wodle name="syscollector">`: the inventory of this host (integrity-and-inventory.md 11). Each scan looks at it anew; what differs
 * from the scan before is told as events, and then the manager's tables are made equal. What the last scan left is in memory: the
 * first scan after a start tells no changes, the synchronisation brings them.
 */
export class InventoryModule {
  readonly #parts: InventoryModuleParts;
  readonly #tables: ReadonlyMap<InventoryTableName, Table>;
  readonly #sync: InventorySync;
  readonly #deltas: DeltaSender;
  readonly #counters = { scans: 0, failed: 0, last_scan: 0, last_duration_ms: 0, stuck: 0 };
  readonly #failedLogs = new Map<InventoryTableName, LimitedLogger>();
  readonly #notes = new Map<NoteKind, number>();
  #config: SyscollectorConfig | undefined;
  #running: Running | undefined;

  constructor(parts: InventoryModuleParts) {
    const { outlet, clock, logger, producer, maxEps } = parts;
    this.#parts = parts;
    this.#tables = new Map(
      INVENTORY_TABLES.map(({ name }) => [name, { rows: new TableRows(), hasBaseline: false, failures: 0 }]),
    );
    this.#sync = new InventorySync({
      ...{ outlet, clock, logger },
      sources: new Map([...this.#tables].map(([name, { rows }]) => [name, rows])),
      maxEps: () => (this.#config === undefined ? 0 : syncEps(this.#config)),
    });
    this.#deltas = new DeltaSender({ producer, clock, maxEps, logger });
  }

  /** For `stats` of the daemon. */
  get stats(): Record<string, unknown> {
    const rows = [...this.#tables]
      .filter(([, { hasBaseline }]) => hasBaseline)
      .map(([name, table]) => [name, table.rows.rows.length]);
    return {
      enabled: this.#running !== undefined,
      ...this.#counters,
      rows: Object.fromEntries(rows),
      notes: Object.fromEntries(this.#notes),
      deltas: { ...this.#deltas.counters, lost: this.#deltas.lost },
      synchronization: this.#sync.stats,
    };
  }

  /** Has it follow a configuration: one that is the same lets it go on, another has it begin anew with what it knows. */
  async follow(config: SyscollectorConfig | undefined): Promise<void> {
    const { logger, now } = this.#parts;
    const settings = JSON.stringify(config);
    if (config !== undefined && this.#running?.settings === settings) return;
    await this.#end();
    this.#config = config;
    if (config === undefined || config.disabled) {
      await this.#sync.stop();
      for (const table of this.#tables.values()) forget(table);
      if (config !== undefined) logger.info('Module disabled. Exiting...');
      return;
    }
    const wanted = new Set(wantedTables(config));
    for (const [name, table] of this.#tables) {
      if (wanted.has(name)) continue;
      forget(table);
      this.#sync.forget(name);
    }
    this.#sync.start();
    const loop = new ModuleLoop({
      name: 'syscollector',
      schedule: config,
      runOnStart: config.scan_on_start,
      // What is known of the host does not outlive the process: nor does when it was looked at.
      times: { last: () => undefined, keep: () => {} },
      run: (signal) => this.#run(config, signal),
      logger,
      now,
    });
    this.#running = { settings, loop };
    logger.info('Module started.');
    loop.start();
  }

  /** Takes an answer of the manager to the synchronisation, a byte string. */
  take(order: string): void {
    this.#sync.take(order);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#end(), this.#sync.stop()]);
  }

  async #end(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    await running?.loop.stop();
  }

  /** One scan. @returns false: it is not to run again */
  async #run(config: SyscollectorConfig, signal: AbortSignal): Promise<boolean> {
    const { root, scan, nice, logger, now } = this.#parts;
    const tables = wantedTables(config);
    const begun = now();
    logger.info('Starting evaluation.');
    this.#counters.scans += 1;
    const found = new ScanResult();
    try {
      const order = { root, tables, allPorts: config.ports.all, now: begun, nice: nice() };
      const { notes } = await scan(order, (news) => found.take(news), signal);
      this.#tell(notes);
    } catch (error) {
      if (signal.aborted) return true;
      this.#counters.failed += 1;
      logger.error(`The inventory of this host could not be taken whole: ${describeError(error)}`);
      if (error instanceof ThreadDeadlineError && error.isLeft) this.#counters.stuck += 1;
    }
    this.#counters.last_scan = Math.floor(begun / 1000);
    this.#counters.last_duration_ms = now() - begun;
    for (const [table, failure] of found.failures) this.#failed(table, failure);
    for (const [table, rows] of found.whole) {
      await this.#update(table, rows, scanTimeOf(begun), signal);
      if (signal.aborted) return true;
    }
    logger.info('Evaluation finished.');
    this.#sync.round(found.whole.keys());
    if (this.#counters.stuck < MOST_STUCK) return true;
    logger.error('No further inventory is taken until the next start: its threads do not come back from this system.');
    return false;
  }

  /** Tells what changed in a table, then takes it over: a scan that is called off meanwhile is told again. */
  async #update(
    name: InventoryTableName,
    rows: readonly FinishedRow[],
    scanTime: string,
    signal: AbortSignal,
  ): Promise<void> {
    const table = this.#tables.get(name);
    if (table === undefined) return;
    if (table.hasBaseline) {
      for (const change of changesBetween(table.rows.rows, rows)) {
        await this.#deltas.send(name, change, scanTime, signal);
        if (signal.aborted) return;
      }
    }
    table.rows.replace(rows);
    table.hasBaseline = true;
  }

  #failed(name: InventoryTableName, failure: string): void {
    const { logger } = this.#parts;
    const table = this.#tables.get(name);
    if (table !== undefined) table.failures += 1;
    this.#counters.failed += 1;
    let log = this.#failedLogs.get(name);
    if (log === undefined) this.#failedLogs.set(name, (log = logger.limited()));
    log.warn(`The inventory keeps what it has of ${name}: ${failure}`);
  }

  #tell(notes: readonly Note[]): void {
    for (const { kind, count, first } of notes) {
      const known = this.#notes.get(kind);
      this.#notes.set(kind, (known ?? 0) + count);
      const more = count > 1 ? ` and ${String(count - 1)} more` : '';
      const line = `In the inventory, ${NOTES[kind]}: ${printable(first)}${more}`;
      // The same again with every scan: it is said once.
      if (known === undefined) this.#parts.logger.info(`${line}. Later ones are counted in its statistics alone.`);
      else this.#parts.logger.debug(line);
    }
  }
}

/** What a scan has told. */
class ScanResult {
  readonly whole = new Map<InventoryTableName, readonly FinishedRow[]>();
  readonly failures = new Map<InventoryTableName, string>();
  readonly #parts = new Map<InventoryTableName, FinishedRow[]>();

  take(news: ScanNews): void {
    if ('failure' in news) {
      this.failures.set(news.table, news.failure);
      return;
    }
    const rows = this.#parts.get(news.table) ?? [];
    for (const row of news.rows) rows.push(row);
    this.#parts.set(news.table, rows);
    if (news.last) this.whole.set(news.table, rows);
  }
}

function forget(table: Table): void {
  table.rows.replace([]);
  table.hasBaseline = false;
}

/** Names come from users. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}
