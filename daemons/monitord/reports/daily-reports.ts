import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { Limiter } from '../../../lib/async/limiter.js';
import type { Home } from '../../../lib/home/home.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';
import { ALERT_FILES, compareDays, datedPath, partsOf } from '../../../lib/output/dated-files.js';
import { AlertReport } from '../../../lib/report/alert-report.js';
import { AlertRows } from '../../../lib/report/alert-rows.js';
import { readDay } from '../../../lib/report/read-day.js';
import { ReportReader } from '../../../lib/report/report-reader.js';
import { daysBetween, previousDay } from '../../../lib/rotation/calendar-day.js';
import type { Clock } from '../../../lib/rotation/clock.js';
import type { Change } from '../../../lib/store/commit-queue.js';
import { dayOf, isSameDay, type LocalDay } from '../../../lib/time/local-day.js';
import { isLive } from '../is-live.js';
import { mailHeader } from '../outputs/mail/mail-text.js';
import { type Mail, MailRefusedError, type MailServer } from '../outputs/mail/mail-transport.js';
import type { OutputStore } from '../outputs/output-store.js';
import type { SharedOutputStore } from '../outputs/shared-output-store.js';
import type { DailyReport, ReportPlan } from './report-plan.js';

export type DailyReportsParts = {
  readonly home: Home;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly store: Pick<SharedOutputStore, 'get'>;
  /** `monitord.day_wait` as of now, seconds. */
  readonly dayWait: () => number;
  /** Sends a mail. @throws MailRefusedError; Error */
  readonly send: (server: MailServer, mail: Mail, signal: AbortSignal) => Promise<void>;
};

const TICK_MS = 1000;
/** Reports that are made in one reading of the alerts: each may take some ten megabytes meanwhile. */
const REPORTS_AT_ONCE = 8;
/** Mails that are on their way at a time (daemons-and-config.md 8.3). */
const MAILS_AT_ONCE = 6;
/** How long svc-analysisd may take to go on to files of the new day: with nothing to write it does not, and nothing is missed. */
const LIVE_MS = 600_000;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** A mail that is refused for good is given up after so many tries, as those about alerts. */
const TRIES = 8;
/** When the store could not be opened, say. */
const RETRY_MS = 10_000;

/**
 * Mails reports about the alerts of the day that is over (daemons-and-config.md 4.4): each once, after the day has changed, or
 * at the next start; what is older than yesterday is not made up for. Which day a report is done with is kept in
 * `queue/outputs` once its mail is taken, so one goes out twice only when the process ends in between.
 */
export class DailyReports {
  readonly #parts: DailyReportsParts;
  readonly #trouble: LimitedLogger;
  /** A text of a megabyte takes tens of milliseconds: others have their turn between two. */
  readonly #writing = new Limiter({ atOnce: 1 });
  readonly #mailing = new Limiter({ atOnce: MAILS_AT_ONCE });
  #plan: ReportPlan = { reports: [], server: undefined };
  /** Ends what is under way: at the stop, and when there is another plan. */
  #ended = new AbortController();
  /** The day that all reports of the plan are done with. */
  #doneDay: LocalDay | undefined;
  /** The same of single reports, as far as it could not be kept. */
  readonly #unkept = new Map<string, LocalDay>();
  /** Since when files of the day that is over are still the live ones. */
  #liveSince: number | undefined;
  #failuresInRow = 0;
  readonly #counters = { sent: 0, empty: 0, failed: 0, given_up: 0, missed_days: 0, damaged_lines: 0 };
  #waiting = 0;

  constructor(parts: DailyReportsParts) {
    this.#parts = parts;
    this.#trouble = parts.logger.limited();
  }

  /** Goes by a plan from now on; one that is the same disturbs nothing. */
  follow(plan: ReportPlan): void {
    if (JSON.stringify(plan) === JSON.stringify(this.#plan)) return;
    this.#plan = plan;
    this.#doneDay = undefined;
    this.#ended.abort();
    this.#ended = new AbortController();
  }

  /** The first day whose alerts it has yet to read; undefined: none. */
  get neededDay(): LocalDay | undefined {
    const yesterday = previousDay(dayOf(this.#parts.clock.now()));
    return this.#plan.reports.length === 0 || this.#isDone(yesterday) ? undefined : yesterday;
  }

  stats(): Readonly<Record<string, unknown>> {
    return {
      configured: this.#plan.reports.length,
      ...this.#counters,
      available: this.#failuresInRow === 0,
      /** Made, and not mailed yet. */
      waiting: this.#waiting,
      done_until: this.#doneDay === undefined ? null : dayText(this.#doneDay),
    };
  }

  /** Works until the signal; failures are logged and tried again. */
  async run(stop: AbortSignal): Promise<void> {
    const end = (): void => {
      this.#ended.abort();
    };
    stop.addEventListener('abort', end, { once: true });
    while (!stop.aborted) {
      const { signal } = this.#ended;
      let wait = TICK_MS;
      try {
        await this.tick();
      } catch (error) {
        if (!signal.aborted) this.#trouble.error(`Reports wait: ${describeError(error)}`);
        wait = RETRY_MS;
      }
      await this.#parts.clock.sleep(wait, signal);
    }
  }

  /** One turn. @throws StoreError; the reason of the end when the plan was replaced */
  async tick(): Promise<void> {
    const { clock, dayWait } = this.#parts;
    const plan = this.#plan;
    const now = clock.now();
    const today = dayOf(now);
    const yesterday = previousDay(today);
    if (plan.server === undefined || plan.reports.length === 0 || this.#isDone(yesterday)) return;
    const midnight = new Date(today.year, today.month, today.day).getTime();
    if (now.getTime() - midnight < dayWait() * 1000) return;
    const { signal } = this.#ended;
    const store = await this.#parts.store.get();
    const due = await this.#due(store, plan, yesterday);
    signal.throwIfAborted();
    if (due.length > 0 && this.#isStillWritten(yesterday, now)) return;
    for (let at = 0; at < due.length; at += REPORTS_AT_ONCE) {
      await this.#make(due.slice(at, at + REPORTS_AT_ONCE), { day: yesterday, store, server: plan.server, signal });
    }
    signal.throwIfAborted();
    this.#doneDay = yesterday;
    this.#liveSince = undefined;
  }

  #isDone(day: LocalDay): boolean {
    return this.#doneDay !== undefined && isSameDay(this.#doneDay, day);
  }

  /** The reports that are to be made of a day. One that is new begins with the day that goes on. */
  async #due(store: OutputStore, { reports }: ReportPlan, day: LocalDay): Promise<readonly DailyReport[]> {
    const changes: Change[] = [];
    const keys = new Set(reports.map(({ key }) => key));
    for (const [key] of store.reports.entries()) if (!keys.has(key)) changes.push(store.reports.remove(key));
    const due = reports.filter((report) => {
      const done = this.#unkept.get(report.key) ?? store.reports.get(report.key);
      const missed = done === undefined ? 0 : daysBetween(done, day);
      // A clock that was far ahead would have the report wait until then.
      const isAhead = missed < -1;
      if (done === undefined || isAhead) changes.push(store.reports.put(report.key, day));
      if (isAhead) this.#parts.logger.warn(`The clock was set back: report '${report.title}' goes on with today.`);
      if (missed > 1 && done !== undefined) changes.push(this.#miss(store, report, done, day));
      return missed > 0;
    });
    if (changes.length > 0) await store.commit(changes);
    return due;
  }

  /** What is longer ago than yesterday is told, and not made up for. */
  #miss(store: OutputStore, { key, title }: DailyReport, done: LocalDay, day: LocalDay): Change {
    const missed = daysBetween(done, day) - 1;
    this.#counters.missed_days += missed;
    this.#parts.logger.warn(
      `Report '${title}' was not made of the ${String(missed)} days after ${dayText(done)}: svc-monitord did not run, or reports were off.`,
    );
    return store.reports.put(key, previousDay(day));
  }

  /** Whether svc-analysisd may still write alerts of the day. */
  #isStillWritten(day: LocalDay, now: Date): boolean {
    const directory = this.#parts.home.path('logs', 'alerts');
    const name = { directory, ...ALERT_FILES };
    const live = `${directory}/alerts.json`;
    if (!partsOf(name, day).some(({ part }) => isLive(live, datedPath(name, day, part)))) return false;
    this.#liveSince ??= now.getTime();
    return now.getTime() - this.#liveSince < LIVE_MS;
  }

  async #make(reports: readonly DailyReport[], order: ReportOrder): Promise<void> {
    const { home, logger } = this.#parts;
    const { day, signal } = order;
    const made = reports.map((report) => ({ report, result: new AlertReport(report.options) }));
    const reader = new ReportReader((alert) => {
      const rows = new AlertRows(alert);
      for (const { result } of made) result.add(alert, rows);
    });
    const onDamage = (message: string): void => {
      logger.warn(`Reports of ${dayText(day)} are not whole: ${message}`);
    };
    await readDay({ directory: home.path('logs', 'alerts'), ...ALERT_FILES }, day, reader, { signal, onDamage });
    if (reader.badLines > 0) {
      this.#counters.damaged_lines += reader.badLines;
      logger.warn(`${String(reader.badLines)} damaged lines of alerts.json of ${dayText(day)} are in no report.`);
    }
    // Each by itself: one whose recipients are refused holds up no other.
    const ended = await Promise.allSettled(made.map(({ report, result }) => this.#finish(report, result, order)));
    const failure = ended.find((end) => end.status === 'rejected');
    if (failure !== undefined) throw failure.reason;
  }

  async #finish(report: DailyReport, result: AlertReport, order: ReportOrder): Promise<void> {
    const { logger } = this.#parts;
    if (result.matched === 0) {
      this.#counters.empty += 1;
      logger.info(result.nothingLeft);
    } else {
      this.#waiting += 1;
      try {
        const text = await this.#writing.run(async () => {
          await setImmediate();
          return result.text();
        });
        await this.#mail(report, text, order);
      } finally {
        this.#waiting -= 1;
      }
    }
    await this.#keep(report, order);
  }

  /** Sends it, again and again; resolves as well when it is given up. @throws the signal's reason */
  async #mail(report: DailyReport, text: string, order: ReportOrder): Promise<void> {
    const { clock, logger, send } = this.#parts;
    const { key, title, to } = report;
    const { day, server, signal } = order;
    const id = createHash('sha256')
      .update(`${key}\n${dayText(day)}\n${text}`)
      .digest('hex')
      .slice(0, 32);
    const mail = { to, subject: mailHeader(title), text, id };
    for (let tries = 1; ; tries += 1) {
      try {
        await this.#mailing.run(() => send(server, mail, signal), { signal });
        this.#sent(report, day);
        return;
      } catch (error) {
        signal.throwIfAborted();
        const isOver = !isSameDay(previousDay(dayOf(clock.now())), day);
        if (isOver || (error instanceof MailRefusedError && tries >= TRIES)) {
          this.#counters.given_up += 1;
          logger.error(`Report '${title}' of ${dayText(day)} to ${to.join(', ')} is given up: ${describeError(error)}`);
          return;
        }
        this.#failed(report, error);
      }
      await clock.sleep(Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS), signal);
      signal.throwIfAborted();
    }
  }

  #sent({ title, to }: DailyReport, day: LocalDay): void {
    const { logger } = this.#parts;
    if (this.#failuresInRow > 0) logger.info('Reports are mailed again.');
    this.#failuresInRow = 0;
    this.#counters.sent += 1;
    logger.info(`Report '${title}' of ${dayText(day)} was mailed to ${to.join(', ')}.`);
  }

  #failed({ title }: DailyReport, error: unknown): void {
    this.#counters.failed += 1;
    this.#failuresInRow += 1;
    if (this.#failuresInRow > 1) return;
    this.#parts.logger.warn(
      `Report '${title}' is not mailed for now: ${describeError(error)}. It waits, and it is tried again.`,
    );
  }

  /** A disk that takes nothing does not have a report mailed twice as long as this process lives. */
  async #keep({ key, title }: DailyReport, { store, day }: ReportOrder): Promise<void> {
    this.#unkept.set(key, day);
    try {
      await store.commit([store.reports.put(key, day)]);
      this.#unkept.delete(key);
    } catch (error) {
      this.#parts.logger.error(`That report '${title}' was mailed cannot be kept: ${describeError(error)}`);
    }
  }
}

/** What reports are made of and for. */
type ReportOrder = {
  readonly day: LocalDay;
  readonly store: OutputStore;
  readonly server: MailServer;
  readonly signal: AbortSignal;
};

/** The earlier of two days; undefined stands for none. */
export function earlierDay(a: LocalDay | undefined, b: LocalDay | undefined): LocalDay | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return compareDays(a, b) < 0 ? a : b;
}

/** `2026-11-25` */
function dayText({ year, month, day }: LocalDay): string {
  return `${String(year)}-${String(month + 1).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}
