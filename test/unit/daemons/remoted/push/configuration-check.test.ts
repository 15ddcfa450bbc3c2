import { expect } from 'chai';
import { type Agent, linkOf } from '../../../../../daemons/remoted/agent-link.js';
import { ConfigurationCheck } from '../../../../../daemons/remoted/push/configuration-check.js';
import { PushContent } from '../../../../../daemons/remoted/push/push-content.js';
import { PushContents } from '../../../../../daemons/remoted/push/push-contents.js';
import { SumReporter } from '../../../../../daemons/remoted/push/sum-reporter.js';
import { eventually } from '../../../../support/eventually.js';
import { RecordingLogger } from '../../../../support/recording-logger.js';
import { PushKit } from '../../../../support/remoted/push-kit.js';

describe('comparing what agents report', () => {
  const content = new PushContent(Buffer.from('#default\n'));
  let kit: PushKit;
  let sum: string | undefined;
  let agent: Agent;
  let check: ConfigurationCheck;

  beforeEach(() => {
    kit = new PushKit(content);
    sum = content.md5;
    agent = kit.agent();
    kit.connect();
    check = new ConfigurationCheck({ sumFor: () => sum }, kit.pusher, () => kit.clock.now());
  });

  const report = async (mergedSum: string | undefined): Promise<number> => {
    linkOf(agent).mergedSum = mergedSum;
    const before = kit.counters.pushes.started;
    check.keepalive(agent);
    await kit.clock.settle();
    return kit.counters.pushes.started - before;
  };

  it('pushes to an agent with another file, or none', async () => {
    expect(await report('x')).to.equal(1);
    expect(await report(content.md5)).to.equal(0);
    expect(await report('0'.repeat(32))).to.equal(1);
  });

  it('pushes nothing without a file, without groups, or to an agent that reports nothing', async () => {
    expect(await report(undefined)).to.equal(0);
    sum = undefined;
    expect(await report('x')).to.equal(0);
  });

  it('gives an agent time to take the file, more of it each time it did not', async () => {
    expect(await report('x')).to.equal(1);
    expect(await report('x')).to.equal(0);
    await kit.clock.pass(3000);
    expect(await report('x')).to.equal(1);
    await kit.clock.pass(3000);
    expect(await report('x')).to.equal(0);
    await kit.clock.pass(3000);
    expect(await report('x')).to.equal(1);
    for (let times = 0; times < 10; times += 1) {
      await kit.clock.pass(60_000);
      expect(await report('x')).to.equal(1);
    }
    // Another file is pushed at once, and so is this one to an agent that begins anew.
    sum = 'f'.repeat(32);
    expect(await report('x')).to.equal(1);
    sum = content.md5;
    check.startup(agent);
    expect(await report('x')).to.equal(1);
  });

  it('tells checksums of whole files from those of a file that is being written', async () => {
    const isWhole = (text: string | undefined) => check.isWhole(agent, text);
    const [other, half] = ['1'.repeat(32), '2'.repeat(32)];
    expect([other, 'x', undefined, content.md5].map(isWhole)).to.deep.equal([true, true, true, true]);
    const route = kit.connect();
    route.reading = false;
    await report(other);
    expect([half, 'x', undefined, content.md5].map(isWhole), 'while it is pushed').to.deep.equal([
      false,
      true,
      true,
      true,
    ]);
    route.read();
    await kit.clock.settle();
    expect(kit.counters.pushes.finished).to.equal(1);
    expect(isWhole(half), 'what it has sent before it had read all').to.equal(false);
    await kit.clock.pass(60_000);
    expect(isWhole(half), 'it has this one').to.equal(true);
  });

  it('pushes again after a push that failed, at the next keepalive', async () => {
    const route = kit.connect();
    route.reading = false;
    await report('x');
    route.close();
    await kit.clock.settle();
    expect(kit.counters.pushes.failed).to.equal(1);
    kit.connect();
    expect(await report('x')).to.equal(1);
    expect(kit.counters.pushes.finished).to.equal(1);
  });
});

describe('files that are ready for pushes', () => {
  const [agent] = new PushKit(undefined).agents;
  if (agent === undefined) throw new Error('no agent');

  it('are one object for all agents, and made anew after a change', async () => {
    let text = 'one';
    let reads = 0;
    const contents = new PushContents(
      { groupsOf: (id) => (id === '001' ? ['default', 'web'] : undefined) },
      {
        sumOf: (groups) => (groups.join(',') === 'default,web' ? `sum of ${text}` : undefined),
        contentOf: () => {
          reads += 1;
          return Promise.resolve({ md5: `sum of ${text}`, content: Buffer.from(text) });
        },
      },
    );
    expect(contents.sumFor(agent)).to.equal('sum of one');
    const first = await contents.contentFor(agent);
    expect(await contents.contentFor(agent)).to.equal(first);
    expect(reads).to.equal(1);
    text = 'two';
    const second = await contents.contentFor(agent);
    expect(second?.md5).to.equal('sum of two');
    expect(second?.at(1).bytes.toString()).to.equal('two');
    text = 'one';
    expect(await contents.contentFor(agent)).to.equal(first);
    expect(reads).to.equal(2);
  });

  it('are none for an agent whose groups are not known, or have no file', async () => {
    const files = { sumOf: () => undefined, contentOf: () => Promise.reject(new Error('not to be read')) };
    const known = new PushContents({ groupsOf: () => ['default'] }, files);
    expect([known.sumFor(agent), await known.contentFor(agent)]).to.deep.equal([undefined, undefined]);
    const unknown = new PushContents({ groupsOf: () => undefined }, { ...files, sumOf: () => 'sum' });
    expect([unknown.sumFor(agent), await unknown.contentFor(agent)]).to.deep.equal([undefined, undefined]);
  });

  it('are let go, the oldest first, when they take too much', async () => {
    let number = 0;
    let reads = 0;
    const contents = new PushContents(
      { groupsOf: () => ['default'] },
      {
        sumOf: () => String(number),
        contentOf: () => {
          reads += 1;
          return Promise.resolve({ md5: String(number), content: Buffer.alloc(15 * 1024 * 1024) });
        },
      },
    );
    for (number = 0; number < 3; number += 1) await contents.contentFor(agent);
    expect(reads).to.equal(3);
    for (const [again, expected] of [
      [2, 3],
      [1, 3],
      [0, 4],
      [1, 4],
      [2, 5],
    ] as const) {
      number = again;
      await contents.contentFor(agent);
      expect(reads).to.equal(expected);
    }
  });
});

describe('telling svc-db the sums of merged files', () => {
  it('tells the last state of several changes once, again after a failure, and whenever asked', async () => {
    const told: string[] = [];
    const slept: number[] = [];
    let failures = 1;
    let md5 = 'one';
    let collecting = (): void => {};
    const logger = new RecordingLogger();
    const reporter = new SumReporter({
      sums: () => [{ groups: ['default'], md5 }],
      tell: (sums) => {
        if (failures > 0) {
          failures -= 1;
          return Promise.reject(new Error('away'));
        }
        told.push(sums.map((sum) => sum.md5).join());
        return Promise.resolve();
      },
      logger,
      sleep: (milliseconds) => {
        slept.push(milliseconds);
        collecting();
        return Promise.resolve();
      },
    });
    const running = reporter.run();
    collecting = () => {
      if (md5 === 'one') {
        md5 = 'two';
        reporter.changed();
      }
    };
    reporter.changed();
    await eventually('it is told', () => told.length === 1);
    expect(told).to.deep.equal(['two']);
    expect(slept).to.deep.equal([50, 1000, 50]);
    expect(logger.lines).to.deep.equal(['error: svc-db did not take the sums of merged files: away']);
    md5 = 'three';
    reporter.changed();
    await eventually('it is told again', () => told.length === 2);
    reporter.stop();
    await running;
    expect(told).to.deep.equal(['two', 'three']);
  });
});
