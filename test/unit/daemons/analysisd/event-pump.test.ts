import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { Counters } from '../../../../daemons/analysisd/counters.js';
import { EventPump } from '../../../../daemons/analysisd/event-pump.js';
import { Outputs } from '../../../../daemons/analysisd/outputs.js';
import type { BusEvent, EventBatch } from '../../../../lib/bus/bus-event.js';
import { eventually } from '../../../support/eventually.js';
import { group, testEngine } from '../../../support/engine-kit.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

const RULES = group('<rule id="100001" level="5"><match>door</match><description>Door.</description></rule>');
const NEW_YEARS_EVE = new Date(2025, 11, 31, 23, 59, 58).getTime();

describe('event pump', () => {
  let home: TemporaryHome;
  let logger: RecordingLogger;
  let now: number;
  let outputs: Outputs;
  let counters: Counters;
  let pump: EventPump;

  beforeEach(() => {
    home = new TemporaryHome();
    logger = new RecordingLogger();
    now = NEW_YEARS_EVE;
    counters = new Counters(now);
    const settings = {
      alertsText: true,
      alertsJson: true,
      archivesText: false,
      archivesJson: false,
      rotateIntervalSeconds: 0,
      maxOutputBytes: 0,
      minRotateIntervalSeconds: 600,
    };
    outputs = new Outputs(home, settings, logger, new Date(now));
    pump = new EventPump({
      engine: testEngine(RULES).engine,
      outputs,
      sideFiles: [],
      counters,
      logger,
      customFormat: undefined,
      now: () => now,
      epsLimiter: undefined,
    });
  });
  afterEach(() => {
    pump.stop();
    home.remove();
  });

  const batch = (...events: Partial<BusEvent>[]): EventBatch => ({
    events: events.map((event, index) => ({
      queue: '1',
      location: '/var/log/door.log',
      message: Buffer.from('a door opened'),
      receivedAt: now,
      stream: 'test',
      sequence: index + 1,
      ...event,
    })),
    positions: new Map([['test', events.length]]),
  });
  type Written = { agent: { name: string; ip?: string; labels?: Record<string, string> }; full_log: string };
  const alerts = (): Written[] =>
    readFileSync(home.path('logs/alerts/alerts.json'), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Written);

  it('writes names and labels of agents as the UTF-8 they came in', async () => {
    const labels = new Map([
      ['site', 'Zürich'],
      ['部屋', '三階'],
    ]);
    await pump.take(batch({ agent: { id: '004', name: 'büro-7', ip: '10.0.0.4', labels } }));
    const [alert] = alerts();
    expect(alert?.agent).to.deep.equal({
      id: '004',
      name: 'büro-7',
      ip: '10.0.0.4',
      labels: { site: 'Zürich', 部屋: '三階' },
    });
  });

  it('takes NUL bytes, huge events and bytes that are no UTF-8', async () => {
    const huge = Buffer.alloc(1024 * 1024, 'door ');
    await pump.take(
      batch(
        { message: Buffer.from('door\0hidden') },
        { message: huge },
        { message: Buffer.from([0x64, 0x6f, 0x6f, 0x72, 0xff, 0xfe]) },
        { location: 'a\0b\nc', message: Buffer.from('door') },
        { message: Buffer.alloc(0) },
      ),
    );
    expect(counters.eventsProcessed).to.equal(5);
    expect(alerts().map((alert) => alert.full_log.length)).to.deep.equal([4, huge.length, 6, 4]);
  });

  it('writes the other alerts of a batch when one cannot be written', async () => {
    const append = outputs.append.bind(outputs);
    let calls = 0;
    outputs.append = (stream, record) => {
      calls += 1;
      if (calls === 1) throw new RangeError('no such record');
      append(stream, record);
    };
    await pump.take(batch({}, {}, {}));
    expect(alerts()).to.have.length(2);
    expect(counters.alertsFailed).to.equal(1);
    expect(logger.lines.filter((line) => line.startsWith('error'))).to.deep.equal([
      "error: The alert of an event from '/var/log/door.log' could not be written: no such record",
    ]);
  });

  it('waits for the disk over midnight, says so once, and goes on by itself', async () => {
    const inTheWay = home.path('logs/alerts/2026');
    mkdirSync(home.path('logs/alerts'), { recursive: true });
    writeFileSync(inTheWay, '');
    await pump.take(batch({}));
    now = NEW_YEARS_EVE + 3000;
    const ticks = [pump.tick(), pump.tick(), pump.tick()];
    const taken = pump.take(batch({}, {}));
    await eventually('the wait is logged', () => logger.lines.length > 0);
    rmSync(inTheWay);
    await Promise.all([...ticks, taken]);
    expect(alerts()).to.have.length(2);
    const errors = logger.lines.filter((line) => line.startsWith('error'));
    expect(errors).to.have.length(1);
    expect(errors[0]).to.match(
      /^error: Alerts cannot be written, events wait at their producers: .*logs\/alerts\/2026/,
    );
    expect(logger.lines.at(-1)).to.equal('info: Alerts are being written again.');
    const before = readFileSync(home.path('logs/alerts/2025/Dec/ossec-alerts-31.json'), 'utf8');
    expect(before.trim().split('\n')).to.have.length(1);
  });
});
