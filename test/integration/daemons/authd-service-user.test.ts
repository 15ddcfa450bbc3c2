import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { initHome } from '../../../bin/control/home/init-home.js';
import { findServiceAccount, type ServiceAccount } from '../../../bin/control/home/service-account.js';
import { RunFiles } from '../../../lib/daemon/run-files.js';
import { readRunRecord } from '../../../lib/daemon/run-record.js';
import { Home } from '../../../lib/home/home.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { authdHome, AuthdServer } from '../../support/authd/authd-server.js';
import { enrol } from '../../support/authd/enrollment.js';
import { removeTree } from '../../support/remove-tree.js';
import type { TemporaryHome } from '../../support/temporary-home.js';

const PROGRAM = fileURLToPath(new URL('bin/svc-authd', productRoot()));

describe('address of enrolment', () => {
  let home: TemporaryHome;
  afterEach(() => home.remove());

  it('is the one of local_ip', async () => {
    home = await authdHome('<local_ip>127.0.0.1</local_ip>');
    const authd = await AuthdServer.start(home);
    try {
      const record = readRunRecord(new RunFiles(home, 'svc-authd').record());
      expect(record?.addresses['enrollment']?.address).to.equal('127.0.0.1');
      // Nobody but this host reaches it.
      expect(readFileSync(home.path('logs/manager.log'), 'utf8')).not.to.include('no password is set');
    } finally {
      await authd.end();
    }
  });

  it('is an address', async () => {
    home = await authdHome('<local_ip>everywhere</local_ip>');
    const { status, stderr } = spawnSync(process.execPath, [PROGRAM, '-t', '--home', home.root], { encoding: 'utf8' });
    expect(status).to.equal(1);
    expect(stderr).to.include("'everywhere'");
  });
});

describe('svc-authd in an installed home', function () {
  this.timeout(60_000);
  let parent: string;
  let home: Home;
  let account: ServiceAccount;

  beforeEach(async function () {
    if (process.geteuid?.() !== 0) {
      process.stdout.write('    skipped: only root can make a home of another user\n');
      this.skip();
    }
    parent = mkdtempSync(join(tmpdir(), 'svc-authd-'));
    chmodSync(parent, 0o755);
    home = new Home(join(parent, 'home'));
    account = findServiceAccount('nobody');
    await initHome(home, { role: 'server', account });
    setAuth('<port>0</port><local_ip>127.0.0.1</local_ip>');
  });
  afterEach(() => removeTree(parent));

  const setAuth = (auth: string) =>
    writeFileSync(home.path('etc', 'manager.conf'), `<manager_config><auth>${auth}</auth></manager_config>`);
  const owner = (path: string) => {
    const { uid, gid, mode } = statSync(home.path(path));
    return [uid, gid, (mode & 0o777).toString(8)];
  };

  it('is the service user, reads its secrets by the group and keeps its files', async () => {
    writeFileSync(home.path('etc/authd.pass'), 'TopSecret\n', { mode: 0o600 });
    chmodSync(home.path('etc/sslmanager.key'), 0o600);
    chownSync(home.path('etc/sslmanager.key'), 0, 0);
    setAuth('<port>0</port><local_ip>127.0.0.1</local_ip><use_password>yes</use_password>');
    // What an older version could read as root, an update shares with the group.
    await initHome(home, { role: 'server', account, updateRuleset: true });
    for (const path of ['etc/authd.pass', 'etc/sslmanager.key', 'etc/sslmanager.cert']) {
      expect(owner(path), path).to.deep.equal([0, account.gid, '640']);
    }
    const authd = await AuthdServer.start(home);
    try {
      const status = readFileSync(`/proc/${authd.child.pid ?? 0}/status`, 'utf8');
      expect(/^Uid:\s+(\d+)\s+(\d+)/m.exec(status)?.slice(1)).to.deep.equal([String(account.uid), String(account.uid)]);
      expect(await enrol(authd.port, "OSSEC PASS: TopSecret OSSEC A:'web01'\n")).to.match(/^OSSEC K:/);
      expect(readFileSync(home.path('etc/client.keys'), 'utf8')).to.match(/^001 web01 /);
      expect(owner('etc/client.keys')).to.deep.equal([account.uid, account.gid, '640']);
    } finally {
      await authd.end();
    }
    expect(owner('queue/agents-timestamp')).to.deep.equal([account.uid, account.gid, '600']);
    expect(readFileSync(home.path('logs/manager.log'), 'utf8')).to.not.match(/ERROR|CRITICAL/);
  });

  it('says what a key needs that only root may read, and which ports are for root', () => {
    const run = () => spawnSync(process.execPath, [PROGRAM, '-f', '--home', home.root], { encoding: 'utf8' });
    if (Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8')) > 515) {
      setAuth('<port>515</port><local_ip>127.0.0.1</local_ip>');
      expect(run().stderr).to.include("Port 515 of 'auth' is for root alone, and svc-authd runs as the service user");
    }
    chmodSync(home.path('etc/sslmanager.key'), 0o600);
    const { status, stderr } = run();
    expect(status).to.equal(1);
    expect(stderr).to.include('svc-authd runs as the service user, whose group must be able to read it');
  });
});
