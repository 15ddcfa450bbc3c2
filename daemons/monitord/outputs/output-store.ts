import * as z from 'zod';
import type { RecordPosition } from '../../../lib/output/record-stream.js';
import type { Change } from '../../../lib/store/commit-queue.js';
import { LmdbStore } from '../../../lib/store/lmdb-store.js';
import type { StoreError } from '../../../lib/store/store-error.js';
import type { StoreTable } from '../../../lib/store/store-table.js';
import type { LocalDay } from '../../../lib/time/local-day.js';
import { STATES_TABLES, StatesStore } from './states/states-store.js';

const POSITIONS = 'positions';
const MAILS = 'mails';
const REPORTS = 'reports';
const MAIL_HOURS = 'mail_hours';
const MAIL_HOUR = 'last';

const storedPosition = z.object({ file: z.string().max(64), offset: z.number().int().min(0) });

/** An alert that is to be mailed, under a key that counts up. */
const storedMail = z.object({
  /** Its line of alerts.json. */
  alert: z.string(),
  /** When it was taken, epoch milliseconds. */
  at: z.number(),
  /** Whom it is for. */
  route: z.string(),
});
export type StoredMail = z.infer<typeof storedMail>;

/** Mails of an hour, which is named as the clock of the host shows it. */
const storedMailHour = z.object({ hour: z.string().max(64), mails: z.number().int().min(0) });
type MailHour = z.infer<typeof storedMailHour>;

/** The last day that a report is done with; months count from 0. */
const storedDay = z.object({
  year: z.number().int(),
  month: z.number().int().min(0).max(11),
  day: z.number().int().min(1).max(31),
});

/**
 * How far each output is in the stream of alerts, the alerts that wait for a mail, how many mails the hour has had, of
 * which day the reports are, and how far inventories are indexed (`queue/outputs`, which svc-monitord alone opens).
 */
export class OutputStore {
  /** Resolves when nothing can be written any more; the process should end then. */
  readonly broken: Promise<StoreError>;
  readonly mails: StoreTable<number, StoredMail>;
  /** By the key of the report. */
  readonly reports: StoreTable<string, LocalDay>;
  /** How far inventories are indexed. */
  readonly states: StatesStore;
  readonly #store: LmdbStore;
  readonly #mailHours: StoreTable<string, MailHour>;
  readonly #positions: StoreTable<string, RecordPosition>;

  private constructor(store: LmdbStore) {
    this.#store = store;
    this.broken = store.broken;
    this.#positions = store.table<string, RecordPosition>(POSITIONS, storedPosition);
    this.mails = store.table<number, StoredMail>(MAILS, storedMail);
    this.reports = store.table<string, LocalDay>(REPORTS, storedDay);
    this.states = new StatesStore(store);
    this.#mailHours = store.table<string, MailHour>(MAIL_HOURS, storedMailHour);
  }

  /** @param directory `queue/outputs` @throws StoreError `damaged`, `too_new`, `in_use`, `full` */
  static async open(directory: string): Promise<OutputStore> {
    const tables = [POSITIONS, MAILS, REPORTS, MAIL_HOURS, ...STATES_TABLES];
    return new OutputStore(await LmdbStore.open({ directory, tables }));
  }

  /** Undefined for an output that is new. @throws StoreError `damaged` */
  position(key: string): RecordPosition | undefined {
    return this.#positions.get(key);
  }

  /** The hour of the last mail, and how many it has had. @throws StoreError `damaged` */
  get mailHour(): MailHour | undefined {
    return this.#mailHours.get(MAIL_HOUR);
  }

  /** Change that counts the mails of an hour. */
  countMails(hour: MailHour): Change {
    return this.#mailHours.put(MAIL_HOUR, hour);
  }

  /** Keys of all outputs that have a position. */
  keys(): string[] {
    return [...this.#positions.entries()].map(([key]) => key);
  }

  /** Keeps a position, together with what else is to be true from then on. @throws StoreError: nothing was changed */
  keep(key: string, position: RecordPosition, changes: readonly Change[] = []): Promise<void> {
    return this.commit([this.#positions.put(key, position), ...changes]);
  }

  /** Forgets an output. @throws StoreError */
  forget(key: string): Promise<void> {
    return this.commit([this.#positions.remove(key)]);
  }

  /** Forgets what waits for a mail: nobody sends one any more. @returns how many @throws StoreError */
  async clearMails(): Promise<number> {
    const changes = [...this.mails.entries()].map(([key]) => this.mails.remove(key));
    await this.commit(changes);
    return changes.length;
  }

  /** @throws StoreError: nothing was changed */
  commit(changes: readonly Change[]): Promise<void> {
    return this.#store.commit(changes);
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}
