import { chownSync, closeSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { initHome } from '../../../bin/control/home/init-home.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { eventually } from '../../support/eventually.js';
import { AttackedHome, notRoot, onlyAsRoot } from '../../support/process/service-user.js';

const DAEMONS: readonly DaemonName[] = ['svc-monitord', 'svc-logcollector'];

describe('traps of the service user for root', function () {
  this.timeout(120_000);

  let attacked: AttackedHome;

  onlyAsRoot();
  beforeEach(async () => (attacked = await AttackedHome.make()));
  afterEach(async () => {
    if (notRoot === undefined) await attacked.remove();
  });

  const tool = (name: string, ...args: string[]) =>
    new TestProgram(fileURLToPath(new URL(`dist/bin/${name}.js`, productRoot())), [
      ...args,
      '--home',
      attacked.home.root,
    ]).ended;

  it('hold neither supervisor nor tools up by a pipe', async () => {
    await attacked.start(...DAEMONS);
    const heartbeat = 'var/run/svc-monitord.heartbeat';
    for (const trap of [`mkfifo ${heartbeat}`, `ln -s /dev/zero ${heartbeat}`, `mkdir ${heartbeat}`]) {
      expect(attacked.attack(`rm -rf ${heartbeat}; ${trap}`).code, trap).to.equal(0);
      const { stdout } = await attacked.control(DAEMONS, 'status', '-j').ended;
      expect(stdout, trap).to.match(/"daemon":"svc-monitord","status":"stopped","state":"unresponsive"/);
    }
    expect(attacked.attack('mkfifo var/run/svc-db.failed').code).to.equal(0);
    expect((await tool('agent_groups', '-l')).stdout).to.include('svc-db does not run, while others do');
    expect((await attacked.control(DAEMONS, 'stop').ended).code).to.equal(0);

    for (const name of ['key', 'cert']) rmSync(attacked.home.path(`etc/sslmanager.${name}`));
    expect(attacked.attack('mkfifo etc/sslmanager.key').code).to.equal(0);
    const refused = await attacked.control(['svc-authd'], 'start').ended;
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.match(
      /no certificate can be made for '.*sslmanager\.key': .* is (a link|not a regular file)\n$/,
    );
  });

  it('hold no daemon of root up by a pipe as key file of an agent', async () => {
    await attacked.remove();
    attacked = await AttackedHome.make('agent');
    const shared = '<agent_config name="x"><labels><label key="a">b</label></labels></agent_config>';
    expect(attacked.attack(`echo '${shared}' > etc/shared/agent.conf; mkfifo etc/client.keys`).code).to.equal(0);
    await attacked.start('svc-logcollector');
  });

  it('keep nothing from starting by directories in the way', async () => {
    const names = DAEMONS.flatMap((name) => [
      ...['json', 'lock', 'lock.takeover', 'heartbeat', 'sock', 'sock.lock', 'sock.lock.takeover'].map(
        (end) => `${name}.${end}`,
      ),
      ...['exit', 'stderr', 'start', 'failed'].map((end) => `${name}.${end}`),
      `${name}-1.pid`,
    ]);
    const control = ['lock', 'lock.takeover', 'sock', 'stderr'].map((end) => `svc-control.${end}`);
    for (const name of [...names, ...control, '.restart']) {
      expect(attacked.attack(`mkdir -p var/run/${name}/in/it`).code, name).to.equal(0);
    }
    // One that never gets old enough to be taken for left behind.
    expect(attacked.attack('mkdir var/start-script-lock && touch -d 2100-01-01 var/start-script-lock').code).to.equal(
      0,
    );
    const start = await attacked.control(DAEMONS, 'start').ended;
    expect(start.stderr).to.equal('');
    expect(start.code).to.equal(0);
    expect((await attacked.control(DAEMONS, 'stop').ended).code).to.equal(0);
  });

  it('have no file of root read out as a log of the home', async () => {
    const { home } = attacked;
    writeFileSync(home.path('secret'), '', { mode: 0o600 });
    const log = 'logs/active-responses.log';
    expect(attacked.attack(`ln -s ${home.path('secret')} ${log}`).code).to.equal(0);
    await attacked.start('svc-logcollector');
    const said = () => readFileSync(home.path('logs/manager.log'), 'utf8');
    await eventually('it is said', () => said().includes(`(1103): Could not open file '${home.path(log)}'`));
    expect(said()).to.not.match(/Analyzing file: '.*active-responses/);
    // The service user's own file is followed as soon as it is there.
    expect(attacked.attack(`echo x > logs/x && mv -f logs/x ${log}`).code).to.equal(0);
    await eventually('it is followed', () => /Analyzing file: '.*active-responses/.test(said()));
  });

  it('become nothing that root obeys without a word', async () => {
    const { home, account } = attacked;
    const init = () => attacked.control(DAEMONS, 'init', '--user', account.user).ended;
    // Files that name the product name the place of the program then, not that of its modules.
    await init();
    rmSync(home.path('etc/local_internal_options.conf'));
    expect(attacked.attack('echo logcollector.remote_commands=1 > etc/local_internal_options.conf').code).to.equal(0);
    const { stdout } = await init();
    expect(stdout).to.equal(
      'Set owner and mode of: etc/local_internal_options.conf.\n' +
        `Look through etc/local_internal_options.conf: root obeys it, and until now user ${account.user} could have changed it.\n`,
    );
  });

  it('change nothing after an update by what they still have open', async () => {
    const { home, account } = attacked;
    const path = home.path('etc/manager.conf');
    chownSync(path, account.uid, account.gid);
    // As a process of the service user may have done before the update.
    const open = openSync(path, 'a');
    const before = readFileSync(path, 'utf8');
    await initHome(home, { role: 'server', account });
    writeSync(open, '<manager_config><localfile><log_format>command</log_format></localfile></manager_config>');
    closeSync(open);
    expect(readFileSync(path, 'utf8')).to.equal(before);
    expect(attacked.rights('etc/manager.conf')).to.equal(`0:${String(account.gid)} 640`);
  });

  it("have no tool that works on the service user's files read or write as root", async () => {
    const { home } = attacked;
    const key = 'a'.repeat(64);
    writeFileSync(home.path('secret'), `001 name any ${key}\n`, { mode: 0o600 });
    attacked.attack(`rm -f etc/client.keys; ln -s ${home.path('secret')} etc/client.keys`);
    const extracted = await tool('manage_agents', '-e', '001');
    expect(extracted.code).to.equal(1);
    expect(extracted.stdout).to.equal('');
    expect(extracted.stderr).to.match(/permission denied\n$/);
    writeFileSync(home.path('etc/shared/default/secret'), key, { mode: 0o600 });
    const listed = await tool('agent_groups', '-c', '-g', 'default');
    expect(listed.code).to.equal(1);
    expect(listed.stdout).to.match(/default|secret/);
  });
});
