import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { FakeAlerts } from '../../support/api/fake-alerts.js';
import { productProgram } from '../../support/daemon/product-program.js';
import { type ProgramResult, TestProgram } from '../../support/daemon/run-program.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { DbServer } from '../../support/db/db-server.js';
import { eventually } from '../../support/eventually.js';
import { removeTree } from '../../support/remove-tree.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const PROGRAM = productProgram('svc-api');

describe('svc-api alerts', function () {
  this.timeout(120_000);
  const alerts = new FakeAlerts();
  let home: TemporaryHome;
  let db: DbServer;
  let apid: RunningDaemon;
  let state: string;

  before(async () => {
    home = new TemporaryHome();
    state = mkdtempSync(join(tmpdir(), 'svc-api-'));
    mkdirSync(home.path('api/configuration/security'), { recursive: true });
    writeFileSync(home.path('api/configuration/api.yaml'), 'host: ["127.0.0.1"]\nport: 0\n');
    writeFileSync(home.path('etc/manager.conf'), '<manager_config></manager_config>\n');
    db = await DbServer.start(home, Date.now, 'node01', alerts.handlers);
    apid = await RunningDaemon.start('svc-apid', home);
    for (let count = 0; count < 30; count += 1) {
      alerts.add({
        time: Date.now() - (30 - count) * 60_000,
        level: count % 10,
        rule: `${count}`,
        text: `alert ${count}`,
      });
    }
  });
  after(async () => {
    await apid.stop('SIGKILL');
    await db.stop();
    home.remove();
    removeTree(state);
  });

  const program = (...args: string[]) =>
    new TestProgram(PROGRAM, ['alerts', ...args], { env: { XDG_STATE_HOME: state, SVC_HOME: home.root } });
  const run = (...args: string[]): Promise<ProgramResult> => program(...args).ended;
  const rulesOf = (text: string) =>
    text
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { rule: { id: string } }).rule.id);

  it('shows the latest, the newest last, as a table or a line of JSON each', async () => {
    const { code, stdout, stderr } = await run('-o', 'table', '-n', '2');
    expect(code, stderr).to.equal(0);
    const lines = stdout.trim().split('\n');
    expect(lines[0]).to.match(/^TIME +LEVEL +RULE +AGENT +WHAT$/);
    expect(lines.slice(1).map((line) => line.slice(21))).to.deep.equal([
      '    8      28  agent-000         alert 28',
      '    9      29  agent-000         alert 29',
    ]);
    expect(stderr).to.match(/svc-api: 2 of 30\n$/);
    const json = await run();
    expect(rulesOf(json.stdout)).to.deep.equal(Array.from({ length: 20 }, (_none, index) => String(10 + index)));
  });

  it('filters, and says what it does not understand', async () => {
    expect(rulesOf((await run('--level', '9', '--from', 'now-15m')).stdout)).to.deep.equal(['19', '29']);
    expect(rulesOf((await run('--rule', '3,5', '--agent', '0')).stdout)).to.deep.equal(['3', '5']);
    expect((await run('--agent-group', 'nobody')).stdout, 'a group without agents').to.equal('');
    const none = await run('-o', 'table', '--agent', 'nobody');
    expect([none.code, none.stdout]).to.deep.equal([0, '']);
    expect(none.stderr).to.equal('svc-api: no alert was found\n');
    for (const [args, text] of [
      [['--from', 'yesterday'], "'yesterday'"],
      [['-n', '0'], "--limit: '0' is no number of alerts"],
      [['--follow', '--from', 'now'], '--follow begins now'],
      [['--agent', '1,web'], '--agent takes ids or names'],
    ] as const) {
      const { code, stderr } = await run(...args);
      expect(code, stderr).to.equal(2);
      expect(stderr).to.include(text);
    }
    alerts.isOff = true;
    const off = await run();
    alerts.isOff = false;
    expect([off.code, off.stdout]).to.deep.equal([1, '']);
    expect(off.stderr).to.include('Alerts are not kept to be searched (error 8000)').and.include('<alert_store>');
  });

  it('follows them, over a restart of the API, and misses none', async () => {
    const following = program('--follow', '--json', '--level', '5');
    const seen = () => rulesOf(following.stdout || '{"rule":{"id":""}}');
    await eventually('a stream', () => alerts.asked.some(({ method }) => method === 'follow'));
    await eventually('the first', () => {
      if (!seen().includes('a1')) alerts.add({ time: Date.now(), level: 7, rule: 'a1' });
      return seen().includes('a1');
    });
    await apid.stop('SIGKILL');
    alerts.add({ time: Date.now(), level: 9, rule: 'a2' });
    alerts.add({ time: Date.now(), level: 1, rule: 'a3' });
    apid = await RunningDaemon.start('svc-apid', home);
    await eventually('the one that was missed', () => seen().includes('a2'));
    alerts.add({ time: Date.now(), level: 5, rule: 'a4' });
    await eventually('the next', () => seen().includes('a4'));
    expect(seen().filter((id) => id !== 'a1')).to.deep.equal(['a2', 'a4']);
    following.signal('SIGINT');
    expect((await following.ended).signal).to.equal('SIGINT');
  });
});
