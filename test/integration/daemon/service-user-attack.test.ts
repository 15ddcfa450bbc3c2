import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { expect } from 'chai';
import { initHome } from '../../../bin/control/home/init-home.js';
import { install } from '../../../bin/control/home/install.js';
import { callSupervisor, NoSupervisorError } from '../../../lib/control/control-client.js';
import { readDaemonStatus } from '../../../lib/daemon/daemon-status.js';
import { identityOf, userOf } from '../../../lib/process/process-identity.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { eventually } from '../../support/eventually.js';
import { AttackedHome, notRoot, onlyAsRoot } from '../../support/process/service-user.js';

// What the network reaches runs as the service user: none of these ways may make root do something for it
// (architecture.md 4 "Privileges").
const DAEMONS: readonly DaemonName[] = ['svc-monitord', 'svc-logcollector'];

describe('the service user of an installed home', function () {
  this.timeout(120_000);

  let attacked: AttackedHome;

  onlyAsRoot();
  beforeEach(async () => (attacked = await AttackedHome.make()));
  afterEach(async () => {
    if (notRoot === undefined) await attacked.remove();
  });

  const pidOf = async (name: DaemonName) => (await readDaemonStatus(attacked.home, [name])).get(name)?.pid;
  const running = async (name: DaemonName): Promise<number> => {
    let pid: number | undefined;
    await eventually(`${name} runs`, async () => {
      const status = (await readDaemonStatus(attacked.home, [name])).get(name);
      if (status?.state === 'running') pid = status.pid;
      return pid;
    });
    return pid ?? 0;
  };

  it('cannot put anything in place of what root obeys', () => {
    const { account, home } = attacked;
    expect(attacked.rights('etc')).to.equal(`0:${String(account.gid)} 1770`);
    expect(attacked.rights('var/run')).to.equal(`0:${String(account.gid)} 1770`);
    for (const file of [
      'etc/home.json',
      'etc/manager.conf',
      'etc/internal_options.conf',
      'etc/local_internal_options.conf',
      'etc/rootcheck/rootkit_files.txt',
      'api/configuration/api.yaml',
    ]) {
      const before = readFileSync(home.path(file), 'utf8');
      expect(attacked.rights(file), file).to.equal(`0:${String(account.gid)} 640`);
      expect(attacked.attack(`cat ${file} > /dev/null`).code, `reading ${file}`).to.equal(0);
      for (const script of [
        `echo x >> ${file}`,
        `rm -f ${file}`,
        `mv ${file} ${file}.old`,
        `echo x > etc/mine && mv etc/mine ${file}`,
        `ln -sf /etc/passwd ${file}`,
        `chmod 666 ${file}`,
      ]) {
        expect(attacked.attack(script).code, script).to.not.equal(0);
        expect(readFileSync(home.path(file), 'utf8'), script).to.equal(before);
      }
    }
    // What the product does as this user goes on working.
    expect(attacked.attack('echo x > etc/new && mv etc/new etc/client.keys')).to.deep.equal({ code: 0, output: '' });
    expect(attacked.attack('echo x > etc/rules/my.xml').code).to.equal(0);
  });

  it('does not become root by another home record', async () => {
    await attacked.start('svc-monitord');
    const record = '{"version":1,"role":"server"}';
    attacked.attack(`mv etc/home.json etc/old.json; echo '${record}' > etc/home.json`);
    attacked.attack(`echo '${record}' > etc/mine.json; mv -f etc/mine.json etc/home.json`);
    const before = await running('svc-monitord');
    expect(userOf(before)).to.equal(attacked.account.uid);
    expect(attacked.attack(`kill -9 ${String(before)}`).code).to.equal(0);
    await eventually('another one', async () => (await pidOf('svc-monitord')) !== before);
    expect(userOf(await running('svc-monitord'))).to.equal(attacked.account.uid);
  });

  it('has no process of root ended by what it writes to var/run', async () => {
    await attacked.start('svc-monitord', 'svc-logcollector');
    const [ours, roots] = [await running('svc-monitord'), await running('svc-logcollector')];
    for (const name of ['json', 'lock', 'heartbeat']) {
      const path = `var/run/svc-logcollector.${name}`;
      for (const script of [
        `rm -f ${path}`,
        `mv ${path} var/run/x`,
        `echo x > ${path}`,
        `ln -sf /etc/passwd ${path}`,
      ]) {
        expect(attacked.attack(script).code, script).to.not.equal(0);
      }
    }
    // A process of root that looks like the daemon of the service user, by its arguments.
    const victim = await attacked.linger('root', '/x/svc-monitord');
    const identity = { pid: victim, startTime: identityOf(victim)?.startTime };
    const record = { ...identity, daemon: 'svc-monitord', startedAt: 1, version: '1', addresses: {} };
    const forge = `rm -f var/run/svc-monitord.*; echo '${JSON.stringify(record)}' > var/run/svc-monitord.json;
      echo '${JSON.stringify(identity)}' > var/run/svc-monitord.lock`;
    attacked.attack(`kill -9 ${String(ours)}; ${forge}`);
    await eventually('the daemon runs again', async () => {
      const pid = await pidOf('svc-monitord');
      return pid !== undefined && pid !== ours && pid !== victim;
    });
    attacked.attack(forge);
    for (const command of ['reload', 'stop']) await attacked.control(DAEMONS, command, 'svc-monitord').ended;
    expect(identityOf(victim), 'a process of root').to.not.equal(undefined);
    expect(await running('svc-logcollector')).to.equal(roots);
  });

  it("cannot keep root's daemons from starting, or write their files, by being there first", async () => {
    const { home, account } = attacked;
    const pid = await attacked.linger('service', '/x/svc-logcollector');
    const start = identityOf(pid)?.startTime ?? '';
    const identity = JSON.stringify({ pid, startTime: start });
    const record = JSON.stringify({
      ...JSON.parse(identity),
      daemon: 'svc-logcollector',
      startedAt: 1,
      version: '1',
      addresses: {},
    });
    writeFileSync(home.path('target'), 'untouched');
    attacked.attack(
      [
        `echo '${identity}' > var/run/svc-logcollector.lock`,
        `echo '${identity}' > var/run/svc-logcollector.sock.lock`,
        `echo '${identity}' > var/run/svc-control.lock`,
        `echo '${record}' > var/run/svc-logcollector.json`,
        'ln -s ../../target var/run/svc-logcollector.heartbeat',
        'ln -s ../../target var/run/svc-logcollector.stderr',
        'ln -s ../../target var/run/svc-logcollector.start',
        'echo mine > var/run/svc-logcollector.exit',
        'mkdir -p var/start-script-lock && echo 1 > var/start-script-lock/pid',
      ].join('; '),
    );
    await attacked.start('svc-logcollector');
    const daemon = await running('svc-logcollector');
    expect(daemon).to.not.equal(pid);
    expect(userOf(daemon)).to.equal(0);
    expect(readFileSync(home.path('target'), 'utf8')).to.equal('untouched');
    expect(attacked.rights('var/run/svc-logcollector.heartbeat')).to.match(/^0:/);
    expect(attacked.rights('var/run/svc-control.lock')).to.match(/^0:/);
    expect(existsSync(`/proc/${String(pid)}`), 'what the user named is left alone').to.equal(true);
    expect(userOf(pid)).to.equal(account.uid);
  });

  it('may ask the supervisor for status, reload and restart, and nothing else', async () => {
    await attacked.start('svc-monitord');
    const { home } = attacked;
    expect(attacked.rights('var/control')).to.match(/^0:\d+ 700$/);
    expect(attacked.rights('var/control/supervisor.sock')).to.match(/^0:\d+ 600$/);
    const ask = (request: object) => attacked.ask(request);
    for (const command of ['ping', 'status', 'reload', 'restart']) {
      expect(ask({ command }), command).to.match(/\{"kind":"done".*\n$/);
    }
    for (const command of ['stop', 'start']) {
      expect(ask({ command })).to.equal(
        `{"kind":"error","message":"'${command}' is for the owner of this home: try again as root"}\n`,
      );
    }
    for (const request of [
      { command: 'restart', home: '/tmp' },
      { command: 'run', path: '/bin/sh' },
      { command: 'reload', daemons: ['../../bin/sh'] },
    ]) {
      expect(ask(request)).to.match(/^\{"kind":"error"/);
    }
    expect(attacked.attack('ls var/control; rmdir var/control; mv var/control var/c').code).to.not.equal(0);
    // Nor does root take the service user's word for that of the supervisor.
    expect((await attacked.control(DAEMONS, 'stop').ended).code).to.equal(0);
    const fake = `var/run/svc-control.sock`;
    await attacked.serve(fake, '{"kind":"done"}\n');
    const error: unknown = await callSupervisor(home, { command: 'ping' }).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(NoSupervisorError);
  });

  it('has root run no command by the configuration', async () => {
    const { home } = attacked;
    const proof = home.path('tmp/proof');
    const before = readFileSync(home.path('etc/manager.conf'), 'utf8');
    await attacked.start(...DAEMONS);
    const configure = (text: string) => attacked.ask({ command: 'configure', text });
    const section = (inner: string) => `${before}\n<manager_config>${inner}</manager_config>\n`;
    for (const inner of [
      `<localfile><log_format>full_command</log_format><command>id > ${proof}</command></localfile>`,
      `<localfile><log_format>command</log_format><command>id > ${proof}</command></localfile>`,
      `<wodle name="command"><tag>x</tag><command>/bin/sh</command></wodle>`,
      '<syscheck><prefilter_cmd>/tmp/x</prefilter_cmd></syscheck>',
      '<socket><name>d</name><location>/run/docker.sock</location></socket>',
    ]) {
      expect(attacked.attack(`echo '${inner}' >> etc/manager.conf`).code).to.not.equal(0);
      expect(configure(section(inner)), inner).to.match(/^\{"kind":"error","message":"[^"]*","code":1124\}\n$/);
    }
    // Nor does it allow itself what root's files do not.
    expect(attacked.attack('echo "upload_configuration: {}" > api/configuration/api.yaml').code).to.not.equal(0);
    expect(attacked.attack('echo logcollector.remote_commands=1 >> etc/local_internal_options.conf').code).to.not.equal(
      0,
    );
    expect(configure('<manager_config><nosuch/></manager_config>')).to.match(/"code":1908\}/);
    expect(readFileSync(home.path('etc/manager.conf'), 'utf8')).to.equal(before);

    // What the API may change it changes, and the file stays root's.
    const rights = attacked.rights('etc/manager.conf');
    const label = section('<labels><label key="site">north</label></labels>');
    attacked.attack('ln -s /etc/passwd etc/manager.conf.before-upload');
    expect(configure(label)).to.equal('{"kind":"done"}\n');
    expect(readFileSync(home.path('etc/manager.conf'), 'utf8')).to.equal(label);
    expect(attacked.rights('etc/manager.conf')).to.equal(rights);
    expect(attacked.ask({ command: 'restart' })).to.match(/\{"kind":"done"\}\n$/);
    await running('svc-logcollector');
    expect(existsSync(proof)).to.equal(false);
  });

  it('has its files read as itself when root checks the configuration', async () => {
    const { home } = attacked;
    const check = (name: DaemonName) => new TestProgram('test-daemon.js', [name, '-t', '--home', home.root]).ended;
    for (const name of DAEMONS) writeFileSync(home.path('etc', `${name}.test.json`), '{}', { mode: 0o600 });
    expect((await check('svc-monitord')).stderr).to.match(/svc-monitord: ERROR: .*permission denied\n$/);
    expect(await check('svc-logcollector')).to.include({ code: 0, stderr: '' });
  });

  it('has what it owned before taken from it by an update', async () => {
    const { home, account } = attacked;
    // As the version before made it.
    for (const [path, mode] of [
      ['etc', 0o770],
      ['etc/home.json', 0o640],
      ['etc/manager.conf', 0o660],
      ['api', 0o770],
      ['api/configuration', 0o770],
      ['api/configuration/api.yaml', 0o660],
    ] as const) {
      chownSync(home.path(path), account.uid, account.gid);
      chmodSync(home.path(path), mode);
    }
    chmodSync(home.path('var/run'), 0o770);
    chmodSync(home.path('var'), 0o770);
    const refused = await attacked.control(DAEMONS, 'start').ended;
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.match(
      /^svc-control: '\/.*\/etc' belongs to user \d+, and root would obey it: set it right with 'svc-control init --user USER --home \/.*'\n$/,
    );
    mkdirSync(home.path('lib/security-manager'));
    const updated = await attacked.control(DAEMONS, 'status').ended;
    expect(updated.stderr).to.include(`'svc-control install --prefix ${home.root}'\n`);

    const place = { prefix: `/${basename(home.root)}`, root: dirname(home.root), user: account.user };
    const { lines } = await install({ ...place, agent: false });
    expect(lines[1]).to.match(/^Set owner and mode of: etc, .*etc\/home\.json.*\.$/);
    expect(lines[2]).to.equal(
      `Look through etc/manager.conf, api/configuration/api.yaml: root obeys it, and until now user ${account.user} could have changed it.`,
    );
    expect(attacked.rights('etc')).to.equal(`0:${String(account.gid)} 1770`);
    expect(attacked.rights('etc/manager.conf')).to.equal(`0:${String(account.gid)} 640`);
    expect(attacked.rights('var/run')).to.equal(`0:${String(account.gid)} 1770`);

    // The installed program checks as the service user what belongs to that user, and as root what root obeys.
    writeFileSync(home.path('etc/rules/secret.xml'), '<group name="a,"></group>', { mode: 0o600 });
    const installed = (...args: string[]) => spawnSync(home.path('bin/svc-control'), args, { encoding: 'utf8' });
    expect(installed('validate').stdout).to.match(/^WARNING: .*secret\.xml' due to \[\(13\)-\(Permission denied\)\]/);
    chownSync(home.path('etc/local_internal_options.conf'), account.uid, account.gid);
    expect(installed('validate').stdout).to.match(/^ERROR: .*local_internal_options\.conf' belongs to user/);
    const start = installed('start', 'svc-logcollector');
    expect(start.status).to.equal(1);
    expect(start.stderr).to.match(
      /local_internal_options\.conf' belongs to user \d+, and root would obey it: set it right/,
    );
    expect(start.stdout).to.equal('svc-logcollector: Configuration error. Exiting\n');
    await install({ ...place, agent: false });
    await attacked.start('svc-monitord');
  });

  it('does not get a file of root by way of an update', async () => {
    const { home, account } = attacked;
    chownSync(home.path('etc'), account.uid, account.gid);
    attacked.attack('mv etc/manager.conf etc/old && ln -s /etc/shadow etc/manager.conf');
    const before = statSync('/etc/shadow');
    const error: unknown = await initHome(home, { role: 'server', account }).catch((reason: unknown) => reason);
    expect(String(error)).to.match(/etc\/manager\.conf' is no regular file: remove it and try again$/);
    const { uid, gid, mode } = statSync('/etc/shadow');
    expect({ uid, gid, mode }).to.deep.equal({ uid: before.uid, gid: before.gid, mode: before.mode });
  });

  it('of an agent has no command of the manager run without the consent of root', async () => {
    await attacked.remove();
    attacked = await AttackedHome.make('agent');
    const { home } = attacked;
    const proof = home.path('tmp/proof');
    const pushed = `<agent_config><localfile><log_format>full_command</log_format><command>id > ${proof}</command></localfile></agent_config>`;
    expect(attacked.attack(`echo '${pushed}' > etc/shared/agent.conf`).code, 'svc-agentd writes it').to.equal(0);
    for (const file of ['etc/local_internal_options.conf', 'etc/internal_options.conf', 'etc/manager.conf']) {
      expect(attacked.attack(`echo logcollector.remote_commands=1 >> ${file}`).code, file).to.not.equal(0);
    }
    await attacked.start('svc-logcollector');
    await eventually('it is told', () =>
      readFileSync(home.path('logs/manager.log'), 'utf8').includes('Remote commands are not accepted from the manager'),
    );
    expect(existsSync(proof)).to.equal(false);
    // A consent that the service user could have given is none: root does not even start with it.
    rmSync(home.path('etc/local_internal_options.conf'));
    attacked.attack('echo logcollector.remote_commands=1 > etc/local_internal_options.conf');
    const restarted = await attacked.control(['svc-logcollector'], 'restart').ended;
    expect(restarted.code).to.equal(1);
    expect(restarted.stderr).to.match(/local_internal_options\.conf' belongs to user \d+, and root would obey it/);
  });
});
