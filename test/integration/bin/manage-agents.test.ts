import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { manageAgentsCommand } from '../../../bin/agent-tools/manage-agents-command.js';
import { authdHome, AuthdServer } from '../../support/authd/authd-server.js';
import { TemporaryHome } from '../../support/temporary-home.js';

describe('manage_agents', () => {
  let home: TemporaryHome;
  let authd: AuthdServer | undefined;

  afterEach(async () => {
    await authd?.end();
    authd = undefined;
    home.remove();
  });

  async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
    const said = { out: '', err: '' };
    const code = await manageAgentsCommand(['--home', home.root, ...args], {
      write: (text) => (said.out += text),
      writeError: (text) => (said.err += text),
    });
    return { code, ...said };
  }

  it('adds, lists, shows and removes agents through svc-authd', async () => {
    home = await authdHome();
    authd = await AuthdServer.start(home);
    expect((await run('-a', 'any', '-n', 'web01')).out).to.equal('Agent added with ID 001.\n');
    expect(JSON.parse((await run('-j', '-a', '10.0.0.2', '-n', 'web02')).out)).to.deep.equal({
      error: 0,
      data: { id: '002', message: 'Agent added' },
    });
    expect((await run('-l')).out).to.equal(
      '\nAvailable agents: \n   ID: 001, Name: web01, IP: any\n   ID: 002, Name: web02, IP: 10.0.0.2\n',
    );
    const { key } = await authd.client.call('get', { id: '002' });
    const shown = /^\nAgent key information for '002' is: \n(\S+)\n$/.exec((await run('-e', '002')).out)?.[1] ?? '';
    expect(Buffer.from(shown, 'base64').toString()).to.equal(`002 web02 10.0.0.2 ${key}`);
    const error = async (...args: string[]) => (JSON.parse((await run('-j', ...args)).out) as { error: number }).error;
    expect(await error('-a', 'any', '-n', 'web01')).to.equal(75);
    expect(await error('-a', 'any', '-n', 'web 3')).to.equal(76);
    expect(await error('-a', 'nowhere', '-n', 'web03')).to.equal(77);
    expect(await error('-a', '10.0.0.2', '-n', 'web03')).to.equal(79);
    expect(await error('-r', '009')).to.equal(78);
    expect(await error('-e', '009')).to.equal(78);
    expect(await error('-f', home.path('nosuch'))).to.equal(71);
    writeFileSync(home.path('tmp/list'), '10.0.0.4,web04\n# more\nany,web05\n10.0.0.4,web06\n');
    const bulk = await run('-f', home.path('tmp/list'));
    expect(bulk.err).to.match(/list:4: Duplicate IP for agent.*; 2 agents were added before\n$/);
    expect((await run('-a', 'any', '-n', 'web01', '-R', '1h')).code, 'it is too young').to.equal(1);
    expect((await run('-a', 'any', '-n', 'web01', '-R', '0')).out).to.equal('Agent added with ID 005.\n');
    expect((await run('-r', '005')).out).to.equal("Agent '005' removed.\n");
    expect((await run('-l', '-r', '001')).code).to.equal(1);
    await authd.end();
    expect(await error('-a', 'any', '-n', 'web07')).to.equal(80);
    expect((await run('-l')).out).to.contain('web02');
  });

  it('imports a key on an agent, and only there', async () => {
    home = new TemporaryHome({ version: 1, role: 'agent' });
    const line = `007 web07 any ${'a'.repeat(64)}`;
    const key = Buffer.from(line).toString('base64');
    expect((await run('-i', key)).out).to.contain('   ID:007\n   Name:web07\n');
    expect(readFileSync(home.path('etc/client.keys'), 'utf8')).to.equal(`${line}\n`);
    expect(statSync(home.path('etc/client.keys')).mode & 0o777).to.equal(0o640);
    for (const wrong of ['nonsense', Buffer.from('007 web07 any').toString('base64'), `${key}!`]) {
      expect((await run('-i', wrong)).code, wrong).to.equal(1);
    }
    expect((await run('-a', 'any', '-n', 'web01')).err).to.contain('this is done on a manager');
  });
});
