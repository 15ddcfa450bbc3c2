import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { authdHome, AuthdServer, configureAuth } from '../../support/authd/authd-server.js';
import { enrol, keyOf } from '../../support/authd/enrollment.js';
import { eventually } from '../../support/eventually.js';
import type { TemporaryHome } from '../../support/temporary-home.js';

const DB = fileURLToPath(new URL('bin/svc-db', productRoot()));

describe('svc-authd with svc-db', function () {
  this.timeout(60_000);
  let home: TemporaryHome;
  let authd: AuthdServer;
  let db: ChildProcess | undefined;
  let client: RequestClient<typeof dbContract>;

  beforeEach(async () => {
    home = await authdHome('<force><after_registration_time>0</after_registration_time></force>');
    mkdirSync(home.path('queue/db'), { recursive: true });
    client = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
    authd = await AuthdServer.start(home);
  });
  afterEach(async () => {
    client.close();
    // A start that failed has left none, or one that has ended.
    await (authd as AuthdServer | undefined)?.end();
    await endDb();
    home.remove();
  });

  async function startDb(): Promise<void> {
    db = spawn(process.execPath, [DB, '--home', home.root], { stdio: 'ignore' });
    await eventually('svc-db answers', () => client.call('ping', {}).then(Boolean, () => false));
  }
  async function endDb(): Promise<void> {
    if (db === undefined) return;
    const ended = once(db, 'exit');
    db.kill('SIGKILL');
    await ended;
    db = undefined;
  }
  const rows = async () => {
    const { items } = await client.call('agents.list', { select: ['id', 'name', 'registerIP', 'group'] });
    return items.filter(({ id }) => id !== '000');
  };

  /** svc-db has so many agents, and svc-authd has heard that it has. */
  const known = (count: number) =>
    eventually(`svc-db knows ${String(count)}`, async () => {
      const { agents } = (await authd.client.call('stats', {})) as { agents: { settled: boolean } };
      return agents.settled && (await rows()).length === count;
    });

  it('tells of agents that came while svc-db was away, and of each change afterwards', async () => {
    keyOf(await enrol(authd.port, "OSSEC A:'early' G:'web,default' IP:'10.0.0.0/8'\n"));
    await startDb();
    await known(1);
    expect(await rows()).to.deep.equal([
      { id: '001', name: 'early', registerIP: '10.0.0.0/8', group: ['web', 'default'] },
    ]);
    keyOf(await enrol(authd.port, "OSSEC A:'late'\n"));
    await known(2);

    // What svc-db knows of an agent decides whether it makes room.
    await client.call('agents.status', { agents: [{ id: '002', status: 'active', at: 1 }] });
    expect(await enrol(authd.port, "OSSEC A:'late'\n")).to.match(/^ERROR: Duplicate agent name/);
    await client.call('agents.status', { agents: [{ id: '002', status: 'disconnected', disconnectionTime: 1000 }] });
    expect(keyOf(await enrol(authd.port, "OSSEC A:'late'\n")).id).to.equal('003');
    await eventually('the old one is gone', async () => (await rows()).map(({ id }) => id).join() === '001,003');
    await authd.client.call('remove', { ids: ['001'] });
    await eventually('the removed one is gone', async () => (await rows()).map(({ id }) => id).join() === '003');
  });

  it('lets an agent come again that may not have got its key', async () => {
    await authd.end();
    configureAuth(home, '');
    await startDb();
    authd = await AuthdServer.start(home);
    keyOf(await enrol(authd.port, "OSSEC A:'early'\n"));
    const times = home.path('queue/agents-timestamp');
    await eventually(
      'its time is on disk',
      () => existsSync(times) && /^001 early any \d{4}-/m.test(readFileSync(times, 'utf8')),
    );
    keyOf(await enrol(authd.port, "OSSEC A:'late'\n"));
    await authd.end('SIGKILL');
    authd = await AuthdServer.start(home);
    await known(2);
    expect(await enrol(authd.port, "OSSEC A:'early'\n")).to.match(/^ERROR: Duplicate agent name/);
    expect(keyOf(await enrol(authd.port, "OSSEC A:'late'\n")).id).to.equal('002');
    expect(await enrol(authd.port, "OSSEC A:'late'\n")).to.match(/^ERROR: Duplicate agent name/);
  });

  it('leaves an agent that enrols again before it has connected in its groups, unless it asks for others', async () => {
    await startDb();
    keyOf(await enrol(authd.port, "OSSEC A:'early' IP:'10.0.0.1'\n"));
    await known(1);
    await client.call('groups.create', { name: 'web' });
    await client.call('agents.membership', { mode: 'override', agents: [{ id: '001', groups: ['default', 'web'] }] });
    const again = keyOf(await enrol(authd.port, "OSSEC A:'early' IP:'10.0.0.2'\n"));
    expect(again).to.include({ id: '001', ip: '10.0.0.2' });
    const group = ['default', 'web'];
    await eventually('its new address', async () => (await rows())[0]?.['registerIP'] === '10.0.0.2');
    expect(await rows()).to.deep.equal([{ id: '001', name: 'early', registerIP: '10.0.0.2', group }]);
    keyOf(await enrol(authd.port, "OSSEC A:'early' G:'web'\n"));
    await eventually('its new groups', async () => String((await rows())[0]?.['group']) === 'web');
    // Once it has connected it is another matter.
    await client.call('agents.status', { agents: [{ id: '001', status: 'disconnected', disconnectionTime: 1000 }] });
    expect(keyOf(await enrol(authd.port, "OSSEC A:'early'\n")).id).to.equal('002');
  });

  it('makes both agree after a restart of either, and does not wait for an answer of svc-db', async () => {
    await startDb();
    keyOf(await enrol(authd.port, "OSSEC A:'web01'\n"));
    await known(1);
    db?.kill('SIGSTOP');
    expect(await enrol(authd.port, "OSSEC A:'web01'\n")).to.match(/^ERROR: Duplicate agent name/);
    keyOf(await enrol(authd.port, "OSSEC A:'web02'\n"));
    await endDb();
    await authd.end();
    writeFileSync(
      home.path('etc/client.keys'),
      `2 renamed 10.0.0.2 ${'a'.repeat(64)}\n005 new any ${'b'.repeat(64)}\n`,
    );
    await startDb();
    authd = await AuthdServer.start(home);
    const agree = await eventually('they agree', async () => {
      const found = await rows();
      return found.map(({ id }) => id).join() === '002,005' ? found : undefined;
    });
    expect(agree[0]).to.include({ name: 'renamed', registerIP: '10.0.0.2' });
  });
});
