import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { eventually } from '../../support/eventually.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const PROGRAM = fileURLToPath(new URL('bin/svc-db', productRoot()));
const shipped = (name: string) => fileURLToPath(new URL(`etc/${name}`, productRoot()));

describe('svc-db', () => {
  let home: TemporaryHome;
  let child: ChildProcess | undefined;
  let client: RequestClient<typeof dbContract>;
  let said: string;

  beforeEach(() => {
    home = new TemporaryHome();
    copyFileSync(shipped('manager.conf'), home.path('etc/manager.conf'));
    copyFileSync(shipped('internal_options.conf'), home.path('etc/internal_options.conf'));
    client = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
  });

  afterEach(async () => {
    client.close();
    await end('SIGKILL');
    home.remove();
  });

  /** @param limit shell command that the daemon runs under */
  async function start(limit = ':'): Promise<void> {
    said = '';
    const started = spawn(
      'bash',
      ['-c', `${limit}; exec "$0" "$@"`, process.execPath, PROGRAM, '-f', '--home', home.root],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    started.stderr.on('data', (data: Buffer) => (said += String(data)));
    child = started;
    await eventually('svc-db answers', async () => {
      if (started.exitCode !== null) throw new Error(`svc-db ended with ${String(started.exitCode)}: ${said}`);
      return client.call('ping', {}).then(
        () => true,
        () => false,
      );
    });
  }

  async function end(signal: NodeJS.Signals): Promise<number | null> {
    const ending = child;
    child = undefined;
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return null;
    const exited = once(ending, 'exit');
    ending.kill(signal);
    await exited;
    return ending.exitCode;
  }

  it('has every agent it acknowledged after kill -9, whole', async () => {
    await start();
    await client.call('groups.create', { name: 'site' });
    const acknowledged = new Set<string>(['000']);
    let calls = 0;
    const registering = Array.from({ length: 8 }, async (_none, lane) => {
      for (let number = 1; number < 1000; number += 1) {
        const id = String(number * 8 + lane).padStart(3, '0');
        calls += 1;
        try {
          await client.call('agents.register', { id, name: `agent-${id}`, dateAdd: 1, groups: ['default', 'site'] });
        } catch {
          return;
        }
        acknowledged.add(id);
      }
    });
    await eventually('some are registered', () => acknowledged.size > 60);
    await end('SIGKILL');
    await Promise.all(registering);

    await start();
    const { items, total } = await client.call('agents.list', { limit: 10_000, q: 'id!=000' });
    expect(total)
      .to.be.at.least(acknowledged.size - 1)
      .and.at.most(calls);
    const ids = new Set(items.map(({ id }) => id));
    expect([...acknowledged].filter((id) => id !== '000' && !ids.has(id))).to.deep.equal([]);
    for (const { group } of items) expect(group).to.deep.equal(['default', 'site']);
    expect(await client.call('groups.get', { name: 'site' })).to.deep.equal({ name: 'site', count: total });
    expect(await end('SIGTERM')).to.equal(0);
  }).timeout(40_000);

  it('keeps times of keepalives over a stop, shows its sections, and takes a new node name at a reload', async () => {
    await start();
    await client.call('agents.register', { id: '001', name: 'web', dateAdd: 1 });
    await client.call('agents.keepalives', { agents: [{ id: '001', at: 1_795_000_000 }] });
    await client.call('agents.keepalives', { agents: [{ id: '001', at: 1_795_000_010 }] });
    expect(await client.call('config', { section: 'wdb' })).to.deep.equal({
      wdb: { backup: [{ database: 'global', enabled: true, interval: 86_400, max_files: 3 }] },
    });
    expect(await client.call('statistics.read', {})).to.have.nested.property(
      'metrics.queries.received_breakdown.global_breakdown.tables.agent.keepalives',
      2,
    );
    writeFileSync(
      home.path('etc/manager.conf'),
      '<manager_config><cluster><node_name>north</node_name><disabled>yes</disabled></cluster></manager_config>',
    );
    await client.call('reload', {});
    expect(await end('SIGTERM')).to.equal(0);
    await start();
    const { items } = await client.call('agents.list', { select: ['lastKeepAlive', 'node_name'] });
    expect(items).to.deep.equal([
      { id: '000', node_name: 'north', lastKeepAlive: '9999-12-31T23:59:59+00:00' },
      { id: '001', node_name: 'unknown', lastKeepAlive: '2026-11-18T11:06:50+00:00' },
    ]);
  }).timeout(30_000);

  it('refuses changes on a full disk, says so, goes on, and stores again when there is room', async () => {
    await start('ulimit -f 2000');
    await client.call('agents.register', { id: '001', name: 'web', dateAdd: 1 });
    const large = 'x'.repeat(60_000);
    let refusal: unknown;
    for (let number = 2; number < 200 && refusal === undefined; number += 1) {
      const id = String(number).padStart(3, '0');
      try {
        await client.call('agents.register', { id, name: 'web', dateAdd: 1 });
        await client.call('agents.update', { id, changes: { labels: [['"a"', large]] } });
      } catch (error) {
        refusal = error;
      }
    }
    expect(refusal).to.include({ code: 'disk_full' });
    // Its output comes by another way than its answers.
    await eventually('it is said', () =>
      /ERROR: Changes of agents cannot be stored: .*queue\/db: no space left/.test(said),
    );
    await client.call('agents.update', { id: '001', changes: { name: 'renamed' } });
    expect(await end('SIGTERM')).to.equal(0);
    await start();
    expect((await client.call('agents.get', { ids: ['001'], select: ['name'] })).items).to.deep.equal([
      { id: '001', name: 'renamed' },
    ]);
  }).timeout(30_000);

  it('names a wrong configuration, and does not start', () => {
    writeFileSync(
      home.path('etc/manager.conf'),
      '<manager_config><wdb><backup database="x"></backup></wdb></manager_config>',
    );
    const test = spawnSync(process.execPath, [PROGRAM, '-t', '--home', home.root], {
      encoding: 'utf8',
      timeout: 20_000,
    });
    expect(test.status).to.equal(1);
    expect(test.stderr).to.match(/manager\.conf/);
  }).timeout(30_000);

  it('sets damaged stores aside, says so, and has the agents of the key file', async () => {
    const stores = ['queue/db', 'queue/db/fim', 'queue/db/sca'];
    for (const store of stores) mkdirSync(home.path(store), { recursive: true });
    for (const store of stores) writeFileSync(home.path(store, 'data.mdb'), 'not a database');
    writeFileSync(home.path('etc/client.keys'), `007 box7 any ${'a'.repeat(64)}\n`);
    await start();
    const { items } = await client.call('agents.list', { select: ['id', 'name', 'group'] });
    expect(items).to.deep.equal([
      { id: '000', name: hostname() },
      { id: '007', name: 'box7', group: ['default'] },
    ]);
    expect(said).to.match(
      /ERROR: .*queue\/db: it is not an LMDB file.*moved to .*damaged-.*1 come from etc\/client\.keys/,
    );
    expect(said).to.match(/ERROR: .*queue\/db\/fim: it is not an LMDB file.* Files of agents come back/);
    expect(said).to.match(/ERROR: .*queue\/db\/sca: it is not an LMDB file.* Results of policies of agents come back/);
    const { name } = await client.call('backups.create', {});
    expect(await client.call('backups.restore', { name, save: false })).to.include({ agents: 1, withoutKey: 0 });
    await end('SIGTERM');
  }).timeout(30_000);
});
