import type { SyscheckConfig } from '../../../lib/config/sections/syscheck.js';
import { FIM_FILE, type FimRow, syncMessage } from '../../../lib/events/fim/fim-messages.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';
import { Pace } from '../../../lib/sync/pace.js';
import { type RangeSource, RangeSync } from '../../../lib/sync/range-sync.js';
import { StepSender } from '../../../lib/sync/step-sender.js';
import { SyncAnswers } from '../../../lib/sync/sync-answers.js';
import type { SyncClock } from '../../../lib/sync/sync-clock.js';
import type { SyncOutlet } from '../../../lib/sync/sync-outlet.js';
import { MAX_FIM_MESSAGE_BYTES } from '../message-limit.js';
import { SyncSchedule } from './sync-schedule.js';

const SECOND_MS = 1000;
/** A timer takes no more; a longer wait is made of several. */
const LONGEST_SLEEP_MS = 2 ** 31 - 1;

/** `<synchronization>` of `<syscheck>`. */
export type SyncSettings = SyscheckConfig['synchronization'];

export type SyncParts = {
  /** What the last commit left. */
  readonly source: RangeSource<FimRow>;
  readonly outlet: SyncOutlet;
  readonly clock: SyncClock;
  readonly logger: Logger;
};

/**
 * Makes the manager's table of files equal to this one (integrity-and-inventory.md 5): a round right after the baseline
 * and then at its times, and what the manager's answers call for, one after the other and at most `max_eps` messages a
 * second. What is lost on the way is repaired by the next round.
 */
export class SyncRunner {
  readonly #parts: SyncParts;
  readonly #sync: RangeSync<FimRow>;
  readonly #answers: SyncAnswers;
  readonly #sender: StepSender<FimRow>;
  readonly #counters = { rounds: 0, failed: 0 };
  readonly #failedLog: LimitedLogger;
  #settings: SyncSettings;
  #schedule: SyncSchedule;
  #roundDue = false;
  /** Set while it runs. */
  #running: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;
  #started = false;
  /** Wakes it where it waits for something to do. */
  #idle = new AbortController();

  constructor(parts: SyncParts, settings: SyncSettings) {
    this.#parts = parts;
    this.#settings = settings;
    this.#sync = new RangeSync(parts.source);
    this.#answers = new SyncAnswers(FIM_FILE, parts.logger);
    this.#schedule = scheduleOf(settings);
    this.#failedLog = parts.logger.limited();
    this.#sender = new StepSender({
      ...{ outlet: parts.outlet, logger: parts.logger },
      message: (step) => syncMessage(FIM_FILE, step),
      maxBytes: MAX_FIM_MESSAGE_BYTES,
      pace: new Pace(parts.clock, () => this.#settings.max_eps),
      sent: (kind) => {
        if (kind === 'state') this.#schedule.traffic(parts.clock.elapsed(), kind);
      },
    });
  }

  /** For `stats` of the daemon. */
  get stats(): Record<string, unknown> {
    const { interval } = this.#schedule;
    const counters = { ...this.#counters, ...this.#sender.counters, ...this.#answers.counters };
    const { outlet } = this.#parts;
    return {
      enabled: this.#settings.enabled,
      interval,
      waiting: this.#answers.length,
      lost: outlet.lost,
      ...counters,
    };
  }

  /** The baseline is there: begins with the first round, where the synchronisation is on. */
  start(): void {
    this.#started = true;
    this.#run();
  }

  /** Goes on with other settings; switched on, it begins with a round. */
  async apply(settings: SyncSettings): Promise<void> {
    const before = this.#settings;
    this.#settings = settings;
    if (!settings.enabled) return this.stop();
    const wasRunning = this.#running !== undefined;
    if (!wasRunning || !sameTimes(before, settings)) {
      // The first round at the new times comes after the new interval: there is no reason for one now.
      this.#schedule = scheduleOf(settings, wasRunning ? this.#parts.clock.elapsed() + settings.interval : undefined);
    }
    if (this.#started) this.#run();
    this.#idle.abort();
  }

  /** Takes an order of the manager, `fim_file dbsync <verb> <json>`: a byte string. What is none is counted. */
  take(text: string): void {
    if (this.#running === undefined) return this.#answers.ignore();
    if (!this.#answers.take(text, this.#settings.queue_size)) return;
    this.#schedule.traffic(this.#parts.clock.elapsed(), 'answer');
    this.#idle.abort();
  }

  /** Ends it in the middle of whatever it does. Resolves when nothing is read or sent any more. */
  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    running?.stop.abort();
    this.#idle.abort();
    await running?.ended;
    this.#answers.clear();
  }

  #run(): void {
    if (this.#running !== undefined || !this.#settings.enabled) return;
    this.#parts.logger.info('FIM sync module started.');
    const stop = new AbortController();
    this.#running = { stop, ended: this.#work(stop.signal) };
  }

  async #work(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#tick();
      const answer = this.#answers.next();
      try {
        if (answer !== undefined) {
          await this.#sender.sendAll(this.#sync.answer(answer, signal), signal, () => this.#tick());
        } else if (this.#roundDue) {
          await this.#round(signal);
        } else {
          await this.#wait();
        }
      } catch (error) {
        if (signal.aborted) return;
        this.#counters.failed += 1;
        this.#failedLog.warn(`The synchronisation of files stopped until its next round: ${describeError(error)}`);
      }
    }
  }

  async #round(signal: AbortSignal): Promise<void> {
    this.#roundDue = false;
    this.#counters.rounds += 1;
    await this.#sender.send(await this.#sync.start(this.#parts.clock.now(), signal), signal);
    this.#tick();
  }

  /** Looks whether a round is to begin: also while answers are worked off, for its interval to grow meanwhile. */
  #tick(): void {
    const now = this.#parts.clock.elapsed();
    if ((this.#schedule.next ?? now) <= now && this.#schedule.due(now)) this.#roundDue = true;
  }

  /** Until a round is due or something has come. */
  async #wait(): Promise<void> {
    const { clock } = this.#parts;
    this.#idle = new AbortController();
    const seconds = Math.max(0, (this.#schedule.next ?? 0) - clock.elapsed());
    await clock.sleep(Math.min(seconds * SECOND_MS, LONGEST_SLEEP_MS), this.#idle.signal);
  }
}

function scheduleOf({ interval, max_interval, response_timeout }: SyncSettings, first?: number): SyncSchedule {
  return new SyncSchedule({ interval, maxInterval: max_interval, responseTimeout: response_timeout }, first);
}

function sameTimes(one: SyncSettings, other: SyncSettings): boolean {
  return (
    one.interval === other.interval &&
    one.max_interval === other.max_interval &&
    one.response_timeout === other.response_timeout
  );
}
