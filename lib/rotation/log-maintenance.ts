import { describeError } from '../log/describe-error.js';
import type { Logger } from '../log/logger.js';
import { dayOf, isSameDay, type LocalDay } from '../time/local-day.js';
import { daysBetween, previousDay } from './calendar-day.js';
import type { Clock } from './clock.js';
import type { LogRotation, RotationSettings } from './log-rotation.js';
import type { Retention } from './retention.js';

/** What the loop follows; read anew at every turn, so that a reload takes effect. */
export type MaintenanceSettings = RotationSettings & {
  /** Seconds after midnight before the files of the day that is over are touched. */
  readonly dayWait: number;
};

const TICK_MS = 1000;
/** Outputs that were still being written are looked at again after this time. */
const RETRY_MS = 60_000;
/** Days looked back at for outputs without sums, at start. */
const LOOK_BACK_DAYS = 7;
/** Room that the logs take is looked at so often. */
const RETENTION_MS = 600_000;
/** A failure that stays is logged again after this time. */
const COMPLAIN_MS = 600_000;
/** Different failures remembered. */
const MAX_COMPLAINTS = 100;

/** What svc-analysisd writes: a day is closed when nobody writes to it any more. */
export interface OutputDays {
  /**
   * Signs and compresses a day.
   * @param onlyMissing leaves out what is done already or was never there: for days passed by
   * @returns what is still written to: to be done later
   */
  closeDay(day: LocalDay, compress: boolean, onlyMissing?: boolean): Promise<{ readonly postponed: readonly string[] }>;
}

export type LogMaintenanceParts = {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly logs: readonly LogRotation[];
  readonly retention: Retention;
  /** Undefined where svc-analysisd is none, as on agents. */
  readonly outputs: OutputDays | undefined;
  readonly settings: () => MaintenanceSettings;
  /** Ends `run`. */
  readonly signal: AbortSignal;
};

/** A turn once a second: rotation by size, and the work after midnight (daemons-and-config.md 4.1). */
export class LogMaintenance {
  readonly #parts: LogMaintenanceParts;
  #today: LocalDay;
  /** Days whose outputs are not all closed yet, and when to look again. */
  #open: readonly LocalDay[] = [];
  #retryAt = 0;
  #retentionAt = 0;
  /** Failures and when they were logged last. */
  readonly #complaints = new Map<string, number>();

  constructor(parts: LogMaintenanceParts) {
    this.#parts = parts;
    this.#today = dayOf(parts.clock.now());
  }

  /** Works until the signal; failures are logged and tried again. */
  async run(): Promise<void> {
    await this.#guarded(() => this.catchUp());
    while (!this.#parts.signal.aborted) {
      await this.#parts.clock.sleep(TICK_MS, this.#parts.signal);
      if (!this.#parts.signal.aborted) {
        await this.#guarded(() => this.tick());
      }
    }
  }

  /** What a night without svc-monitord left undone. */
  async catchUp(): Promise<void> {
    const settings = this.#parts.settings();
    for (const log of this.#parts.logs) {
      const overdue = log.overdueDay(this.#today);
      if (overdue !== undefined) await log.rotateDaily(overdue, settings);
    }
    this.#removeOld();
    const days: LocalDay[] = [];
    for (let day = previousDay(this.#today); days.length < LOOK_BACK_DAYS; day = previousDay(day)) {
      days.unshift(day);
    }
    await this.#closeOpenDays(days);
  }

  /** One turn. */
  async tick(): Promise<void> {
    const settings = this.#parts.settings();
    const today = dayOf(this.#parts.clock.now());
    if (!isSameDay(today, this.#today)) {
      const finished = this.#today;
      this.#today = today;
      // A clock that was set back starts an old day again, which is no reason to close anything.
      if (daysBetween(finished, today) > 0) {
        await this.#parts.clock.sleep(settings.dayWait * 1000, this.#parts.signal);
        if (!this.#parts.signal.aborted) {
          await this.#closeDay(finished, settings);
        }
        return;
      }
    }
    for (const log of this.#parts.logs) await log.rotateBySize(settings);
    if (this.#parts.clock.now().getTime() >= this.#retentionAt) this.#removeOld();
    if (this.#open.length > 0 && this.#parts.clock.now().getTime() >= this.#retryAt) {
      await this.#closeOpenDays(this.#open);
    }
  }

  /** All steps are tried: a full disk in one must not keep the others from freeing space. */
  async #closeDay(day: LocalDay, settings: MaintenanceSettings): Promise<void> {
    for (const log of this.#parts.logs) await this.#guarded(() => log.rotateDaily(day, settings));
    await this.#guarded(async () => {
      if (this.#parts.outputs === undefined) return;
      this.#open = [...this.#open, day];
      const { postponed } = await this.#parts.outputs.closeDay(day, settings.compress);
      this.#settle(day, postponed.length === 0);
    });
    await this.#guarded(() => {
      this.#removeOld();
      return Promise.resolve();
    });
  }

  #removeOld(): void {
    this.#retentionAt = this.#parts.clock.now().getTime() + RETENTION_MS;
    this.#parts.retention.apply(this.#today);
  }

  async #closeOpenDays(days: readonly LocalDay[]): Promise<void> {
    if (this.#parts.outputs === undefined) return;
    this.#open = days;
    this.#retryAt = this.#parts.clock.now().getTime() + RETRY_MS;
    for (const day of days) {
      const { postponed } = await this.#parts.outputs.closeDay(day, this.#parts.settings().compress, true);
      this.#settle(day, postponed.length === 0);
    }
  }

  #settle(day: LocalDay, done: boolean): void {
    if (done) {
      this.#open = this.#open.filter((other) => !isSameDay(other, day));
    } else {
      this.#retryAt = this.#parts.clock.now().getTime() + RETRY_MS;
    }
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (this.#parts.signal.aborted) {
        // Given up on purpose; the next start goes on.
        return;
      }
      const text = `Maintenance of log files failed: ${describeError(error)}`;
      const now = this.#parts.clock.now().getTime();
      // The same failure comes every second: once in ten minutes is enough.
      const last = this.#complaints.get(text);
      if (last === undefined || now - last >= COMPLAIN_MS) {
        if (this.#complaints.size >= MAX_COMPLAINTS) this.#complaints.clear();
        this.#complaints.set(text, now);
        this.#parts.logger.error(text);
      }
    }
  }
}
