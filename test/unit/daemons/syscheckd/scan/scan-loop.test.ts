import { expect } from 'chai';
import { RETRY_SECONDS, type ScanClock, ScanLoop } from '../../../../../daemons/syscheckd/scan/scan-loop.js';
import { ScanSchedule, type ScanTimes } from '../../../../../daemons/syscheckd/scan/scan-schedule.js';
import { ManualClock } from '../../../../support/manual-clock.js';
import { RecordingLogger } from '../../../../support/recording-logger.js';

/** Local time, a Monday. */
const MONDAY = '2026-11-23T08:00:00';

function seconds(time: string): number {
  return new Date(time).getTime() / 1000;
}

type Deferred = { readonly promise: Promise<void>; readonly resolve: () => void };

function deferred(): Deferred {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

describe('schedule of scans', () => {
  const schedule = (times: ScanTimes, start: string) => {
    const made = new ScanSchedule(times, new Date(start), seconds(start));
    return {
      due: (time: string) => made.due(new Date(time), seconds(time)),
      ended: (time: string) => made.ended(seconds(time)),
    };
  };

  it('counts from the end of the last one', () => {
    const { due, ended } = schedule({ frequency: 3600 }, '2026-11-23T08:00:00');
    ended('2026-11-23T08:30:00');
    expect(due('2026-11-23T09:30:00')).to.equal(false);
    expect(due('2026-11-23T09:30:01')).to.equal(true);
  });

  it('has one scan on each day at its time', () => {
    const { due, ended } = schedule({ frequency: 604_800, time: 21 * 60 }, '2026-11-23T08:00:00');
    expect(due('2026-11-23T20:59:59')).to.equal(false);
    expect(due('2026-11-23T21:00:00')).to.equal(true);
    ended('2026-11-23T21:10:00');
    expect(due('2026-11-23T23:59:59')).to.equal(false);
    expect(due('2026-11-24T20:00:00')).to.equal(false);
    expect(due('2026-11-24T21:00:01')).to.equal(true);
  });

  it('has none on a day whose time had come at the start', () => {
    const { due } = schedule({ frequency: 604_800, time: 7 * 60 }, '2026-11-23T08:00:00');
    expect(due('2026-11-23T22:00:00')).to.equal(false);
    expect(due('2026-11-24T07:00:00')).to.equal(true);
  });

  it('keeps to its days', () => {
    const weekend = [true, false, false, false, false, false, true];
    const { due } = schedule({ frequency: 604_800, days: weekend }, '2026-11-23T08:00:00');
    expect(due('2026-11-27T23:00:00')).to.equal(false);
    expect(due('2026-11-28T00:00:00')).to.equal(true);
    const both = schedule({ frequency: 604_800, days: weekend, time: 60 }, '2026-11-27T08:00:00');
    expect(both.due('2026-11-28T00:59:00')).to.equal(false);
    expect(both.due('2026-11-28T01:00:00')).to.equal(true);
  });
});

describe('loop of scans', () => {
  /** Runs until `scans` have been made; what each comes to is told by `outcome`. */
  async function run(
    times: ScanTimes,
    scans: number,
    outcome: (number: number, loop: ScanLoop) => boolean | Promise<boolean>,
  ) {
    const manual = new ManualClock(MONDAY);
    const clock: ScanClock = {
      now: () => manual.now(),
      seconds: () => manual.now().getTime() / 1000,
      sleep: (milliseconds) => manual.sleep(milliseconds),
    };
    const begun: number[] = [];
    const problems: (string | undefined)[] = [];
    const done = deferred();
    const loop: ScanLoop = new ScanLoop({
      what: 'Test',
      enabled: () => true,
      times,
      clock,
      logger: new RecordingLogger(),
      setProblem: (problem) => problems.push(problem),
      scan: async () => {
        begun.push(clock.seconds() - seconds(MONDAY));
        if (begun.length === scans) done.resolve();
        await manual.sleep(10_000);
        return outcome(begun.length, loop);
      },
    });
    loop.start();
    await done.promise;
    await loop.stop();
    return { begun, problems, loop };
  }

  it('begins with a scan and goes on by the schedule', async () => {
    const { begun, loop } = await run({ frequency: 100 }, 3, () => true);
    expect(begun).to.deep.equal([0, 111, 222]);
    expect(loop.status).to.include({ running: false, count: 3 });
    expect(loop.status.started).to.equal(seconds(MONDAY) + 222);
    expect(loop.status.ended).to.equal(seconds(MONDAY) + 232);
  });

  it('scans again at once when it was asked to during a scan, once for all who asked', async () => {
    const { begun } = await run({ frequency: 100 }, 3, (number, loop) => {
      if (number === 1) for (let times = 0; times < 3; times += 1) loop.request();
      return true;
    });
    expect(begun).to.deep.equal([0, 10, 121]);
  });

  it('begins anew what was given up, and does not count it', async () => {
    const { begun, loop } = await run({ frequency: 100 }, 2, (number) => number > 1);
    expect(begun).to.deep.equal([0, 10]);
    expect(loop.status.count).to.equal(1);
  });

  it('tells of a scan that failed, and tries again soon', async () => {
    const { begun, problems } = await run({ frequency: 10_000 }, 2, (number) => {
      if (number === 1) throw new Error('no room');
      return true;
    });
    expect(begun).to.deep.equal([0, 10 + RETRY_SECONDS]);
    expect(problems).to.deep.equal([`Test scan failed, it begins anew in ${RETRY_SECONDS} s: no room`, undefined]);
  });

  it('wakes for a request', async () => {
    const requested = deferred();
    let asleep: (() => void) | undefined;
    const sleeping = new Promise<void>((resolve) => (asleep = resolve));
    let scans = 0;
    const loop = new ScanLoop({
      what: 'Test',
      enabled: () => true,
      times: { frequency: 1e9 },
      // Sleeps for ever, unless it is woken.
      clock: {
        now: () => new Date(MONDAY),
        seconds: () => 0,
        sleep: (_milliseconds, signal) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => {
              resolve();
            });
            asleep?.();
          }),
      },
      logger: new RecordingLogger(),
      setProblem: () => {},
      scan: () => {
        if (++scans === 2) requested.resolve();
        return Promise.resolve(true);
      },
    });
    loop.start();
    await sleeping;
    loop.request();
    await requested.promise;
    await loop.stop();
    expect(scans).to.equal(2);
  });
});
