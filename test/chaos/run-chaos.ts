import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { describeError } from '../../lib/log/describe-error.js';
import { dayOf, isSameDay } from '../../lib/time/local-day.js';
import { ApiClient } from '../support/api/api-client.js';
import { eventually } from '../support/eventually.js';
import { AlertWatch } from './alert-watch.js';
import { ApiSender } from './api-sender.js';
import { BusSender } from './bus-sender.js';
import { ChaosHome } from './chaos-home.js';
import { Effects, type EffectsVerdict } from './effects.js';
import { evidenceOf } from './evidence.js';
import { FileWriter } from './file-writer.js';
import { Ledger } from './ledger.js';
import { Misfortunes } from './misfortunes.js';
import { datedParts } from './output-parts.js';
import { PowerCut } from './power-cut.js';
import { Product } from './product.js';
import { Random } from './random.js';
import { RunClock } from './run-clock.js';
import { RunLog } from './run-log.js';
import { StreamSender } from './stream-sender.js';
import { judge, type Verdict } from './verdict.js';

export type ChaosOptions = {
  readonly seed: number;
  /** The misfortunes end after this time or this many kills, whatever comes first. */
  readonly seconds: number;
  readonly kills: number;
  /** Threads of the analysis; undefined has the seed decide. */
  readonly threads?: number | undefined;
  /** `<journal><sync>`; undefined leaves the default. */
  readonly sync: string | undefined;
  /** Has it be midnight so many seconds after the start; without it, the clock of the host counts. */
  readonly midnightAfter?: number;
  /** Keeps the directory of a run in which all was well, too. */
  readonly keep?: boolean;
  /** Ends the run early: nothing is judged then. */
  readonly signal?: AbortSignal;
};

export type ChaosReport = Verdict & {
  readonly effects: EffectsVerdict;
  readonly kills: ReadonlyMap<string, number>;
  readonly powerCuts: number;
  readonly restarts: number;
  readonly reloads: number;
  readonly sent: number;
  readonly acknowledged: number;
  /** Answers of POST /events by status, 0 for none. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Days that alerts were written on. */
  readonly days: number;
  /** Whether it was midnight while events came in and misfortunes happened. */
  readonly midnight: boolean;
  /** Seconds, all included. */
  readonly seconds: number;
  /** Where the home is kept, if it is. */
  readonly kept: string | undefined;
  /** What logs say about problems; empty where there are none. */
  readonly evidence: string;
};

/** Rates of the senders, events a second, about. */
const BUS_RATE = 80;
const STREAM_RATE = 60;
const FILE_RATE = 60;
const LONGEST_BREAK_MS = 1500;
/** Time to come up, to send and analyse what is left, and to stop, beyond that of the misfortunes. */
const OVERTIME_MS = 240_000;
/** The pipeline is idle when no alert came for this time, */
const QUIET_MS = 2000;
/** and has failed when something is missing and nothing at all came for this time: an output's longest pause, and some more. */
const STALLED_MS = 90_000;
/** Events before and after midnight that make it one of the run. */
const AROUND_MIDNIGHT_MS = 5000;
/** Requests whose server was killed fail within this time. */
const REQUESTS_FAIL_MS = 20_000;

/**
 * Runs the product, lets misfortunes happen to it while numbered events come in by every way, and judges what it wrote.
 * Nothing of it runs any more when this settles.
 * @throws Error when the run could not be carried out, naming the directory that is kept
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const random = new Random(options.seed);
  const effects = new Effects(() => place.home);
  await effects.syslog.start();
  const place = await ChaosHome.make({
    syslogPort: effects.syslog.port,
    sync: options.sync,
    checkpointInterval: random.pick([1, 3, 10]),
    // The small ones are full at times, and then refuse events.
    journalMegabytes: random.pick([2, 5, 1000]),
    threads: options.threads ?? random.pick([1, 2, 3]),
  });
  const run = new ChaosRun(place, options, effects);
  let report: ChaosReport | undefined;
  try {
    report = await bounded(run, options);
    return report;
  } catch (error) {
    throw new Error(`${describeError(error)} (seed ${String(options.seed)}, see ${place.beside()})`, { cause: error });
  } finally {
    await run.end();
    await effects.syslog.stop();
    if (report !== undefined && report.kept === undefined) place.remove();
  }
}

async function bounded(run: ChaosRun, { seconds, signal }: ChaosOptions): Promise<ChaosReport> {
  const limit = seconds * 1000 + OVERTIME_MS;
  const stop = AbortSignal.any([AbortSignal.timeout(limit), ...(signal === undefined ? [] : [signal])]);
  const work = run.carryOut();
  // What it still does after it was given up fails on a product that is gone.
  work.catch(() => {});
  const aborted = new Promise<never>((_, reject) => {
    stop.addEventListener('abort', () => {
      reject(new Error(signal?.aborted === true ? 'interrupted' : `not done after ${String(limit / 1000)} s`));
    });
  });
  return Promise.race([work, aborted]);
}

class ChaosRun {
  readonly #place: ChaosHome;
  readonly #effects: Effects;
  readonly #options: ChaosOptions;
  readonly #random: Random;
  readonly #ledger = new Ledger();
  readonly #log: RunLog;
  readonly #clock: RunClock;
  readonly #product: Product;
  readonly #watch: AlertWatch;
  readonly #api: ApiSender;
  readonly #bus: BusSender;
  readonly #stream: StreamSender;
  readonly #file: FileWriter;
  readonly #misfortunes: Misfortunes;
  readonly #powerCut: PowerCut;
  readonly #startedAt = performance.now();
  #midnight = false;

  constructor(place: ChaosHome, options: ChaosOptions, effects: Effects) {
    this.#place = place;
    this.#effects = effects;
    this.#options = options;
    // Each part has numbers of its own: how often one asks depends on the time.
    const random = (part: number): Random => new Random(options.seed * 16 + part);
    this.#random = random(0);
    const { midnightAfter } = options;
    const aheadMs = midnightAfter === undefined ? 0 : RunClock.aheadForMidnight(midnightAfter);
    this.#clock = new RunClock(place.beside('clock'), aheadMs);
    this.#log = new RunLog(place.beside('driver.log'), this.#clock);
    this.#product = new Product(place, this.#log, this.#clock);
    this.#watch = new AlertWatch(place.home);
    const client = new ApiClient(place.home);
    this.#api = new ApiSender(client, this.#ledger, random(1));
    this.#bus = new BusSender(place.home, this.#ledger, random(2), BUS_RATE, this.#clock);
    this.#stream = new StreamSender(place.home, this.#ledger, random(3), STREAM_RATE, this.#clock);
    this.#file = new FileWriter(place.followed, this.#ledger, random(4), FILE_RATE, this.#log, (number) =>
      this.#watch.has(number),
    );
    this.#powerCut = new PowerCut(place.home, random(6), this.#log);
    this.#misfortunes = new Misfortunes({
      place,
      product: this.#product,
      api: client,
      random: random(5),
      crowd: (count) => {
        this.#bus.crowd(count);
      },
      crashProducers: async () => {
        await Promise.all([this.#bus.crash(), this.#stream.crash()]);
      },
      cutPower: () => this.#cutPower(),
    });
  }

  async carryOut(): Promise<ChaosReport> {
    const { seed, seconds, kills } = this.#options;
    this.#log.say(`seed ${String(seed)}`);
    this.#product.startSupervisor();
    await this.#product.waitUntilRunning();
    const senders = [this.#api, this.#bus, this.#stream, this.#file];
    senders.forEach((sender) => {
      sender.start();
    });
    const begun = this.#clock.now();
    const end = performance.now() + seconds * 1000;
    while (performance.now() < end && this.#misfortunes.killCount < kills && !this.#product.ended) {
      await delay(this.#random.integer(0, LONGEST_BREAK_MS));
      await this.#misfortunes.happen();
    }
    this.#log.say('no more misfortunes');
    const [first, last] = [begun + AROUND_MIDNIGHT_MS, this.#clock.now() - AROUND_MIDNIGHT_MS];
    this.#midnight = first < last && !isSameDay(dayOf(new Date(first)), dayOf(new Date(last)));
    await this.#product.waitUntilRunning();
    await Promise.all(senders.map((sender) => sender.stop()));
    await this.#untilIdle();
    await this.#product.stop();
    this.#watch.look();
    return this.#report();
  }

  /** Everything is killed, and no acknowledgement reaches the producers of this process any more. */
  async #cutPower(): Promise<void> {
    await eventually('open requests fail', () => this.#api.inFlight === 0, REQUESTS_FAIL_MS);
    this.#watch.look();
    const read = new Set(this.#linesReadBefore());
    this.#powerCut.strike((number) => {
      if (this.#watch.has(number)) return true;
      return this.#ledger.sourceOf(number) === 'file' ? read.has(number) : this.#ledger.isAcknowledged(number);
    });
  }

  /** Numbers of lines that svc-logcollector will not read again: it has written down that they are acknowledged. */
  #linesReadBefore(): number[] {
    const path = this.#place.home.path('queue', 'logcollector', 'file_status.json');
    if (!existsSync(path)) return [];
    const { files } = JSON.parse(readFileSync(path, 'utf8')) as { files: { inode: string; offset: string }[] };
    return files.flatMap(({ inode, offset }) => this.#file.numbersBefore(inode, Number(offset)));
  }

  /** Ends whatever is left, after a failure too. */
  async end(): Promise<void> {
    this.#watch.stop();
    for (const sender of [this.#api, this.#bus, this.#stream]) sender.giveUp();
    await this.#product.end();
    await Promise.all([this.#api, this.#bus, this.#stream, this.#file].map((sender) => sender.stop()));
  }

  /** Waits until everything acknowledged has its alert and each alert its effects, or nothing moves any more. */
  async #untilIdle(): Promise<void> {
    const alerts = new Movement();
    const effects = new Movement();
    for (;;) {
      this.#watch.look();
      const quietMs = alerts.idleMs(this.#watch.count);
      if (quietMs > QUIET_MS && this.#isComplete()) return;
      if (Math.min(quietMs, effects.idleMs(this.#effects.count)) > STALLED_MS) return;
      await delay(QUIET_MS / 10);
    }
  }

  #isComplete(): boolean {
    for (const number of this.#ledger.numbers()) {
      if (this.#ledger.isAcknowledged(number) && !this.#watch.has(number)) return false;
    }
    return this.#effects.isComplete();
  }

  #report(): ChaosReport {
    const verdict = judge(this.#place.home, this.#ledger, this.#watch);
    const effects = this.#effects.judge({
      monitord: this.#misfortunes.endsOf('svc-monitord'),
      execd: this.#misfortunes.endsOf('svc-execd'),
    });
    const problems = [...verdict.problems, ...effects.problems];
    for (const problem of problems) this.#log.say(problem);
    return {
      ...verdict,
      effects,
      problems,
      kills: this.#misfortunes.kills,
      powerCuts: this.#misfortunes.powerCuts,
      restarts: this.#misfortunes.restarts,
      reloads: this.#misfortunes.reloads,
      sent: this.#ledger.sent,
      acknowledged: this.#ledger.acknowledged,
      statuses: this.#api.statuses,
      days: new Set(datedParts(this.#place.home, 'alerts.json').map(({ day }) => JSON.stringify(day))).size,
      midnight: this.#midnight,
      seconds: (performance.now() - this.#startedAt) / 1000,
      kept: problems.length === 0 && this.#options.keep !== true ? undefined : this.#place.beside(),
      evidence: problems.length === 0 ? '' : evidenceOf(this.#place),
    };
  }
}

/** A figure that grows, and since when it does not. */
class Movement {
  #figure = -1;
  #movedAt = 0;

  /** Milliseconds for which it has been what it is. */
  idleMs(figure: number): number {
    if (figure !== this.#figure) this.#movedAt = performance.now();
    this.#figure = figure;
    return performance.now() - this.#movedAt;
  }
}
