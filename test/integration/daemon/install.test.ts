import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { initHome } from '../../../bin/control/home/init-home.js';
import { install, uninstall, unitText } from '../../../bin/control/home/install.js';
import { findServiceAccount } from '../../../bin/control/home/service-account.js';
import { liveProcess } from '../../../bin/control/supervisor/live-process.js';
import { readDaemonStatus } from '../../../lib/daemon/daemon-status.js';
import { RunFiles } from '../../../lib/daemon/run-files.js';
import { Home } from '../../../lib/home/home.js';
import { HomeError } from '../../../lib/home/home-record.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { eventually } from '../../support/eventually.js';
import { removeTree } from '../../support/remove-tree.js';

const isRoot = process.getuid?.() === 0;

describe('svc-control install', function () {
  this.timeout(180_000);

  let root: string;

  beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'svc-install-'))));
  afterEach(() => removeTree(root));

  it('installs, works from there, updates, uninstalls and purges, all below --root', async () => {
    const place = { prefix: '/opt/sm', root };
    const { home, unit, lines } = await install({ ...place, agent: false });
    expect(lines.slice(-3)).to.deep.equal([
      'Next: 1. Look through /opt/sm/etc/manager.conf, then: /opt/sm/bin/svc-control validate',
      '2. Start it with: /opt/sm/bin/svc-control start',
      '3. Log in to the API at https://localhost:55000 as admin; the password is in ' +
        '/opt/sm/api/configuration/security/initial-admin-password then',
    ]);
    expect(home.root).to.equal(join(root, 'opt/sm'));
    expect(unit).to.equal(join(root, 'etc/systemd/system/security-manager.service'));
    expect(existsSync(home.path('lib/security-manager/dist/test'))).to.equal(false);
    const prebuilt = home.path('lib/security-manager/node_modules/zeromq/build');
    expect(readdirSync(prebuilt).sort()).to.deep.equal([process.platform, 'manifest.json'].sort());
    expect(readdirSync(join(prebuilt, process.platform))).to.deep.equal([process.arch]);
    expect(existsSync(home.path('lib/security-manager/node_modules/typescript'))).to.equal(false);
    expect((statSync(home.path('lib/security-manager/bin/svc-control')).mode & 0o777).toString(8)).to.equal('750');
    expect((statSync(home.path('lib/security-manager/package.json')).mode & 0o777).toString(8)).to.equal('640');

    // The installed program finds its home and everything it needs without help.
    const { SVC_HOME: _home, ...env } = process.env;
    const installed = spawnSync(home.path('bin/svc-control'), ['info', '-j'], { encoding: 'utf8', cwd: '/', env });
    expect(installed.stderr).to.equal('');
    expect(installed.stdout).to.include(`{"HOME":"${home.root}"}`);

    // No copy of an image shares a secret with another: they are made at the first start.
    const secret = /\.(key|pem|crt|cert)$|initial-|installation-id|private_key|rbac/;
    const secrets = () =>
      ['etc', 'api', 'var', 'queue'].flatMap((directory) =>
        (readdirSync(home.path(directory), { recursive: true }) as string[]).filter((name) => secret.test(name)),
      );
    expect(secrets()).to.deep.equal([]);
    writeFileSync(home.path('etc/manager.conf'), '<manager_config><auth><port>0</port></auth></manager_config>');
    writeFileSync(home.path('api/configuration/api.yaml'), 'host: 127.0.0.1\nport: 0\n');
    const control = (...args: string[]) =>
      spawnSync(home.path('bin/svc-control'), args, { encoding: 'utf8', cwd: '/', env });
    try {
      const start = control('start', 'svc-authd', 'svc-apid');
      expect(start.stderr).to.equal('');
      expect(start.stdout).to.include(
        `API user: admin, password in ${home.path('api/configuration/security/initial-admin-password')}\n`,
      );
      const updated = await install({ ...place, agent: false });
      expect(updated.lines.at(-1)).to.equal(
        'What runs is what was there before this update. A restart is due: /opt/sm/bin/svc-control restart',
      );
      expect(control('status', '--table').stdout).to.match(
        /The product was updated since the start of svc-authd, svc-apid: restart with 'svc-control restart'\./,
      );
    } finally {
      control('stop');
    }
    const made = secrets();
    expect(made).to.include.members(['sslmanager.key', 'sslmanager.cert', 'configuration/ssl/server.crt']);
    expect(readFileSync(home.path('logs/manager.log'), 'utf8')).to.match(/first password of API user 'admin' is in \//);

    writeFileSync(home.path('etc/manager.conf'), '<manager_config></manager_config>');
    const updated = await install({ ...place, agent: false });
    expect(updated.lines[0]).to.equal(`Updated ${home.root}.`);
    expect(readFileSync(home.path('etc/manager.conf'), 'utf8')).to.equal('<manager_config></manager_config>');

    const stop = () => Promise.resolve();
    writeFileSync(home.path('bin/mine'), '');
    await uninstall({ ...place, purge: false, stop });
    expect(existsSync(unit)).to.equal(false);
    expect(readdirSync(home.path('bin'))).to.deep.equal(['mine']);
    expect(readdirSync(home.path('lib'))).to.deep.equal([]);
    expect(existsSync(home.path('etc/manager.conf'))).to.equal(true);
    await uninstall({ ...place, purge: true, stop });
    expect(existsSync(home.root)).to.equal(false);
  });

  it('refuses places that are none', async () => {
    const refusal = async (prefix: string) => {
      const error: unknown = await install({ prefix, root, agent: false }).catch((reason: unknown) => reason);
      expect(error, prefix).to.be.instanceOf(HomeError);
      return (error as HomeError).message;
    };
    for (const prefix of ['', '/', 'opt/sm', '/opt/sm/', '/opt/../etc', '/opt/s m', '/opt/%i', '/opt/sm\n']) {
      expect(await refusal(prefix)).to.match(/cannot be a prefix/);
    }
    const error: unknown = await install({ prefix: '/opt/sm', root, agent: false, user: 'no-such-user' }).catch(
      (reason: unknown) => reason,
    );
    expect((error as HomeError).message).to.match(/user 'no-such-user' does not exist/);
    expect(readdirSync(root)).to.deep.equal([]);
    const nothing: unknown = await uninstall({
      prefix: '/opt/sm',
      root,
      purge: true,
      stop: () => Promise.resolve(),
    }).catch((reason: unknown) => reason);
    expect((nothing as HomeError).message).to.match(/is not a home/);
  });

  describe('writes a unit', () => {
    let unit: string;

    beforeEach(function () {
      if (spawnSync('systemd-analyze', ['--version']).error !== undefined) {
        process.stdout.write('    skipped: there is no systemd-analyze (package systemd)\n');
        this.skip();
      }
      unit = join(root, 'security-manager.service');
      const text = unitText(fileURLToPath(productRoot()).replace(/\/$/, ''));
      expect(text).to.not.match(/@[A-Z]+@/);
      writeFileSync(unit, text);
    });

    it('that systemd accepts', () => {
      const result = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' });
      expect(result.stderr + result.stdout).to.equal('');
      expect(result.status).to.equal(0);
    });

    it('whose exposure is below 4.3 in the judgement of systemd', () => {
      const options = ['--offline=true', '--threshold=42', '--no-pager'];
      const result = spawnSync('systemd-analyze', ['security', ...options, unit], { encoding: 'utf8' });
      expect(result.status, result.stdout + result.stderr).to.equal(0);
      expect(Number(/Overall exposure level for \S+: ([\d.]+)/.exec(result.stdout)?.[1])).to.be.below(4.3);
    });

    it('that takes away what is not needed, and leaves the host to be read', () => {
      const text = readFileSync(unit, 'utf8');
      for (const line of ['NoNewPrivileges=yes', 'ProtectSystem=strict', 'PrivateMounts=yes']) {
        expect(text.split('\n')).to.include(line);
      }
      expect(text).to.match(/^SystemCallFilter=@system-service/m);
      expect(text).to.not.match(/^(PrivateTmp|ProtectHome|PrivateDevices|ProtectProc)=/m);
    });
  });
});

describe('privileges', () => {
  const names: readonly DaemonName[] = ['svc-monitord', 'svc-logcollector'];
  let parent: string;
  let home: Home;
  let programs: TestProgram[];

  beforeEach(function () {
    if (!isRoot) this.skip();
    parent = mkdtempSync(join(tmpdir(), 'svc-priv-'));
    chmodSync(parent, 0o755);
    home = new Home(join(parent, 'home'));
    programs = [];
  });

  afterEach(async () => {
    if (!isRoot) return;
    for (const name of names) {
      const live = liveProcess(new RunFiles(home, name));
      if (live !== undefined) process.kill(live.pid, 'SIGKILL');
    }
    await Promise.all(programs.map((program) => program.ended));
    removeTree(parent);
  });

  it('are given up by all daemons but those that need them; all share the log', async () => {
    const account = findServiceAccount('nobody');
    await initHome(home, { role: 'server', account });
    const owner = (path: string) => {
      const { uid, gid } = statSync(home.path(path));
      return [uid, gid];
    };
    expect(owner('logs')).to.deep.equal([account.uid, account.gid]);
    expect(owner('var/run')).to.deep.equal([0, account.gid]);
    // The service user's svc-apid makes its own secrets: root changes no owners in directories of others.
    expect(readdirSync(home.path('api/configuration/ssl'))).to.deep.equal([]);
    expect(readdirSync(home.path('api/configuration/security'))).to.deep.equal([]);
    expect(owner('etc/sslmanager.key')).to.deep.equal([0, account.gid]);
    // The root daemon first: the log file it makes must be open to the others.
    for (const name of [...names].reverse()) {
      programs.push(new TestProgram('test-daemon.js', [name, '--home', home.root]));
      await eventually(name, async () => (await readDaemonStatus(home)).get(name)?.state === 'running');
    }
    const credentials = async (name: DaemonName) => {
      const pid = (await readDaemonStatus(home)).get(name)?.pid;
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      return ['Uid', 'Gid'].map((key) => Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(status)?.[1]));
    };
    expect(await credentials('svc-monitord')).to.deep.equal([account.uid, account.gid]);
    expect(await credentials('svc-logcollector')).to.deep.equal([0, account.gid]);
    expect(owner('logs/manager.log')).to.deep.equal([account.uid, account.gid]);
    const log = readFileSync(home.path('logs', 'manager.log'), 'utf8');
    for (const name of names) expect(log).to.include(`${name}: INFO: Started`);
  });

  it('are not needed to be told that the home belongs to somebody else', async () => {
    await initHome(home, { role: 'server', account: findServiceAccount('nobody') });
    const program = new TestProgram('test-daemon.js', ['svc-monitord', '--home', home.root], {
      uid: 1,
      gid: findServiceAccount('nobody').gid,
    });
    programs.push(program);
    const result = await program.ended;
    expect(result.code).to.equal(1);
    expect(result.stderr).to.match(/^svc-monitord: .*\n$/);
  });
});
