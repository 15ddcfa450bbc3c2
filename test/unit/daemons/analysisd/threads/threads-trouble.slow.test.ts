import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { EpsLimiter } from '../../../../../daemons/analysisd/eps-limiter.js';
import type { ReceivedEvent } from '../../../../../lib/bus/bus-event.js';
import { PipelineHome, statefulRules, TestPipeline } from '../../../../support/analysisd/pipeline-kit.js';
import { eventually } from '../../../../support/eventually.js';

/** Local time, shortly before the year ends. */
const START = new Date(2025, 11, 31, 23, 59, 50).getTime();
const AGENTS = 20;
const sections = (threads: number): string =>
  `<global><logall>yes</logall></global><journal><sync>1ms</sync></journal><analysis><threads>${String(threads)}</threads></analysis>`;
const USERS = ['ann', 'bob', 'dan', 'eve'];

describe('threads of the analysis in trouble', function () {
  this.timeout(60_000);
  const homes: PipelineHome[] = [];
  const running: TestPipeline[] = [];
  let sequence: number;

  const makeHome = (threads: number): PipelineHome => {
    const home = new PipelineHome(START, { sections: sections(threads) });
    homes.push(home);
    return home;
  };
  const start = async (...about: Parameters<typeof TestPipeline.start>): Promise<TestPipeline> => {
    const started = await TestPipeline.start(...about);
    running.push(started);
    return started;
  };
  const makeEvents = (count: number): ReceivedEvent[] =>
    Array.from({ length: count }, () => {
      sequence += 1;
      const id = String(1 + (sequence % AGENTS)).padStart(3, '0');
      const user = USERS[(sequence * 7) % USERS.length] ?? '';
      return {
        queue: '1',
        location: '/var/log/door.log',
        message: Buffer.from(`Mar  7 09:15:02 gate doord[1]: opened by ${user} number ${String(sequence % 9)}`),
        receivedAt: START + sequence,
        agent: { id, name: `host-${id}`, ip: 'any' },
        stream: 'test',
        sequence,
      };
    });
  const errors = (home: PipelineHome): string[] => home.logger.lines.filter((line) => /^(error|critical)/.test(line));

  beforeEach(() => {
    sequence = 0;
  });
  afterEach(async () => {
    for (const { pipeline } of running.splice(0)) await pipeline.stop();
    for (const home of homes.splice(0)) home.remove();
  });

  /** What one thread writes of these events, in the files of the first day. */
  async function undisturbed(
    events: readonly ReceivedEvent[],
    steps: (run: TestPipeline) => Promise<void> = async () => {},
  ) {
    const home = makeHome(1);
    const one = await start(home);
    await one.take(events);
    await steps(one);
    await one.written();
    return home.files();
  }

  it('keep to the limit of events a second, and lose none', async () => {
    const home = makeHome(3);
    const limiter = new EpsLimiter(100, 2, Math.floor(START / 1000));
    const limited = await start(home, { epsLimiter: limiter });
    const events = makeEvents(1000);
    await limited.take(events);
    for (const most of [200, 400, 600, 800, 1000]) {
      await eventually(`${String(most)} events are analysed`, () => limited.pipeline.stats().events.analysed === most);
      expect(limiter.available(Math.floor(home.now / 1000))).to.equal(0);
      expect(limited.pipeline.pending).to.equal(1000 - most);
      home.now += 2000;
    }
    await limited.written();
    expect(home.files()).to.deep.equal(await undisturbed(events));
    expect(errors(home)).to.deep.equal([]);
  });

  it('wait while the disk takes no alerts, take events meanwhile, and go on by themselves', async () => {
    const midnight = async ({ home, pipeline }: TestPipeline): Promise<void> => {
      home.now += 20_000;
      await pipeline.tick();
    };
    const home = makeHome(3);
    const inTheWay = home.path('logs/alerts/2026');
    mkdirSync(home.path('logs/alerts'), { recursive: true });
    writeFileSync(inTheWay, '');
    const blocked = await start(home);
    const [before, after] = [makeEvents(3000), makeEvents(9000)];
    await blocked.take(before);
    await blocked.written();
    await midnight(blocked);
    await blocked.take(after);
    await eventually('the wait is logged', () => errors(home).length > 0);
    const { events, journal } = blocked.pipeline.stats();
    expect([events.pending, journal.outputs_blocked?.includes('logs/alerts/2026')]).to.deep.equal([9000, true]);
    rmSync(inTheWay);
    await blocked.written();
    const expected = await undisturbed(before, async (one) => {
      await one.written();
      await midnight(one);
      await one.take(after);
    });
    expect(home.files()).to.deep.equal(expected);
    expect(errors(home)).to.have.length(1);
  });

  it('take over another ruleset between two events while they have work', async () => {
    const [before, after] = [makeEvents(8000), makeEvents(8000)];
    const reload = async (run: TestPipeline): Promise<void> => {
      run.home.writeRules(statefulRules(9));
      await run.reload();
      await run.take(after);
    };
    const home = makeHome(3);
    const busy = await start(home);
    await busy.take(before);
    expect(busy.pipeline.pending, 'events that threads have').to.be.greaterThan(0);
    await reload(busy);
    expect(busy.pipeline.pending, 'events that threads have').to.be.greaterThan(8000);
    await busy.written();
    expect(home.files()).to.deep.equal(await undisturbed(before, reload));
  });

  it('end the analysis when one of them ends, and another start writes everything once', async () => {
    const home = makeHome(3);
    const program = new URL('../../../../support/analysisd/ending-thread.js', import.meta.url);
    const ending = await start(home, { threadProgram: program });
    const events = [makeEvents(4000), makeEvents(4000), makeEvents(4000)];
    for (const part of events) await ending.take(part);
    await eventually('the end is told', () => errors(home).length > 0);
    expect(errors(home)[0]).to.match(/^critical: .*Thread [123] of the analysis/);
    expect(ending.pipeline.pending).to.be.greaterThan(0);
    await ending.pipeline.stop();
    running.length = 0;
    const next = await start(home);
    await next.written();
    expect(home.files()).to.deep.equal(await undisturbed(events.flat()));
  });
});
