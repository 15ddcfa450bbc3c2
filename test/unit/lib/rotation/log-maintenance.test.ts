import { existsSync, linkSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { OutputSums } from '../../../../daemons/monitord/output-sums.js';
import { DaemonLogger, LogOutput } from '../../../../lib/daemon/daemon-logger.js';
import { LogMaintenance } from '../../../../lib/rotation/log-maintenance.js';
import { LogRotation, MANAGER_LOG } from '../../../../lib/rotation/log-rotation.js';
import { Retention } from '../../../../lib/rotation/retention.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

const SETTINGS = {
  compress: true,
  rotateBySize: true,
  sizeLimit: 100_000,
  dailyRotations: 12,
  dayWait: 10,
};

describe('maintenance of log files', () => {
  let home: TemporaryHome;
  let clock: ManualClock;
  let logger: RecordingLogger;
  let output: LogOutput;
  let stop: AbortController;

  beforeEach(() => {
    home = new TemporaryHome();
    clock = new ManualClock('2026-11-20T23:59:58');
    logger = new RecordingLogger();
    output = new LogOutput(home, { plain: true, json: true, stderr: false }, 0, undefined, () => clock.now());
    stop = new AbortController();
  });

  afterEach(() => {
    output.close();
    home.remove();
  });

  function maintenance(settings = SETTINGS): LogMaintenance {
    const log = new DaemonLogger(output, 'svc-monitord');
    const { signal } = stop;
    return new LogMaintenance({
      clock,
      logger,
      logs: [new LogRotation({ home, logger: log, clock, signal }, MANAGER_LOG)],
      retention: new Retention(home, log, () => []),
      outputs: new OutputSums(home, signal),
      settings: () => settings,
      signal,
    });
  }

  const month = (kind: string) => {
    const path = home.path('logs', kind, '2026/Nov');
    return existsSync(path) ? readdirSync(path).sort() : [];
  };

  it('closes the day after midnight, once, and after the wait', async () => {
    writeFileSync(home.path('logs/manager.log'), 'line\n');
    mkdirSync(home.path('logs/alerts/2026/Nov'), { recursive: true });
    writeFileSync(home.path('logs/alerts/2026/Nov/ossec-alerts-20.json'), '{}\n');
    const work = maintenance();
    await work.tick();
    expect(month('manager')).to.deep.equal([]);
    clock.set('2026-11-21T00:00:00');
    await work.tick();
    expect(clock.now().getSeconds()).to.be.at.least(10);
    expect(month('manager')).to.deep.equal(['manager-20.json.gz', 'manager-20.log.gz']);
    expect(month('alerts')).to.include.members(['ossec-alerts-20.json.gz', 'ossec-alerts-20.json.sum']);
    clock.set('2026-11-21T00:01:00');
    await work.tick();
    expect(month('manager')).to.have.length(2);
    expect(logger.lines).to.deep.equal([]);
  });

  it('comes back for outputs that were still written to', async () => {
    mkdirSync(home.path('logs/alerts/2026/Nov'), { recursive: true });
    writeFileSync(home.path('logs/alerts/2026/Nov/ossec-alerts-20.log'), 'a\n');
    linkSync(home.path('logs/alerts/2026/Nov/ossec-alerts-20.log'), home.path('logs/alerts/alerts.log'));
    const work = maintenance();
    clock.set('2026-11-21T00:00:00');
    await work.tick();
    expect(month('alerts')).to.include('ossec-alerts-20.log');
    rmSync(home.path('logs/alerts/alerts.log'));
    await work.tick();
    expect(month('alerts')).to.include('ossec-alerts-20.log');
    clock.set('2026-11-21T00:02:00');
    await work.tick();
    expect(month('alerts')).to.include.members(['ossec-alerts-20.log.gz', 'ossec-alerts-20.log.sum']);
  });

  it('does at start what a night without it left undone', async () => {
    clock.set('2026-11-23T08:00:00');
    writeFileSync(home.path('logs/manager.log'), '2026/11/21 09:00:00 svc-db: INFO: Started.\n');
    mkdirSync(home.path('logs/alerts/2026/Nov'), { recursive: true });
    writeFileSync(home.path('logs/alerts/2026/Nov/ossec-alerts-21.json'), '{}\n');
    await maintenance().catchUp();
    expect(month('manager')).to.include('manager-21.log.gz');
    expect(month('alerts')).to.deep.equal(['ossec-alerts-21.json.gz', 'ossec-alerts-21.json.sum']);
    expect(month('firewall')).to.deep.equal([]);
  });

  it('closes nothing when the clock is set back', async () => {
    clock.set('2026-11-21T00:30:00');
    const work = maintenance();
    clock.set('2026-11-20T23:30:00');
    await work.tick();
    expect(month('manager')).to.deep.equal([]);
    clock.set('2026-11-21T00:00:01');
    writeFileSync(home.path('logs/manager.log'), 'line\n');
    await work.tick();
    expect(month('manager')).to.include('manager-20.log.gz');
  });

  it('reports a failure once and goes on', async () => {
    clock.set('2026-11-20T12:00:00');
    writeFileSync(home.path('logs/manager.log'), 'x'.repeat(100_000));
    mkdirSync(home.path('logs/manager'));
    writeFileSync(home.path('logs/manager/2026'), 'no directory');
    const work = maintenance();
    const running = work.run();
    for (let turns = 0; turns < 50; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    await running;
    expect(logger.lines).to.have.length(1);
    expect(logger.lines[0]).to.match(/^error: Maintenance of log files failed: .*logs\/manager\/2026/);
  });
});
