import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import type { BusEvent, ReceivedEvent } from '../../../../lib/bus/bus-event.js';
import { PipelineHome, TestPipeline } from '../../../support/analysisd/pipeline-kit.js';
import { eventually } from '../../../support/eventually.js';

const NEW_YEARS_EVE = new Date(2025, 11, 31, 23, 59, 58).getTime();
const RULES = `<group name="syslog,"><rule id="1" level="0" noalert="1"><category>syslog</category><description>Any.</description></rule>
<rule id="100001" level="5"><match>door</match><description>Door.</description></rule></group>`;

describe('event writer', () => {
  let home: PipelineHome;
  let running: TestPipeline;
  let sequence: number;

  beforeEach(async () => {
    home = new PipelineHome(NEW_YEARS_EVE, { rules: RULES, sections: '<journal><sync>1ms</sync></journal>' });
    sequence = 0;
    running = await TestPipeline.start(home);
  });
  afterEach(async () => {
    await running.pipeline.stop();
    home.remove();
  });

  const batch = (...events: Partial<BusEvent>[]): ReceivedEvent[] =>
    events.map((event) => ({
      queue: '1',
      location: '/var/log/door.log',
      message: Buffer.from('a door opened'),
      receivedAt: home.now,
      stream: 'test',
      sequence: ++sequence,
      ...event,
    }));
  type Written = { agent: { name: string; ip?: string; labels?: Record<string, string> }; full_log: string };
  const alerts = (): Written[] =>
    readFileSync(home.path('logs/alerts/alerts.json'), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Written);
  const errors = () => home.logger.lines.filter((line) => line.startsWith('error'));

  it('writes names and labels of agents as the UTF-8 they came in', async () => {
    const labels = new Map([
      ['site', 'Zürich'],
      ['部屋', '三階'],
    ]);
    await running.take(batch({ agent: { id: '004', name: 'büro-7', ip: '10.0.0.4', labels } }));
    await running.written();
    expect(alerts()[0]?.agent).to.deep.equal({
      id: '004',
      name: 'büro-7',
      ip: '10.0.0.4',
      labels: { site: 'Zürich', 部屋: '三階' },
    });
  });

  it('takes NUL bytes, huge events and bytes that are no UTF-8', async () => {
    const huge = Buffer.alloc(1024 * 1024, 'door ');
    await running.take(
      batch(
        { message: Buffer.from('door\0hidden') },
        { message: huge },
        { message: Buffer.from([0x64, 0x6f, 0x6f, 0x72, 0xff, 0xfe]) },
        { location: 'a\0b\nc', message: Buffer.from('door') },
        { message: Buffer.alloc(0) },
      ),
    );
    await running.written();
    expect(running.counters.eventsProcessed).to.equal(5);
    expect(alerts().map((alert) => alert.full_log.length)).to.deep.equal([4, huge.length, 6, 4]);
  });

  it('writes the other alerts of a batch when one cannot be written', async () => {
    const { outputs } = running.pipeline.analysis;
    const append = outputs.append.bind(outputs);
    let calls = 0;
    outputs.append = (stream, record) => {
      calls += 1;
      if (calls === 1) throw new RangeError('no such record');
      append(stream, record);
    };
    await running.take(batch({}, {}, {}));
    await running.written();
    expect(alerts()).to.have.length(2);
    expect(running.counters.alertsFailed).to.equal(1);
    expect(errors()).to.deep.equal([
      "error: The alert of an event from '/var/log/door.log' could not be written: no such record",
    ]);
  });

  it('takes events while the disk takes no alerts over midnight, says so once, and goes on by itself', async () => {
    const inTheWay = home.path('logs/alerts/2026');
    mkdirSync(home.path('logs/alerts'), { recursive: true });
    writeFileSync(inTheWay, '');
    await running.take(batch({}));
    await running.written();
    home.now += 3000;
    await running.pipeline.tick();
    await running.take(batch({}, {}));
    await eventually('the wait is logged', () => errors().length > 0);
    expect(running.pipeline.stats().journal.outputs_blocked).to.match(/logs\/alerts\/2026/);
    expect(running.pipeline.pending).to.equal(2);
    rmSync(inTheWay);
    await running.written();
    expect(alerts()).to.have.length(2);
    expect(errors()).to.have.length(1);
    expect(errors()[0]).to.match(/^error: Alerts cannot be written, events wait in the journal: .*logs\/alerts\/2026/);
    expect(home.logger.lines).to.include('info: Alerts are being written again.');
    const before = readFileSync(home.path('logs/alerts/2025/Dec/ossec-alerts-31.json'), 'utf8');
    expect(before.trim().split('\n')).to.have.length(1);
  });

  it('refuses events while the journal takes none, names the reason, and goes on by itself', async () => {
    await running.take(batch({}));
    const journal = home.path('queue/journal');
    renameSync(journal, `${journal}.gone`);
    writeFileSync(journal, '');
    const lost = batch({});
    const refused = await running.take(lost).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(Error);
    expect(running.pipeline.stats().journal.blocked).to.match(/queue\/journal/);
    rmSync(journal);
    renameSync(`${journal}.gone`, journal);
    await running.pipeline.tick();
    expect(running.pipeline.stats().journal.blocked).to.equal(null);
    await running.take(lost);
    await running.written();
    expect(alerts()).to.have.length(2);
  });

  it('refuses events while the journal is full, and frees it by itself', async () => {
    await running.pipeline.stop();
    home.configure('<journal><sync>1ms</sync><segment_size>1MB</segment_size><max_size>4MB</max_size></journal>');
    running = await TestPipeline.start(home);
    await running.written();
    const inTheWay = home.path('logs/alerts/2026');
    writeFileSync(inTheWay, '');
    home.now += 3000;
    await running.pipeline.tick();
    const large = Buffer.alloc(300_000, 'door ');
    let refused: unknown;
    let taken = 0;
    while (refused === undefined && taken < 100) {
      const events = batch({ message: large });
      refused = await running.take(events).then(
        () => void (taken += 1),
        (error: unknown) => error,
      );
    }
    expect(String(refused)).to.match(/queue\/journal holds \d+ bytes, 4194304 is the limit/);
    rmSync(inTheWay);
    await running.written();
    const again = batch({ message: large });
    await eventually('there is room again', async () => {
      await running.pipeline.tick();
      return running.take(again).then(
        () => true,
        () => false,
      );
    });
    expect(running.pipeline.stats().journal.blocked).to.equal(null);
    await running.written();
    expect(alerts()).to.have.length(taken + 1);
  });
});
