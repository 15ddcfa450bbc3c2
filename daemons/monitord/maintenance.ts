import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import { dayOf, isSameDay, type LocalDay } from '../../lib/time/local-day.js';
import { daysBetween, previousDay } from './calendar-day.js';
import type { Clock } from './clock.js';
import type { ManagerLogRotation, RotationSettings } from './manager-log-rotation.js';
import type { OutputSums } from './output-sums.js';

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
/** A failure that stays is logged again after this time. */
const COMPLAIN_MS = 600_000;
/** Different failures remembered. */
const MAX_COMPLAINTS = 100;

/** The turn of svc-monitord, once a second: rotation by size, and the work after midnight (daemons-and-config.md 4.1). */
export class Maintenance {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #rotation: ManagerLogRotation;
  readonly #sums: OutputSums;
  readonly #settings: () => MaintenanceSettings;
  readonly #signal: AbortSignal;
  #today: LocalDay;
  /** Days whose outputs are not all closed yet, and when to look again. */
  #open: readonly LocalDay[] = [];
  #retryAt = 0;
  /** Failures and when they were logged last. */
  readonly #complaints = new Map<string, number>();

  /** @param signal ends `run` */
  constructor(
    clock: Clock,
    logger: Logger,
    rotation: ManagerLogRotation,
    sums: OutputSums,
    settings: () => MaintenanceSettings,
    signal: AbortSignal,
  ) {
    this.#clock = clock;
    this.#logger = logger;
    this.#rotation = rotation;
    this.#sums = sums;
    this.#settings = settings;
    this.#signal = signal;
    this.#today = dayOf(clock.now());
  }

  /** Works until the signal; failures are logged and tried again. */
  async run(): Promise<void> {
    await this.#guarded(() => this.catchUp());
    while (!this.#signal.aborted) {
      await this.#clock.sleep(TICK_MS, this.#signal);
      if (!this.#signal.aborted) {
        await this.#guarded(() => this.tick());
      }
    }
  }

  /** What a night without svc-monitord left undone. */
  async catchUp(): Promise<void> {
    const settings = this.#settings();
    const overdue = this.#rotation.overdueDay(this.#today);
    if (overdue !== undefined) {
      await this.#rotation.rotateDaily(overdue, settings);
    }
    this.#rotation.removeOld(this.#today, settings);
    const days: LocalDay[] = [];
    for (let day = previousDay(this.#today); days.length < LOOK_BACK_DAYS; day = previousDay(day)) {
      days.unshift(day);
    }
    await this.#closeOpenDays(days);
  }

  /** One turn. */
  async tick(): Promise<void> {
    const settings = this.#settings();
    const today = dayOf(this.#clock.now());
    if (!isSameDay(today, this.#today)) {
      const finished = this.#today;
      this.#today = today;
      // A clock that was set back starts an old day again, which is no reason to close anything.
      if (daysBetween(finished, today) > 0) {
        await this.#clock.sleep(settings.dayWait * 1000, this.#signal);
        if (!this.#signal.aborted) {
          await this.#closeDay(finished, settings);
        }
        return;
      }
    }
    await this.#rotation.rotateBySize(settings);
    if (this.#open.length > 0 && this.#clock.now().getTime() >= this.#retryAt) {
      await this.#closeOpenDays(this.#open);
    }
  }

  /** All steps are tried: a full disk in one must not keep the others from freeing space. */
  async #closeDay(day: LocalDay, settings: MaintenanceSettings): Promise<void> {
    await this.#guarded(() => this.#rotation.rotateDaily(day, settings));
    await this.#guarded(async () => {
      this.#open = [...this.#open, day];
      const { postponed } = await this.#sums.closeDay(day, settings.compress);
      this.#settle(day, postponed.length === 0);
    });
    await this.#guarded(() => {
      this.#rotation.removeOld(this.#today, settings);
      return Promise.resolve();
    });
  }

  async #closeOpenDays(days: readonly LocalDay[]): Promise<void> {
    this.#open = days;
    this.#retryAt = this.#clock.now().getTime() + RETRY_MS;
    for (const day of days) {
      const { postponed } = await this.#sums.closeDay(day, this.#settings().compress, true);
      this.#settle(day, postponed.length === 0);
    }
  }

  #settle(day: LocalDay, done: boolean): void {
    if (done) {
      this.#open = this.#open.filter((other) => !isSameDay(other, day));
    } else {
      this.#retryAt = this.#clock.now().getTime() + RETRY_MS;
    }
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (this.#signal.aborted) {
        // Given up on purpose; the next start goes on.
        return;
      }
      const text = `Maintenance of log files failed: ${describeError(error)}`;
      const now = this.#clock.now().getTime();
      // The same failure comes every second: once in ten minutes is enough.
      const last = this.#complaints.get(text);
      if (last === undefined || now - last >= COMPLAIN_MS) {
        if (this.#complaints.size >= MAX_COMPLAINTS) this.#complaints.clear();
        this.#complaints.set(text, now);
        this.#logger.error(text);
      }
    }
  }
}
