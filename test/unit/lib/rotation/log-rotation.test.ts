import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { DaemonLogger, LogOutput } from '../../../../lib/daemon/daemon-logger.js';
import {
  LogRotation,
  MANAGER_LOG,
  RESPONSES_LOG,
  type RotationSettings,
} from '../../../../lib/rotation/log-rotation.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

const SETTINGS: RotationSettings = {
  compress: true,
  rotateBySize: true,
  sizeLimit: 5000,
  dailyRotations: 3,
};
const MONTH = 'logs/manager/2026/Nov';
const TODAY = { year: 2026, month: 10, day: 21 };
const YESTERDAY = { year: 2026, month: 10, day: 20 };

describe('rotation of the manager log', () => {
  let home: TemporaryHome;
  let clock: ManualClock;
  let output: LogOutput;
  let rotation: LogRotation;

  beforeEach(() => {
    home = new TemporaryHome();
    clock = new ManualClock('2026-11-21T00:00:10');
    output = new LogOutput(home, { plain: true, json: true, stderr: false }, 0, undefined, () => clock.now());
    rotation = new LogRotation(
      { home, logger: new DaemonLogger(output, 'svc-monitord'), clock, signal: new AbortController().signal },
      MANAGER_LOG,
    );
  });

  afterEach(() => {
    output.close();
    home.remove();
  });

  const read = (path: string) => {
    const bytes = readFileSync(home.path(path));
    return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  };
  const list = () => (existsSync(home.path(MONTH)) ? readdirSync(home.path(MONTH)).sort() : []);

  it('moves both logs under the day that is over, and starts new ones', async () => {
    writeFileSync(home.path('logs/manager.log'), 'old plain\n');
    writeFileSync(home.path('logs/manager.json'), '{"old":1}\n');
    await rotation.rotateDaily(YESTERDAY, SETTINGS);
    expect(list()).to.deep.equal(['manager-20.json.gz', 'manager-20.log.gz']);
    expect(read(`${MONTH}/manager-20.log.gz`)).to.equal(
      'old plain\n2026/11/21 00:00:10 svc-monitord: INFO: Running daily rotation of log files.\n',
    );
    expect(read('logs/manager.log')).to.equal(
      '2026/11/21 00:00:10 svc-monitord: INFO: Starting new log after rotation.\n',
    );
    expect(read('logs/manager.json')).to.contain('Starting new log after rotation.');
  });

  it('does without compression when told', async () => {
    writeFileSync(home.path('logs/manager.log'), 'old\n');
    await rotation.rotateDaily(YESTERDAY, { ...SETTINGS, compress: false });
    expect(list()).to.deep.equal(['manager-20.json', 'manager-20.log']);
  });

  it('rotates by size under today, numbers the parts, and drops the oldest', async () => {
    const settings = { ...SETTINGS, compress: false };
    await rotation.rotateBySize(settings);
    expect(list()).to.deep.equal([]);
    for (const part of ['first', 'second', 'third', 'fourth', 'fifth']) {
      writeFileSync(home.path('logs/manager.log'), part.padEnd(5000, '.'));
      await rotation.rotateBySize(part === 'second' ? SETTINGS : settings);
    }
    // Two of five are gone, and the parts that stay move down, compressed or not.
    expect(list()).to.deep.equal(['manager-21-001.log', 'manager-21-002.log', 'manager-21.log']);
    expect(
      ['manager-21.log', 'manager-21-001.log', 'manager-21-002.log'].map((name) =>
        read(`${MONTH}/${name}`).slice(0, 5),
      ),
    ).to.deep.equal(['third', 'fourt', 'fifth']);
    expect(read(`${MONTH}/manager-21-002.log`)).to.contain("Rotating 'logs/manager.log' file: Maximum size reached.");
  });

  it('adds the nightly part after those of the day', async () => {
    mkdirSync(home.path(MONTH), { recursive: true });
    writeFileSync(home.path(MONTH, 'manager-20.log.gz'), 'a');
    writeFileSync(home.path(MONTH, 'manager-20-001.log.gz'), 'b');
    writeFileSync(home.path('logs/manager.log'), 'c\n');
    await rotation.rotateDaily(YESTERDAY, SETTINGS);
    expect(list()).to.include('manager-20-002.log.gz');
    expect(readFileSync(home.path(MONTH, 'manager-20.log.gz'), 'utf8')).to.equal('a');
  });

  it('keeps a line that reaches the old file after the rename', async () => {
    writeFileSync(home.path('logs/manager.log'), 'old\n');
    const late = new ManualClock('2026-11-21T00:00:10');
    late.sleep = () => {
      appendFileSync(home.path(MONTH, 'manager-20.log'), 'late line\n');
      return Promise.resolve();
    };
    const logger = new DaemonLogger(output, 'svc-monitord');
    const { signal } = new AbortController();
    await new LogRotation({ home, logger, clock: late, signal }, MANAGER_LOG).rotateDaily(YESTERDAY, SETTINGS);
    expect(read(`${MONTH}/manager-20.log.gz`)).to.contain('late line');
  });

  it('compresses what a crash has left plain', async () => {
    mkdirSync(home.path(MONTH), { recursive: true });
    writeFileSync(home.path(MONTH, 'manager-20.log'), 'left over\n');
    writeFileSync(home.path('logs/manager.log'), 'new\n');
    await rotation.rotateDaily(YESTERDAY, SETTINGS);
    expect(list()).to.deep.equal(['manager-20-001.log.gz', 'manager-20.json.gz', 'manager-20.log.gz']);
    expect(read(`${MONTH}/manager-20.log.gz`)).to.equal('left over\n');
  });

  it('sees by the first line that a night was missed', () => {
    expect(rotation.overdueDay(TODAY)).to.equal(undefined);
    writeFileSync(home.path('logs/manager.log'), '2026/11/19 10:00:00 svc-db: INFO: Started.\n');
    expect(rotation.overdueDay(TODAY)).to.deep.equal({ year: 2026, month: 10, day: 19 });
    writeFileSync(home.path('logs/manager.log'), '2026/11/21 00:00:00 svc-db: INFO: Started.\n');
    writeFileSync(home.path('logs/manager.json'), '{"timestamp":"2026/11/20 10:00:00","tag":"x"}\n');
    expect(rotation.overdueDay(TODAY)).to.deep.equal(YESTERDAY);
  });

  it('leaves an empty file for scripts, with the mode that they need', async () => {
    const { signal } = new AbortController();
    const logger = new DaemonLogger(output, 'svc-monitord');
    const responses = new LogRotation({ home, logger, clock, signal }, RESPONSES_LOG);
    expect(responses.overdueDay(TODAY)).to.equal(undefined);
    const path = home.path('logs/active-responses.log');
    writeFileSync(path, 'Sat Nov 21 09:00:00 UTC 2026 active-response/bin/restart.sh manager\n');
    utimesSync(path, new Date(2026, 10, 20, 12), new Date(2026, 10, 20, 12));
    expect(responses.overdueDay(TODAY)).to.deep.equal(YESTERDAY);
    await responses.rotateDaily(YESTERDAY, SETTINGS);
    expect(read('logs/active-responses/2026/Nov/active-responses-20.log.gz')).to.contain('restart.sh manager');
    expect(statSync(path).size).to.equal(0);
    expect(statSync(path).mode & 0o777).to.equal(0o660);
    // Nothing came: there is nothing to be rotated.
    await responses.rotateDaily(TODAY, SETTINGS);
    expect(readdirSync(home.path('logs/active-responses/2026/Nov'))).to.have.length(1);
    writeFileSync(path, 'x'.repeat(SETTINGS.sizeLimit));
    await responses.rotateBySize(SETTINGS);
    expect(readdirSync(home.path('logs/active-responses/2026/Nov')).sort()).to.deep.equal([
      'active-responses-20.log.gz',
      'active-responses-21.log.gz',
    ]);
  });
});
