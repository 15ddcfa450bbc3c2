import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { RunClock } from '../../chaos/run-clock.js';

/** Says what time it is on its main thread and on another one, and what a date is there. */
const PROGRAM = `
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
if (isMainThread) {
  new Worker(new URL(import.meta.url)).on('message', (there) => {
    const isDate = new Date() instanceof Date && new Date(0).getTime() === Date.UTC(1970, 0, 1);
    console.log(JSON.stringify({ here: Date.now(), there, isDate }));
  });
} else {
  parentPort.postMessage(new Date().getTime());
}
`;

type Answer = { readonly here: number; readonly there: number; readonly isDate: boolean };

describe('the clock of a run of chaos', () => {
  let directory: string;
  let program: string;
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'svc-clock-'));
    program = join(directory, 'program.mjs');
    writeFileSync(program, PROGRAM);
  });
  after(() => rmSync(directory, { recursive: true }));

  it('comes to midnight when it should', () => {
    const now = new Date(2026, 10, 27, 13, 20, 5);
    const aheadMs = RunClock.aheadForMidnight(35, now);
    expect(new Date(now.getTime() + aheadMs)).to.deep.equal(new Date(2026, 10, 27, 23, 59, 25));
    expect(RunClock.aheadForMidnight(35, new Date(2026, 10, 27, 23, 59, 50))).to.equal(-25_000);
  });

  it('is that of the processes that it is given to', () => {
    const clock = new RunClock(join(directory, 'clock'), 3_600_000);
    const begun = clock.now();
    const { here, there, isDate } = ask(clock);
    expect(here).to.be.within(begun, clock.now());
    expect(there).to.be.within(begun, clock.now());
    expect(isDate).to.equal(true);
  });

  it('is that of the host where it does not go ahead', () => {
    const begun = Date.now();
    expect(ask(new RunClock(join(directory, 'no clock'))).here).to.be.within(begun, Date.now());
  });

  function ask(clock: RunClock): Answer {
    const text = execFileSync(process.execPath, [program], { env: clock.environment(), encoding: 'utf8' });
    return JSON.parse(text) as Answer;
  }
});
