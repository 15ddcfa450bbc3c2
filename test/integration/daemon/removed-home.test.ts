import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { initHome } from '../../../bin/control/home/init-home.js';
import { strayProcesses } from '../../../bin/control/supervisor/stray-processes.js';
import { readDaemonStatus } from '../../../lib/daemon/daemon-status.js';
import { identityOf } from '../../../lib/process/process-identity.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { removeTree } from '../../support/remove-tree.js';
import { TemporaryHome } from '../../support/temporary-home.js';
import { knowFewRules, watchLittle } from '../../support/watch-little.js';

const CONTROL = join(fileURLToPath(productRoot()), 'bin', 'svc-control');
const control = (home: TemporaryHome, ...args: string[]) =>
  new TestProgram(CONTROL, [...args, '--home', home.root]).ended;

describe('svc-control stop of a home that was removed', function () {
  this.timeout(120_000);
  let home: TemporaryHome;
  let other: TemporaryHome;
  let bystander: RunningDaemon;

  beforeEach(async () => {
    home = new TemporaryHome();
    other = new TemporaryHome();
    for (const each of [home, other]) await initHome(each, { role: 'server' });
    watchLittle(home);
    for (const each of [home, other]) knowFewRules(each);
    const configuration = home.path('etc', 'manager.conf');
    writeFileSync(configuration, readFileSync(configuration, 'utf8').replace(/<port>151[45]</g, '<port>0<'));
    writeFileSync(home.path('api', 'configuration', 'api.yaml'), "host: ['127.0.0.1']\nport: 0\n");
    bystander = await RunningDaemon.start('svc-db', other);
    const { code, stderr } = await control(home, 'start');
    expect(code, stderr).to.equal(0);
  });
  afterEach(async () => {
    for (const { identity } of strayProcesses(home)) process.kill(identity.pid, 'SIGKILL');
    await bystander.stop('SIGKILL');
    for (const each of [home, other]) each.remove();
  });

  const pids = async (): Promise<number[]> =>
    [...(await readDaemonStatus(home)).values()].flatMap(({ pid }) => (pid === undefined ? [] : [pid]));

  for (const [what, path] of [
    ['as a whole', '.'],
    ["with its 'var/run' alone", 'var/run'],
  ] as const) {
    it(`ends what still runs: ${what}`, async () => {
      const running = await pids();
      expect(running.length).to.be.greaterThan(5);
      removeTree(home.path(path));
      const { code, stdout, stderr } = await control(home, 'stop');
      expect([code, stderr]).to.deep.equal([0, '']);
      expect(stdout).to.match(/^Killing svc-control \(pid \d+\) of a removed home\.\.\.$/m);
      for (const pid of running) expect(identityOf(pid), `process ${pid}`).to.equal(undefined);
      expect((await readDaemonStatus(other)).get('svc-db')?.state).to.equal('running');
    });
  }
});
