import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import fc from 'fast-check';
import { nextRun } from '../../../../../daemons/modulesd/schedule/next-run.js';
import type { Schedule } from '../../../../../lib/config/schedule.js';

const plain = (count: number, unit: 'second' | 'month' = 'second'): Schedule => ({
  ...{ interval: { unit, count }, day: undefined, wday: undefined, time: undefined },
});
const DAY = 86_400;
const SCHEDULES = fc.oneof(
  fc.integer({ min: 1, max: 10 * DAY }).map((count) => plain(count)),
  fc.integer({ min: 1, max: 14 }).map((count) => plain(count, 'month')),
  fc
    .record({ count: fc.integer({ min: 1, max: 20 }), time: fc.integer({ min: 0, max: 1439 }) })
    .map(({ count, time }): Schedule => ({ ...plain(count * DAY), time })),
  fc
    .record({ count: fc.integer({ min: 1, max: 4 }), time: fc.integer({ min: 0, max: 1439 }), wday: fc.nat(6) })
    .map(({ count, time, wday }): Schedule => ({ ...plain(count * 7 * DAY), time, wday })),
  fc
    .record({
      count: fc.integer({ min: 1, max: 14 }),
      time: fc.integer({ min: 0, max: 1439 }),
      day: fc.integer({ min: 1, max: 31 }),
    })
    .map(({ count, time, day }): Schedule => ({ ...plain(count, 'month'), time, day })),
);
const TIMES = fc.integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(2040, 0, 1) });

/** Local times of runs that follow each other, each when it is due. */
function runs(schedule: Schedule, from: Date, count: number): string[] {
  const shown: string[] = [];
  let now = from.getTime();
  let last: number | undefined;
  for (let run = 0; run < count; run += 1) {
    last = nextRun(schedule, last, now);
    now = last + 1000;
    const date = new Date(last);
    const two = (value: number): string => String(value).padStart(2, '0');
    shown.push(
      `${String(date.getFullYear())}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`,
    );
  }
  return shown;
}

describe('when a module runs next', () => {
  it('is an interval behind the start of the run before', () => {
    expect(nextRun(plain(10), undefined, 5000)).to.equal(5000);
    expect(nextRun(plain(10), 5000, 6000)).to.equal(15_000);
    // It took longer than its interval.
    expect(nextRun(plain(10), 5000, 20_000)).to.equal(20_000);
    // The clock was put back by an hour.
    expect(nextRun(plain(10), 3_605_000, 5000)).to.equal(15_000);
  });

  it('is a day of the month, and months without it are left out', () => {
    expect(runs({ ...plain(1, 'month'), day: 31, time: 90 }, new Date(2025, 0, 5), 4)).to.deep.equal([
      ...['2025-01-31 01:30', '2025-03-31 01:30', '2025-05-31 01:30', '2025-07-31 01:30'],
    ]);
    expect(runs({ ...plain(2, 'month'), day: 1, time: 0 }, new Date(2025, 10, 20), 3)).to.deep.equal([
      ...['2025-12-01 00:00', '2026-02-01 00:00', '2026-04-01 00:00'],
    ]);
    expect(runs({ ...plain(12, 'month'), day: 29, time: 0 }, new Date(2025, 1, 1), 1)).to.deep.equal([
      '2025-03-29 00:00',
    ]);
  });

  it('is a weekday', () => {
    expect(runs({ ...plain(7 * DAY), wday: 1, time: 600 }, new Date(2025, 5, 4), 3)).to.deep.equal([
      ...['2025-06-09 10:00', '2025-06-16 10:00', '2025-06-23 10:00'],
    ]);
    expect(runs({ ...plain(14 * DAY), wday: 3, time: 600 }, new Date(2025, 5, 4, 9), 2)).to.deep.equal([
      ...['2025-06-04 10:00', '2025-06-18 10:00'],
    ]);
  });

  it('is a time of day', () => {
    expect(runs({ ...plain(DAY), time: 300 }, new Date(2025, 5, 4, 6), 2)).to.deep.equal([
      '2025-06-05 05:00',
      '2025-06-06 05:00',
    ]);
    expect(runs({ ...plain(3 * DAY), time: 300 }, new Date(2025, 5, 4, 4), 2)).to.deep.equal([
      ...['2025-06-04 05:00', '2025-06-07 05:00'],
    ]);
    expect(runs(plain(1, 'month'), new Date(2025, 0, 31, 12), 3)).to.deep.equal([
      ...['2025-01-31 12:00', '2025-02-28 12:00', '2025-03-28 12:00'],
    ]);
  });

  it('keeps its time of day when clocks are put forward and back', () => {
    const module = fileURLToPath(new URL('../../../../../daemons/modulesd/schedule/next-run.js', import.meta.url));
    const script = `
      const { nextRun } = await import(${JSON.stringify(module)});
      const schedule = { interval: { unit: 'second', count: 86400 }, time: 270 };
      const days = [];
      let last, now = new Date(2025, 2, 29, 0).getTime();
      for (let i = 0; i < 3; i += 1) { last = nextRun(schedule, last, now); now = last + 1; days.push(new Date(last).toISOString()); }
      now = new Date(2025, 9, 25, 0).getTime(); last = undefined;
      for (let i = 0; i < 3; i += 1) { last = nextRun(schedule, last, now); now = last + 1; days.push(new Date(last).toISOString()); }
      console.log(days.join());`;
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      env: { ...process.env, TZ: 'Europe/Berlin' },
    });
    // 04:30 in Berlin.
    expect(output.trim().split(',')).to.deep.equal([
      ...['2025-03-29T03:30:00.000Z', '2025-03-30T02:30:00.000Z', '2025-03-31T02:30:00.000Z'],
      ...['2025-10-25T02:30:00.000Z', '2025-10-26T03:30:00.000Z', '2025-10-27T03:30:00.000Z'],
    ]);
  });

  it('is never in the past, never sooner than it should be, and always comes', () => {
    fc.assert(
      fc.property(SCHEDULES, TIMES, fc.nat(100 * DAY * 1000), (schedule, last, passed) => {
        const now = last + passed;
        const due = nextRun(schedule, last, now);
        expect(due).to.be.at.least(now);
        const date = new Date(due);
        const { day, wday, time, interval } = schedule;
        if (day !== undefined) expect(date.getDate()).to.equal(day);
        if (wday !== undefined) expect(date.getDay()).to.equal(wday);
        if (day === undefined && wday === undefined && time === undefined && interval.unit === 'second') {
          expect(due).to.equal(Math.max(now, last + interval.count * 1000));
        }
        // What is run when it is due is not run again at once.
        expect(nextRun(schedule, due, due + 1)).to.be.above(due);
      }),
    );
  });
});
