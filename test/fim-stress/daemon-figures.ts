import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { quantile } from '../support/process/measuring.js';
import { type ProcessUsage, processUsage } from '../support/process/process-usage.js';
import { AlertTimes } from './alert-times.js';
import { StressHome } from './stress-home.js';

/** Files that are changed under the eyes of svc-syscheckd, and milliseconds between changes that follow fast. */
const WATCHED = 500;
const BUSY_PAUSE_MS = 5;
const PATIENCE_MS = 30_000;
/** It scans once by itself, and then when it is told to. */
const FREQUENCY = 43_200;
const POLL_MS = 10;

/** Figures of svc-syscheckd as it is installed: how fast it scans, and how soon a change is an alert in alerts.json. */
export class DaemonFigures {
  readonly #place: StressHome;
  readonly #count: number;
  readonly #line: (name: string, value: string) => void;

  private constructor(place: StressHome, count: number, line: (name: string, value: string) => void) {
    this.#place = place;
    this.#count = count;
    this.#line = line;
  }

  /** @param count files that the caller makes in `scanned` */
  static async make(count: number, line: (name: string, value: string) => void): Promise<DaemonFigures> {
    const place = await StressHome.make({ frequency: FREQUENCY, synchronization: false, fileLimit: count + WATCHED });
    return new DaemonFigures(place, count, line);
  }

  /** Where scans look. */
  get scanned(): string {
    return this.#place.scanned[0] ?? '';
  }

  async measure(): Promise<void> {
    const place = this.#place;
    const live = place.watched[0] ?? '';
    const watched = Array.from({ length: WATCHED }, (_none, file) =>
      join(live, `d${String(file % 10)}`, `f${String(file)}`),
    );
    for (const path of watched) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, 'watched\n');
    }
    for (const name of ['svc-db', 'svc-analysisd'] as const) await place.startDaemon(name);
    this.#line('svc-syscheckd', `${String(this.#count)} files, and ${String(WATCHED)} in real time`);
    await this.#scan('baseline, with the start', 1, () => place.startDaemon('svc-syscheckd'));
    await this.#scan('rescan', 2, () => place.order('syscheck restart'));
    await this.#scan('rescan', 3, () => place.order('syscheck restart'));
    await this.#realtime('change to alert, one at a time', watched);
    await this.#realtime(`change to alert, ${String(1000 / BUSY_PAUSE_MS)} a second`, watched, BUSY_PAUSE_MS);
    await place.kill('svc-syscheckd');
    await this.#scan('first scan after a kill, with the start', 1, () => place.startDaemon('svc-syscheckd'));
  }

  end(): Promise<void> {
    return this.#place.end();
  }

  /** @param number of the scan since the start */
  async #scan(name: string, number: number, begin: () => Promise<void>): Promise<void> {
    const before = number === 1 ? 0 : this.#usage().cpu;
    const started = performance.now();
    await begin();
    while (((await this.#place.scans())?.count ?? 0) < number) await delay(POLL_MS);
    const seconds = (performance.now() - started) / 1000;
    const { cpu, rss, peak } = this.#usage();
    this.#line(
      name,
      `${String(Math.round((this.#count + WATCHED) / seconds))} files/s (${seconds.toFixed(2)} s, ` +
        `${(cpu - before).toFixed(2)} s of processor, resident ${rss.toFixed(0)} MiB, at most ${peak.toFixed(0)} MiB)`,
    );
  }

  /** @param pauseMs between changes; without it, the alert of each is awaited */
  async #realtime(name: string, paths: readonly string[], pauseMs?: number): Promise<void> {
    const before = this.#usage().cpu;
    const alerts = new AlertTimes(this.#place.home);
    for (const path of paths) {
      alerts.changes(path);
      appendFileSync(path, 'changed\n');
      if (pauseMs === undefined) await alerts.settled(PATIENCE_MS);
      else await delay(pauseMs);
      alerts.look();
    }
    await alerts.settled(PATIENCE_MS);
    const sorted = alerts.times.sort((a, b) => a - b);
    const milliseconds = (share: number): string => `${quantile(sorted, share).toFixed(0)} ms`;
    this.#line(
      name,
      `p50 ${milliseconds(0.5)}, p99 ${milliseconds(0.99)}, longest ${milliseconds(1)} (${String(paths.length)} ` +
        `changes, ${(this.#usage().cpu - before).toFixed(2)} s of processor)`,
    );
  }

  #usage(): ProcessUsage {
    return processUsage(this.#place.pidOf('svc-syscheckd'));
  }
}
