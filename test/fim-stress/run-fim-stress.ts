import { setTimeout as delay } from 'node:timers/promises';
import type { DaemonName } from '../../lib/product/daemon-names.js';
import { Random } from '../chaos/random.js';
import { processUsage } from '../support/process/process-usage.js';
import { AlertStory } from './alert-story.js';
import { FileChurn } from './file-churn.js';
import { differingFacts, type FileFacts, FilesOnDisk } from './file-facts.js';
import { type FileRecord, readRecords } from './file-records.js';
import { StressHome } from './stress-home.js';

/** What a run does. */
export type FimStressOptions = {
  readonly seed: number;
  /** Files that are there before svc-syscheckd begins. */
  readonly files: number;
  /** Creations, modifications, renames and deletions in all. */
  readonly operations: number;
  /** After each round everything must have been told. The files rest until it has. */
  readonly rounds: number;
  /** Milliseconds between some operations and the next ones. */
  readonly pauseMs: number;
  /** Daemons that are killed in this order, each in the middle of a round. */
  readonly kills: readonly DaemonName[];
  /** Seconds between scans. */
  readonly frequency: number;
  readonly synchronization: boolean;
  /** How long alerts may take to come to the end of a round, milliseconds. */
  readonly patienceMs: number;
  readonly say?: (line: string) => void;
};

/** What came of it. */
export type FimStressReport = {
  readonly problems: readonly string[];
  readonly operations: number;
  readonly kinds: ReadonlyMap<string, number>;
  readonly alerts: number;
  readonly modes: ReadonlyMap<string, number>;
  readonly files: number;
  readonly kills: number;
  /** Most MiB that svc-syscheckd had in memory. */
  readonly peakMemory: number;
  /** Where all of it is kept when there are problems. */
  readonly kept: string | undefined;
};

/** Scans that must find nothing more in the end. */
const LAST_SCANS = 2;
/** Milliseconds for which a daemon is down, while the files go on changing. */
const MOST_DOWN_MS = 400;
const POLL_MS = 100;
/** Differences that are told in full. */
const MOST_TOLD = 10;
const PROBLEM_LIMIT = 60;

/**
 * Changes files under a manager while scans run and daemons are killed, and judges what it told: alerts.json and the
 * records of the API against what is on the disk. Nothing of it runs any more when this settles.
 */
export async function runFimStress(options: FimStressOptions): Promise<FimStressReport> {
  const place = await StressHome.make(options);
  const run = new FimStressRun(place, options);
  let report: FimStressReport | undefined;
  try {
    report = await run.carryOut();
    return report;
  } catch (error) {
    throw new Error(`seed ${String(options.seed)}, kept in ${place.directory}`, { cause: error });
  } finally {
    await place.end(report?.kept !== undefined || report === undefined);
  }
}

class FimStressRun {
  readonly #place: StressHome;
  readonly #options: FimStressOptions;
  readonly #random: Random;
  readonly #churn: FileChurn;
  readonly #disk: FilesOnDisk;
  readonly #problems: string[] = [];
  #story: AlertStory;
  #kills = 0;
  #peak = 0;

  constructor(place: StressHome, options: FimStressOptions) {
    this.#place = place;
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#churn = new FileChurn(place.roots, place.staging, new Random(options.seed + 1), options.pauseMs);
    this.#disk = new FilesOnDisk(place.roots);
    this.#story = new AlertStory(place.home, new Map());
  }

  async carryOut(): Promise<FimStressReport> {
    const { files, rounds, operations } = this.#options;
    this.#churn.fill(files);
    this.#story = new AlertStory(this.#place.home, this.#disk.read());
    await this.#place.start();
    await this.#place.scansPass(1);
    this.#say(`${String(files)} files known`);
    for (let round = 1; round <= rounds && this.#problems.length === 0; round += 1) {
      await this.#round(round, Math.ceil(operations / rounds));
    }
    if (this.#problems.length === 0) await this.#lookAgain();
    return this.#report();
  }

  async #round(round: number, operations: number): Promise<void> {
    const started = performance.now();
    const { rounds, kills } = this.#options;
    // They are spread over the rounds.
    const victims = kills.filter((_name, index) => Math.ceil(((index + 1) * rounds) / (kills.length + 1)) === round);
    const before = this.#churn.operations;
    await this.#churn.run(operations / 2);
    for (const name of victims) await this.#churn.during(this.#killInBetween(name));
    await this.#churn.run(operations / 2);
    const changed = performance.now();
    await this.#untilTold(`round ${String(round)}`);
    const seconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(1);
    this.#say(
      `round ${String(round)}: ${String(this.#churn.operations - before)} operations in ${seconds(changed - started)} s` +
        `${victims.map((name) => `, ${name} killed`).join('')}, told after ${seconds(performance.now() - changed)} s more; ` +
        `${String(this.#churn.files)} files, ` +
        `${String(this.#story.count)} alerts, ${String(this.#story.modes.get('realtime') ?? 0)} in real time`,
    );
  }

  /** kill -9 at any moment; the files go on changing while it is down and while it starts. */
  async #killInBetween(name: DaemonName): Promise<void> {
    await delay(this.#random.integer(0, MOST_DOWN_MS));
    this.#measure();
    await this.#place.kill(name);
    this.#kills += 1;
    await delay(this.#random.integer(0, MOST_DOWN_MS));
    await this.#place.startDaemon(name);
  }

  /** Waits until the alerts tell of each path what is on the disk. */
  async #untilTold(when: string): Promise<void> {
    const end = performance.now() + this.#options.patienceMs;
    const truth = this.#disk.read();
    for (;;) {
      this.#story.read();
      this.#measure();
      if (this.#story.faultCount > 0) {
        this.#problem(`${when}: ${String(this.#story.faultCount)} alerts that do not go on from the one before`);
        for (const fault of this.#story.faults) this.#problem(fault);
        return;
      }
      const wrong = differences(this.#story.state, truth);
      if (wrong.length === 0) return;
      if (performance.now() > end) {
        this.#problem(`${when}: of ${String(wrong.length)} paths the alerts do not tell what is there`);
        for (const [path, facts] of wrong.slice(0, MOST_TOLD)) this.#tell(path, facts);
        return;
      }
      await delay(POLL_MS);
    }
  }

  /** In the end nothing changes any more, so scans find nothing, and the records are those of the files. */
  async #lookAgain(): Promise<void> {
    // What was there for a moment may be told late.
    await this.#place.scansPass(LAST_SCANS);
    await this.#untilTold('in the end');
    const { count } = this.#story;
    await this.#place.scansPass(LAST_SCANS);
    await this.#untilTold('after the end');
    if (this.#story.count > count) this.#problem(`${String(this.#story.count - count)} alerts of nothing in the end`);
    const truth = this.#disk.read();
    const end = performance.now() + this.#options.patienceMs;
    for (;;) {
      const wrong = this.#wrongRecords(truth, await readRecords(this.#place.api));
      if (wrong.length === 0) return;
      if (performance.now() > end) {
        this.#problem(`${String(wrong.length)} records of the API are not those of the files`);
        for (const [path, facts] of wrong.slice(0, MOST_TOLD)) this.#tell(path, facts);
        return;
      }
      await delay(POLL_MS * 10);
    }
  }

  #wrongRecords(truth: ReadonlyMap<string, FileFacts>, records: ReadonlyMap<string, FileRecord>): [string, string[]][] {
    const { synchronization } = this.#options;
    // Files of the baseline that never changed are told by synchronisation alone.
    const isTold = (path: string): boolean => synchronization || this.#story.changesOf(path) !== undefined;
    const expected = new Map([...truth].filter(([path]) => isTold(path)));
    const wrong = differences(new Map([...records].map(([path, { facts }]) => [path, facts])), expected);
    if (wrong.length > 0 || synchronization) return wrong;
    return [...records].flatMap(([path, { changes }]): [string, string[]][] => {
      const told = this.#story.changesOf(path);
      return told === changes ? [] : [[path, [`${String(changes)} changes, not ${String(told)}`]]];
    });
  }

  #tell(path: string, what: readonly string[]): void {
    this.#problem(`${path}: ${what.join(', ')}`);
    for (const line of this.#churn.historyOf(path)) this.#problem(`    done: ${line}`);
    for (const line of this.#story.historyOf(path)) this.#problem(`    told: ${line}`);
  }

  #problem(line: string): void {
    if (this.#problems.length < PROBLEM_LIMIT) this.#problems.push(line);
  }

  #measure(): void {
    try {
      this.#peak = Math.max(this.#peak, processUsage(this.#place.pidOf('svc-syscheckd')).peak);
    } catch {
      // It does not run at this moment.
    }
  }

  #say(line: string): void {
    this.#options.say?.(line);
  }

  #report(): FimStressReport {
    return {
      problems: this.#problems,
      operations: this.#churn.operations,
      kinds: this.#churn.kinds,
      alerts: this.#story.count,
      modes: this.#story.modes,
      files: this.#churn.files,
      kills: this.#kills,
      peakMemory: this.#peak,
      kept: this.#problems.length === 0 ? undefined : this.#place.directory,
    };
  }
}

/** Paths with what differs. */
function differences(
  told: ReadonlyMap<string, FileFacts>,
  truth: ReadonlyMap<string, FileFacts>,
): [string, string[]][] {
  const wrong: [string, string[]][] = [];
  for (const [path, facts] of truth) {
    const names = differingFacts(told.get(path), facts);
    if (names.length > 0) wrong.push([path, names]);
  }
  for (const [path, facts] of told) {
    if (!truth.has(path)) wrong.push([path, differingFacts(facts, undefined)]);
  }
  return wrong;
}
