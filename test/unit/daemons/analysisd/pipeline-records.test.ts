import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { expect } from 'chai';
import { LogtestDiffs } from '../../../../daemons/analysisd/logtest-diffs.js';
import type { ReceivedEvent } from '../../../../lib/bus/bus-event.js';
import { PipelineHome, statefulRules, TestPipeline } from '../../../support/analysisd/pipeline-kit.js';
import { eventually } from '../../../support/eventually.js';

const NOON = new Date(2026, 2, 4, 12).getTime();

describe('records of the journal beside events', () => {
  let home: PipelineHome;
  let running: TestPipeline;
  let sequence: number;

  beforeEach(async () => {
    home = new PipelineHome(NOON, { sections: '<journal><sync>1ms</sync></journal>' });
    sequence = 0;
    running = await TestPipeline.start(home);
  });
  afterEach(async () => {
    await running.pipeline.stop();
    home.remove();
  });

  const opened = (user: string, number: number): ReceivedEvent => ({
    queue: '1',
    location: '/var/log/door.log',
    message: Buffer.from(`Mar  7 09:15:02 gate doord[1]: opened by ${user} number ${String(number)}`),
    receivedAt: home.now,
    stream: 'test',
    sequence: ++sequence,
  });
  const ids = (): string[] =>
    readFileSync(home.path('logs/alerts/alerts.json'), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { rule: { id: string } }).rule.id);
  const checkpoint = async (): Promise<void> => {
    const { position } = running.pipeline.stats().journal.checkpoint;
    home.now += 60_000;
    await running.pipeline.tick();
    await eventually('a checkpoint is made', () => running.pipeline.stats().journal.checkpoint.position !== position);
  };

  it('share what logtest stored for check_diff with the engine, in a replay too', async () => {
    const { analysis } = running.pipeline;
    const diffs = new LogtestDiffs(analysis.diffs, (stored) => running.pipeline.storeLog(stored));
    analysis.onStoredLog = (stored) => {
      diffs.reached(stored);
    };
    diffs.store('gate', 100204, 'opened by dan number 1');
    expect(diffs.last('gate', 100204), 'seen at once').to.equal('opened by dan number 1');
    await eventually('the engine has it', () => analysis.diffs.last('gate', 100204) !== undefined);
    await running.take([opened('dan', 1), opened('dan', 2)]);
    await running.written();
    expect(diffs.last('gate', 100204), 'the engine is ahead').to.equal('opened by dan number 2');
    expect(ids(), 'the first is what logtest has seen').to.deep.equal(['100201', '100204']);

    const copy = new PipelineHome(NOON);
    home.copyTo(copy);
    const again = await TestPipeline.start(copy);
    await again.written();
    await again.pipeline.stop();
    const path = 'logs/alerts/alerts.json';
    expect(copy.files().get(path)).to.equal(home.files().get(path));
    copy.remove();
  });

  it('keep copies of rulesets as long as a checkpoint or record names them', async () => {
    const kept = () => readdirSync(home.path('queue/journal/rulesets')).filter((name) => name !== 'current');
    for (const level of [6, 7, 8, 9]) {
      home.writeRules(statefulRules(level));
      await running.reload();
      await running.take([opened('ann', level)]);
    }
    await running.written();
    expect(kept()).to.have.length(5);
    await checkpoint();
    await running.take([opened('ann', 10)]);
    await running.written();
    await checkpoint();
    expect(kept()).to.have.length(1);
  });

  it('have a checkpoint that failed made again, also when nothing comes any more', async () => {
    const logged = (text: string): boolean => home.logger.lines.some((line) => line.includes(text));
    const hindrances = [0, 1].map((number) => home.path('queue/journal', `checkpoint.${String(number)}.new`));
    await running.take([opened('ann', 1)]);
    await running.written();
    for (const path of hindrances) mkdirSync(path);
    home.now += 60_000;
    await running.pipeline.tick();
    await eventually('it has failed', () => logged('A checkpoint could not be written'));
    for (const path of hindrances) rmdirSync(path);
    await checkpoint();
    expect(logged('Checkpoints are written again.')).to.equal(true);
  });

  it('end at a torn write: what was acknowledged is there, and more comes behind', async () => {
    await running.take([opened('ann', 1), opened('bob', 2)]);
    await running.written();
    const copy = new PipelineHome(NOON);
    home.copyTo(copy);
    const [newest = ''] = readdirSync(copy.path('queue/journal'))
      .filter((name) => name.endsWith('.journal'))
      .sort()
      .reverse();
    appendFileSync(copy.path('queue/journal', newest), Buffer.alloc(777, 'torn'));
    const again = await TestPipeline.start(copy);
    await again.take([opened('ann', 3)]);
    await again.written();
    await again.pipeline.stop();
    expect(copy.logger.lines.filter((line) => line.startsWith('warn'))).to.have.length(1);
    expect(copy.logger.lines.join('\n')).to.match(/an interrupted write was cut at byte \d+ \(777 bytes/);
    await running.take([opened('ann', 3)]);
    await running.written();
    expect(copy.files().get('logs/alerts/alerts.log')).to.equal(home.files().get('logs/alerts/alerts.log'));
    copy.remove();
  });
});
