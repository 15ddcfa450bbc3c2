import { chmodSync, chownSync, linkSync, lstatSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { readDaemonStatus } from '../../../lib/daemon/daemon-status.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { eventually } from '../../support/eventually.js';
import { AttackedHome, notRoot, onlyAsRoot } from '../../support/process/service-user.js';

// What daemons of root write and bind lies partly in directories that the service user writes to, too: none of these ways
// may lead them to a file elsewhere, or hand one over (architecture.md 4 "Privileges").
const ROOT_DAEMONS: readonly DaemonName[] = ['svc-logcollector', 'svc-syscheckd'];

describe('stores, sockets and logs of root daemons, and the service user', function () {
  this.timeout(120_000);

  let attacked: AttackedHome;
  let victim: string;

  onlyAsRoot();
  beforeEach(async () => {
    attacked = await AttackedHome.make();
    // A file of root's that the service user may see, and nobody else write.
    victim = attacked.home.path('victim');
    writeFileSync(victim, 'untouched', { mode: 0o644 });
    chmodSync(victim, 0o644);
  });
  afterEach(async () => {
    if (notRoot === undefined) await attacked.remove();
  });

  const victimIsUntouched = () => {
    const { uid, mode } = statSync(victim);
    expect([readFileSync(victim, 'utf8'), uid, (mode & 0o777).toString(8)]).to.deep.equal(['untouched', 0, '644']);
  };
  const refused = (...scripts: readonly string[]) => {
    for (const script of scripts) expect(attacked.attack(script).code, script).to.not.equal(0);
  };

  const pids = async () => {
    const status = await readDaemonStatus(attacked.home, ROOT_DAEMONS);
    return ROOT_DAEMONS.map((name) => status.get(name)?.pid);
  };

  it('keeps its hands off stores, copies and sockets while daemons run', async () => {
    const { gid } = attacked.account;
    await attacked.start(...ROOT_DAEMONS);
    expect(attacked.rights('queue/fim/db')).to.equal(`0:${gid} 750`);
    expect(attacked.rights('queue/logcollector')).to.equal(`0:${gid} 750`);
    expect(attacked.rights('queue/diff/file')).to.equal(`0:${gid} 700`);
    expect(attacked.rights('var/run/svc-syscheckd.sock')).to.equal(`0:${gid} 660`);
    for (const directory of ['queue/fim/db', 'queue/logcollector', 'queue/diff/file', 'queue/syscollector/db']) {
      refused(
        `ln -s ${victim} ${directory}/planted`,
        `mv ${directory} queue/x`,
        `mv ${directory} ${directory}.old && ln -s /tmp ${directory}`,
      );
    }
    refused('mv queue/fim queue/x', 'mv queue/diff queue/x', 'mv var/run var/x', 'mv queue x');
    refused(
      'mv var/run/svc-syscheckd.sock var/run/x',
      'rm -f var/run/svc-syscheckd.sock',
      'rm -f queue/fim/db/data.mdb',
    );
    // What is its own goes on working beside them.
    const own =
      'mkdir queue/diff/web01 && echo x > queue/diff/web01/a && echo x > queue/agents-timestamp && echo x > var/mine';
    expect(attacked.attack(own)).to.deep.equal({ code: 0, output: '' });
  });

  it('has no socket of root follow what stands in its place before the bind', async () => {
    const planted = ROOT_DAEMONS.map((name) => `ln -s ${victim} var/run/${name}.sock`).join('; ');
    expect(attacked.attack(planted).code).to.equal(0);
    const start = await attacked.control(ROOT_DAEMONS, 'start').ended;
    expect([start.code, start.stderr]).to.deep.equal([0, '']);
    victimIsUntouched();
    for (const name of ROOT_DAEMONS) {
      expect(lstatSync(attacked.home.path(`var/run/${name}.sock`)).isSocket(), name).to.equal(true);
      expect(attacked.rights(`var/run/${name}.sock`)).to.equal(`0:${attacked.account.gid} 660`);
    }
  });

  it('does not have root write its log into another file', async () => {
    const { home } = attacked;
    const log = home.path('logs', 'manager.log');
    await attacked.start(...ROOT_DAEMONS);
    expect(attacked.rights('logs/manager.log')).to.equal(`${attacked.account.uid}:${attacked.account.gid} 660`);
    const before = await pids();
    // Under the eyes of the running daemons, and before the next start.
    expect(attacked.attack(`ln -s ${victim} logs/x && mv -f logs/x logs/manager.log`).code).to.equal(0);
    await attacked.control(ROOT_DAEMONS, 'reload').ended;
    victimIsUntouched();
    expect(attacked.attack('mkfifo logs/x && mv -f logs/x logs/manager.log').code).to.equal(0);
    // Nobody waits for a reader of the pipe.
    await attacked.control(ROOT_DAEMONS, 'reload').ended;
    expect(await pids()).to.deep.equal(before);
    // The kernel keeps other users from making this link where fs.protected_hardlinks is on, its default.
    linkSync(victim, home.path('logs', 'x'));
    renameSync(home.path('logs', 'x'), log);
    await attacked.control(ROOT_DAEMONS, 'reload').ended;
    victimIsUntouched();
    expect(attacked.attack('rm -f logs/manager.log').code).to.equal(0);
    await attacked.control(ROOT_DAEMONS, 'reload').ended;
    const told = / log lines could not be written: .*(is a link|is not a regular file|has another name elsewhere)/;
    await eventually('the log says what was lost', () => (told.test(readFileSync(log, 'utf8')) ? true : undefined));
  });

  it('gains nothing by what it left in the store of an earlier version', async () => {
    const { home, account } = attacked;
    for (const path of ['queue/fim', 'queue/fim/db', 'queue/logcollector']) {
      chownSync(home.path(path), account.uid, account.gid);
    }
    expect(attacked.attack(`ln -s ${victim} queue/fim/db/data.mdb`).code).to.equal(0);
    expect(attacked.attack('mv queue/logcollector queue/mine; ln -s /etc queue/logcollector').code).to.equal(0);
    const start = await attacked.control(ROOT_DAEMONS, 'start').ended;
    expect(start.code).to.equal(1);
    expect(start.stderr).to.match(/svc-syscheckd did not start correctly: '.*queue\/fim.*': .*|svc-syscheckd did not/);
    expect(start.stderr).to.include("queue/logcollector' is not a directory of this home (a link?): remove it");
    victimIsUntouched();
  });
});
