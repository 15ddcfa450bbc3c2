import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { agentAuthCommand } from '../../../bin/agent-tools/agent-auth-command.js';
import { enrollmentRequestText, parseEnrollmentReply } from '../../../lib/agents/enrollment-client.js';
import { defaultAgentName } from '../../../lib/agents/enrollment-settings.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { authdHome, AuthdServer } from '../../support/authd/authd-server.js';
import { keyLines } from '../../support/authd/enrollment.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { TemporaryHome } from '../../support/temporary-home.js';
import { testCertificate } from '../../support/tls/test-certificates.js';

describe('agent-auth', function () {
  this.timeout(30_000);
  let agent: TemporaryHome;
  let manager: TemporaryHome | undefined;
  let authd: AuthdServer | undefined;

  beforeEach(() => {
    agent = new TemporaryHome({ version: 1, role: 'agent' });
  });
  afterEach(async () => {
    await authd?.end();
    manager?.remove();
    authd = manager = undefined;
    agent.remove();
  });

  async function start(auth = ''): Promise<TemporaryHome> {
    manager = await authdHome(auth);
    return manager;
  }

  async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
    const said = { out: '', err: '' };
    const where = authd === undefined ? [] : ['-m', '127.0.0.1', '-p', String(authd.port)];
    const code = await agentAuthCommand(['--home', agent.root, ...where, ...args], {
      write: (text) => (said.out += text),
      writeError: (text) => (said.err += text),
    });
    return { code, ...said };
  }

  const ownKey = () => readFileSync(agent.path('etc/client.keys'), 'utf8');

  it('stores the key a manager gives, with name, groups and address', async () => {
    const home = await start();
    authd = await AuthdServer.start(home);
    expect(await run('-A', 'web01', '-G', 'default,web', '-I', '10.1.0.0/16')).to.deep.equal({
      code: 0,
      out: [
        'Requesting a key from server: 127.0.0.1',
        'Using agent name as: web01',
        'Waiting for server reply',
        'Valid key received',
      ]
        .map((line) => `agent-auth: INFO: ${line}\n`)
        .join(''),
      err: '',
    });
    expect(ownKey()).to.match(/^001 web01 10\.1\.0\.0\/16 [0-9a-f]{64}\n$/);
    expect(ownKey()).to.equal(`${keyLines(home)[0] ?? ''}\n`);
    expect(statSync(agent.path('etc/client.keys')).mode & 0o777).to.equal(0o640);
    const before = ownKey();
    // It holds the very key, says so, and is told that it needs no other.
    const again = await run('-A', 'web01');
    expect(again.code).to.equal(1);
    expect(again.err).to.equal('agent-auth: ERROR: Duplicate agent name: web01. Unable to add agent (from manager)\n');
    expect((await run('-A', 'web02', '-G', 'nosuch')).err).to.contain('Invalid group: nosuch');
    expect(ownKey(), 'what failed changes nothing').to.equal(before);
    const program = join(fileURLToPath(productRoot()), 'bin/agent-auth');
    const process = new TestProgram(program, [
      '--home',
      agent.root,
      '-m',
      '127.0.0.1',
      '-p',
      String(authd.port),
      '-A',
      'web03',
      '-i',
    ]);
    const { code, stdout } = await process.ended;
    expect(code).to.equal(0);
    expect(stdout).to.contain('Valid key received');
    expect(ownKey()).to.match(/^002 web03 127\.0\.0\.1 [0-9a-f]{64}\n$/);
  });

  it('says the password of the file or of the command line', async () => {
    const home = await start('<use_password>yes</use_password>');
    writeFileSync(home.path('etc/authd.pass'), 'open sesame\n');
    authd = await AuthdServer.start(home);
    expect((await run('-A', 'web01')).err).to.contain('Invalid password');
    expect((await run('-A', 'web01', '-P', 'open')).err)
      .to.contain('Invalid password')
      .and.not.contain('open');
    expect((await run('-A', 'web01', '-P', 'open sesame')).code).to.equal(0);
    writeFileSync(agent.path('etc/authd.pass'), 'open sesame\nmore\n');
    expect((await run('-A', 'web02')).code).to.equal(0);
    writeFileSync(agent.path('etc/authd.pass'), '\n');
    expect((await run('-A', 'web03')).err).to.contain("The first line of 'etc/authd.pass' is no password");
  });

  it('verifies the manager and shows its own certificate', async () => {
    const authority = testCertificate({ commonName: 'authority' });
    const server = testCertificate({ commonName: 'manager', ips: ['127.0.0.1'], issuer: authority });
    const client = testCertificate({ commonName: 'web01', issuer: authority });
    const home = await start('<ssl_agent_ca>etc/ca.pem</ssl_agent_ca>');
    for (const [path, pem] of [
      [home.path('etc/ca.pem'), authority.cert],
      [home.path('etc/sslmanager.cert'), server.cert],
      [home.path('etc/sslmanager.key'), server.key],
      [agent.path('etc/ca.pem'), authority.cert],
      [agent.path('etc/other.pem'), client.cert],
      [agent.path('etc/own.key'), client.key],
    ] as const) {
      writeFileSync(path, pem);
    }
    authd = await AuthdServer.start(home);
    const own = ['-x', agent.path('etc/other.pem'), '-k', agent.path('etc/own.key')];
    expect((await run('-A', 'web01', '-v', agent.path('etc/ca.pem'))).code, 'no certificate').to.equal(1);
    expect((await run('-A', 'web01', '-v', agent.path('etc/other.pem'), ...own)).err).to.contain('Unable to enrol at');
    expect((await run('-A', 'web01', '-v', agent.path('etc/nosuch'), ...own)).err).to.contain('Unable to read');
    expect((await run('-A', 'web01', '-m', 'localhost', '-v', agent.path('etc/ca.pem'), ...own)).err).to.contain(
      "its certificate is not made for 'localhost'",
    );
    expect((await run('-A', 'web01', '-v', agent.path('etc/ca.pem'), ...own)).err).to.equal('');
    expect(ownKey()).to.match(/^001 web01 any /);
  });

  it('refuses what no request can carry, and homes of managers', async () => {
    expect((await run()).err).to.contain("required option '-m <manager>'");
    expect((await run('-m', '127.0.0.1', '-p', '70000')).err).to.contain('a port is a number from 1 to 65535');
    for (const [flag, value] of [
      ['-A', 'web 01'],
      ['-G', "a' K:'"],
      ['-I', 'any\n'],
      ['-x', 'alone.pem'],
    ] as const) {
      const { code, err } = await run('-m', '127.0.0.1', '-p', '9', flag, value);
      expect(code, flag).to.equal(1);
      expect(err, flag).to.match(/^agent-auth: ERROR: (Invalid|A certificate)/);
    }
    writeFileSync(agent.path('etc/home.json'), JSON.stringify({ version: 1, role: 'server' }));
    expect((await run('-m', '127.0.0.1')).err).to.contain('this is done on an agent');
  });

  it('writes requests and reads answers as the protocol has them', () => {
    const request = { name: 'web01', version: 'v4.14.7' };
    expect(enrollmentRequestText(request)).to.equal("OSSEC A:'web01' V:'v4.14.7'\n");
    const all = { ...request, password: 'p w', groups: 'a,b', address: 'src', keyHash: 'ab' };
    expect(enrollmentRequestText(all)).to.equal(
      "OSSEC PASS: p w OSSEC A:'web01' V:'v4.14.7' G:'a,b' IP:'src' K:'ab'\n",
    );
    expect(parseEnrollmentReply("OSSEC K:'001 web01 any abc'").key).to.equal('abc');
    for (const wrong of ['', 'nonsense', "OSSEC K:'001 web01 any'", "OSSEC K:'001 ../x any abc'", "OSSEC K:'001"]) {
      expect(() => parseEnrollmentReply(wrong), wrong).to.throw();
    }
    expect(defaultAgentName('.my host(1).lan')).to.equal('myhost1.lan');
  });
});
