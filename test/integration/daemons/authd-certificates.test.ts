import { readFileSync, writeFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { expect } from 'chai';
import { initHome } from '../../../bin/control/home/init-home.js';
import { authdHome, AuthdServer, configureAuth } from '../../support/authd/authd-server.js';
import { enrol, keyLines, keyOf } from '../../support/authd/enrollment.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { KeepingSink } from '../../support/remoted/remoted-home.js';
import { TemporaryHome } from '../../support/temporary-home.js';
import { type TestCertificate, testCertificate } from '../../support/tls/test-certificates.js';

const CA = '<ssl_agent_ca>etc/agents.pem</ssl_agent_ca>';
const VERIFY_HOST = '<ssl_verify_host>yes</ssl_verify_host>';
const REMOTE = '<remote><connection>secure</connection><port>0</port><local_ip>127.0.0.1</local_ip></remote>';
const WAIT_MS = 30_000;

/** Agents of 4.x speak both, those of OSSEC the older one. */
const VERSIONS: readonly ConnectionOptions[] = [
  { minVersion: 'TLSv1.3' },
  { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' },
];

describe('enrolment with certificates of agents', function () {
  this.timeout(60_000);
  let authority: TestCertificate;
  let own: TestCertificate;
  let home: TemporaryHome;
  let authd: AuthdServer;
  const ends: (() => Promise<unknown>)[] = [];

  before(() => {
    authority = testCertificate({ commonName: 'authority of agents' });
    own = testCertificate({ commonName: 'web01', issuer: authority, versionOne: true });
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  async function start(auth: string, sections = ''): Promise<void> {
    home = await authdHome(auth, sections);
    ends.push(() => Promise.resolve(home.remove()));
    writeFileSync(home.path('etc/agents.pem'), authority.cert);
    authd = await AuthdServer.start(home);
    ends.push(() => authd.end());
  }

  const log = () => readFileSync(home.path('logs/manager.log'), 'utf8');
  /** What comes back; empty when the manager ends the connection instead. */
  const ask = (name: string, shown: ConnectionOptions = {}) =>
    enrol(authd.port, `OSSEC A:'${name}' V:'v4.14.7'\n`, shown).catch(() => '');

  it('gives keys to those of the authority alone, whoever they are', async () => {
    await start(CA);
    const stranger = testCertificate({ commonName: 'web01' });
    const relative = testCertificate({ commonName: 'web01', issuer: stranger });
    for (const [at, version] of VERSIONS.entries()) {
      const name = `web0${String(at + 1)}`;
      expect(await ask(name, version), 'no certificate').to.equal('');
      expect(await ask(name, { ...version, ...stranger }), 'its own authority').to.equal('');
      expect(await ask(name, { ...version, ...relative }), 'another authority').to.equal('');
      expect(keyOf(await ask(name, { ...version, ...own }))).to.include({ name, ip: 'any' });
    }
    expect(keyLines(home)).to.have.length(2);
    expect(log()).to.contain("Agents need a certificate signed by 'etc/agents.pem'.");
    expect(log()).to.contain('TLS handshake with 127.0.0.1 failed');
  });

  it('demands one for the address of the agent where it is told to, beside the password', async () => {
    await start(`${CA}${VERIFY_HOST}<use_password>yes</use_password>`);
    const words = /Random password chosen for agent authentication: ([0-9a-f]{32})/;
    const password = words.exec(log())?.[1] ?? '';
    const request = (name: string) => `OSSEC PASS: ${password} OSSEC A:'${name}'\n`;
    const named = testCertificate({ commonName: '127.0.0.1', issuer: authority, versionOne: true });
    const listed = testCertificate({ commonName: 'x', ips: ['192.0.2.1', '127.0.0.1'], issuer: authority });
    for (const version of VERSIONS) {
      expect(await enrol(authd.port, request('web01'), { ...version, ...own }).catch(() => '')).to.equal('');
    }
    expect(log()).to.contain('Unable to verify client certificate.');
    keyOf(await enrol(authd.port, request('web01'), named));
    keyOf(await enrol(authd.port, request('web02'), listed));
    expect(await ask('web03', named)).to.equal('ERROR: Invalid password. Unable to add agent');
    expect(keyLines(home)).to.have.length(2);
  });

  it('takes another authority at a reload, and goes on to demand certificates until a restart', async () => {
    await start(CA);
    const another = testCertificate({ commonName: 'the next authority' });
    const next = testCertificate({ commonName: 'web01', issuer: another });
    writeFileSync(home.path('etc/agents.pem'), another.cert);
    await authd.client.call('reload', {});
    expect(log().split("Agents need a certificate signed by 'etc/agents.pem'.")).to.have.length(3);
    expect(await ask('web01', own)).to.equal('');
    keyOf(await ask('web01', next));
    configureAuth(home, '');
    expect(await authd.client.call('reload', {})).to.deep.include({ restartNeeded: ['auth'] });
    expect(await ask('web02')).to.equal('');
    keyOf(await ask('web02', next));
    await authd.end('SIGTERM');
    authd = await AuthdServer.start(home);
    keyOf(await ask('web03'));
  });

  it('lets our own agent enrol by itself and connect', async () => {
    const manager = testCertificate({ commonName: 'manager', ips: ['127.0.0.1'], issuer: authority });
    const mine = testCertificate({ commonName: 'web01', ips: ['127.0.0.1'], issuer: authority });
    home = await authdHome(`${CA}${VERIFY_HOST}`, REMOTE);
    ends.push(() => Promise.resolve(home.remove()));
    for (const [path, pem] of [
      ['etc/agents.pem', authority.cert],
      ['etc/sslmanager.cert', manager.cert],
      ['etc/sslmanager.key', manager.key],
    ] as const) {
      writeFileSync(home.path(path), pem);
    }
    const sink = new KeepingSink(home);
    await sink.start();
    ends.push(() => sink.stop());
    const remoted = await RunningDaemon.start('svc-remoted', home);
    ends.push(() => remoted.stop('SIGKILL'));
    authd = await AuthdServer.start(home);
    ends.push(() => authd.end());

    const agent = new TemporaryHome({ version: 1, role: 'agent' });
    ends.push(() => Promise.resolve(agent.remove()));
    await initHome(agent, { role: 'agent' });
    const configure = (files: string) => {
      writeFileSync(
        agent.path('etc/manager.conf'),
        `<manager_config><client>
           <server><address>127.0.0.1</address><port>${String(remoted.port('agents_tcp'))}</port><retry_interval>1</retry_interval></server>
           <enrollment><port>${String(authd.port)}</port><agent_name>web01</agent_name>
             <delay_after_enrollment>0</delay_after_enrollment>${files}</enrollment>
         </client></manager_config>\n`,
      );
    };
    configure('');
    const stranger = await RunningDaemon.start('svc-agentd', agent);
    ends.push(() => stranger.stop('SIGKILL'));
    await eventually('it is refused', () => stranger.output.includes('Unable to enrol at [127.0.0.1]'), WAIT_MS);
    await stranger.stop();
    expect(keyLines(home)).to.deep.equal([]);

    writeFileSync(agent.path('etc/sslagent.cert'), mine.cert);
    writeFileSync(agent.path('etc/sslagent.key'), mine.key);
    writeFileSync(agent.path('etc/manager-ca.pem'), authority.cert);
    configure(
      '<server_ca_path>etc/manager-ca.pem</server_ca_path><agent_certificate_path>etc/sslagent.cert</agent_certificate_path><agent_key_path>etc/sslagent.key</agent_key_path>',
    );
    const agentd = await RunningDaemon.start('svc-agentd', agent);
    ends.push(() => agentd.stop('SIGKILL'));
    await eventually('it is connected', () => agentd.output.includes('(4102): Connected to the server'), WAIT_MS);
    expect(readFileSync(agent.path('etc/client.keys'), 'utf8')).to.equal(`${keyLines(home).join('')}\n`);
  });
});
