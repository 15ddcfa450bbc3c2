import { appendFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { installationId } from '../../../../lib/manager/installation-id.js';
import { managerInfo } from '../../../../lib/manager/manager-info.js';
import { readManagerLog, summariseLog } from '../../../../lib/manager/manager-log.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

describe('manager log', () => {
  let home: TemporaryHome;
  beforeEach(() => {
    home = new TemporaryHome();
  });
  afterEach(() => home.remove());

  const local = (text: string) => new Date(text).toISOString().replace('.000', '');

  it('is read newest first, with continuation lines, in UTC', async () => {
    writeFileSync(
      home.path('logs', 'manager.log'),
      [
        'half a line of a rotated file',
        '2026/05/08 12:00:00 svc-execd: INFO: Started (pid: 4242).',
        '2026/05/08 12:00:01 svc-modulesd:syscollector: WARNING: two: parts',
        '  and a second line',
        '2026/05/08 12:00:02 svc-db[77] main.ts:5 at run(): DEBUG: text',
        '2026/05/08 12:00:03 rootcheck: ERROR: bad',
        'unfinished',
      ].join('\n'),
    );
    expect(await readManagerLog(home)).to.deep.equal([
      { timestamp: local('2026-05-08T12:00:03'), tag: 'svc-rootcheck', level: 'error', description: ' bad' },
      { timestamp: local('2026-05-08T12:00:02'), tag: 'svc-db', level: 'debug', description: ' text' },
      {
        timestamp: local('2026-05-08T12:00:01'),
        tag: 'svc-modulesd:syscollector',
        level: 'warning',
        description: ' two: parts\n  and a second line',
      },
      {
        timestamp: local('2026-05-08T12:00:00'),
        tag: 'svc-execd',
        level: 'info',
        description: ' Started (pid: 4242).',
      },
    ]);
  });

  it('is read from the JSON file where only that is there', async () => {
    writeFileSync(
      home.path('logs', 'manager.json'),
      '{"timestamp":"2026/05/08 12:00:00","tag":"svc-execd","level":"info","description":"Started."}\nrubbish\n[1]\n',
    );
    expect(await readManagerLog(home)).to.deep.equal([
      { timestamp: local('2026-05-08T12:00:00'), tag: 'svc-execd', level: 'info', description: ' Started.' },
    ]);
  });

  it('is undefined without a file', async () => {
    expect(await readManagerLog(home)).to.equal(undefined);
  });

  it('is limited to the last 2000 lines, and summarised by tag', async () => {
    const path = home.path('logs', 'manager.log');
    writeFileSync(path, '');
    for (let n = 0; n < 3; n += 1) {
      const line = (level: string, tag: string) => `2026/05/08 12:00:00 ${tag}: ${level}: ${'x'.repeat(2000)}\n`;
      appendFileSync(path, line('INFO', 'svc-b').repeat(600) + line('CRITICAL', 'svc-a').repeat(400));
    }
    const entries = (await readManagerLog(home)) ?? [];
    expect(entries).to.have.length(2000);
    expect([...summariseLog(entries)]).to.deep.equal([
      ['svc-a', { all: 800, info: 0, error: 0, critical: 800, warning: 0, debug: 0 }],
      ['svc-b', { all: 1200, info: 1200, error: 0, critical: 0, warning: 0, debug: 0 }],
    ]);
  });
});

describe('manager info', () => {
  let home: TemporaryHome;
  beforeEach(() => {
    home = new TemporaryHome();
  });
  afterEach(() => home.remove());

  it('has one identity an installation', () => {
    const id = installationId(home);
    expect(id).to.match(/^[0-9a-f-]{36}$/);
    expect(installationId(home)).to.equal(id);
    writeFileSync(home.path('var', 'installation-id'), 'rubbish');
    expect(() => installationId(home)).to.throw('does not hold an installation id');
  });

  it('shows the version that clients compare', () => {
    const info = managerInfo(home, new Date());
    expect(info).to.include({ path: home.root, version: 'v4.14.7', type: 'server', max_agents: 'unlimited' });
    expect(info.tz_offset).to.match(/^[+-]\d{4}$/);
    expect(info.tz_name).to.not.equal('');
  });
});
