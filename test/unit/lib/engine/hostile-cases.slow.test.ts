import { expect } from 'chai';
import { warmUp, warmUpInTurns } from '../../../../daemons/analysisd/warm-up.js';
import { DEFAULT_STEP_BUDGET } from '../../../../lib/engine/engine.js';
import { hostileCase, LARGE_CASE } from '../../../support/engine/hostile/hostile-case.js';
import { HostileRun } from '../../../support/engine/hostile/hostile-run.js';

/** Cases of each run; `npm run bench -- hostile` takes as many as one likes, and measures how long they take. */
const CASES = 40;
/** Steps of the last thing that an event may do beyond its budget: what a gate remembers of a value. */
const LAST_STEPS = 50_000;
/** Bytes of two alerts and two archives of an event: 64 KB of escapes in its log, its fields, and logs of ten events before. */
const MAX_WRITTEN = 12 << 20;

describe('rulesets and messages that are made to be as bad as they can', () => {
  it('take no more steps than an event has, write no more than can be told, and never fail', () => {
    const owners = new Set<string>();
    let taken = 0;
    for (let seed = 1; seed <= CASES; seed += 1) {
      const run = HostileRun.load(hostileCase(seed));
      if (run === undefined) continue;
      for (let index = 0; index < LARGE_CASE.lines; index += 1) {
        const { steps, writtenBytes } = run.take(index);
        taken += 1;
        const name = `${String(seed)}:${String(index)}`;
        expect(steps, name).to.be.within(0, DEFAULT_STEP_BUDGET.event + LAST_STEPS);
        expect(writtenBytes, name).to.be.below(MAX_WRITTEN);
      }
      expect(run.failures).to.deep.equal([]);
      for (const owner of run.engine.state.exhausted.keys()) owners.add(owner.replace(/[0-9]+/, 'N'));
    }
    expect(taken).to.be.above((CASES * LARGE_CASE.lines) / 2);
    expect(owners).to.include('rule N').and.to.include('decoder kid');
  });

  it('take the same steps, with the same outcome, when they are taken again', () => {
    const outcomes = (): string => {
      const run = HostileRun.load(hostileCase(3));
      return JSON.stringify(Array.from({ length: LARGE_CASE.lines }, (_, index) => run?.take(index)));
    };
    expect(outcomes()).to.equal(outcomes());
  });
});

describe('warmUp', () => {
  it('writes alerts of messages of every kind, all of them within the budget', () => {
    expect(warmUp()).to.be.above(100);
  });

  it('lets others have their turn where it is asked to', async () => {
    let turns = 0;
    let turn = setImmediate(function next() {
      turns += 1;
      turn = setImmediate(next);
    });
    const alerts = await warmUpInTurns();
    clearImmediate(turn);
    expect(turns).to.be.above(3);
    expect(alerts).to.equal(warmUp());
  });
});
