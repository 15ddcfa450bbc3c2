import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { initHome } from '../../../bin/control/home/init-home.js';
import { decodeKeyText } from '../../../lib/agents/key-text.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { remotedContract } from '../../../lib/bus/contracts/remoted.js';
import { syscheckdContract } from '../../../lib/bus/contracts/syscheckd.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { keyLine } from '../../support/agentlink/minimal-agent.js';
import { ApiClient } from '../../support/api/api-client.js';
import type { ApiList } from '../../support/api/api-list.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const MANAGER: readonly DaemonName[] = ['svc-db', 'svc-authd', 'svc-analysisd', 'svc-remoted', 'svc-apid'];
const AGENT: readonly DaemonName[] = ['svc-agentd', 'svc-syscheckd'];
const WAIT_MS = 60_000;
/** Names as bytes; the last two are no UTF-8. */
const NAMES = [
  "it's",
  'a b',
  '100%',
  'x"y',
  'back\\slash',
  'new\nline',
  'caf\xc3\xa9',
  '\xf0\x9f\x98\x80',
  '\xff\xfe',
  'caf\xe9',
];
/** Rounds come every second, and without a pace. */
const SYNCHRONIZATION =
  '<synchronization><interval>1</interval><max_interval>2</max_interval><response_timeout>0</response_timeout><max_eps>0</max_eps></synchronization>';

type Item = Record<string, unknown>;
type Alert = {
  readonly rule: { readonly id: string };
  readonly agent: { readonly id: string };
  readonly syscheck?: { readonly path: string; readonly event: string };
};

const sha1 = (content: string): string => createHash('sha1').update(content).digest('hex');
const shown = (name: string): string => Buffer.from(name, 'latin1').toString('utf8');

describe('files of a manager and of its agent', function () {
  this.timeout(180_000);
  const manager = new TemporaryHome();
  const agent = new TemporaryHome({ version: 1, role: 'agent' });
  const api = new ApiClient(manager);
  const db = new RequestClient({ contract: dbContract, path: manager.socket('svc-db') });
  const remoted = new RequestClient({ contract: remotedContract, path: manager.socket('svc-remoted') });
  const syscheckd = new RequestClient({ contract: syscheckdContract, path: agent.socket('svc-syscheckd') });
  const daemons = new Map<string, RunningDaemon>();
  let id = '';

  before(async () => {
    await initHome(manager, { role: 'server' });
    await initHome(agent, { role: 'agent' });
    for (const home of [manager, agent]) mkdirSync(home.path('watched'));
    writeFileSync(
      manager.path('etc', 'manager.conf'),
      `<manager_config>
         <remote><connection>secure</connection><port>0</port><protocol>tcp</protocol><local_ip>127.0.0.1</local_ip></remote>
         <auth><port>0</port><disabled>no</disabled></auth>
         <syscheck><directories>${manager.path('watched')}</directories>${SYNCHRONIZATION}</syscheck>
         <rootcheck><disabled>yes</disabled></rootcheck>
       </manager_config>\n`,
    );
    writeFileSync(
      manager.path('api', 'configuration', 'api.yaml'),
      'host: ["127.0.0.1"]\nport: 0\naccess:\n  max_request_per_minute: 0\n',
    );
    for (const name of MANAGER) await start(manager, name);
    const added = await call<{ data: { id: string; key: string } }>('POST', '/agents', { name: 'web01' });
    ({ id } = added.data);
    const identity = decodeKeyText(added.data.key);
    if (identity === undefined) throw new Error('no key');
    writeFileSync(agent.path('etc', 'client.keys'), keyLine(identity));
    configure('');
    writeFileSync(path('first'), 'first\n');
    for (const name of NAMES) writeFileSync(path(name), `content of ${shown(name)}`);
    await start(agent, 'svc-agentd');
  });
  after(async () => {
    for (const client of [db, remoted, syscheckd]) client.close();
    await Promise.all([...daemons.values()].map((daemon) => daemon.stop('SIGKILL')));
    manager.remove();
    agent.remove();
  });

  async function start(home: TemporaryHome, name: DaemonName): Promise<void> {
    daemons.set(`${home.root} ${name}`, await RunningDaemon.start(name, home));
  }

  function configure(more: string): void {
    const port = daemons.get(`${manager.root} svc-remoted`)?.port('agents_tcp');
    writeFileSync(
      agent.path('etc', 'manager.conf'),
      `<manager_config>
         <client>
           <server><address>127.0.0.1</address><port>${port}</port><retry_interval>1</retry_interval></server>
           <notify_time>1</notify_time><enrollment><enabled>no</enabled></enrollment>
         </client>
         <syscheck><directories>${agent.path('watched')}</directories>${SYNCHRONIZATION}${more}</syscheck>
         <rootcheck><disabled>yes</disabled></rootcheck>
       </manager_config>\n`,
    );
  }

  /** @param name bytes */
  function path(name: string): Buffer {
    return Buffer.concat([Buffer.from(`${agent.path('watched')}/`), Buffer.from(name, 'latin1')]);
  }

  async function call<T>(method: string, where: string, body?: object): Promise<T> {
    const headers: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
    const text = body === undefined ? undefined : JSON.stringify(body);
    return (await eventually(`${method} ${where}`, () => api.call(method, where, headers, text))).json() as T;
  }

  const records = async (of: string, query = ''): Promise<Item[]> => {
    const answer = await call<Partial<ApiList>>('GET', `/syscheck/${of}${query}`);
    return answer.data?.affected_items ?? [];
  };
  const names = (items: readonly Item[]): string[] =>
    items.map(({ file }) => String(file).split('/').slice(-1)[0] ?? '');
  const alerts = (): string[] => {
    const file = manager.path('logs', 'alerts', 'alerts.json');
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
    return lines
      .map((line) => JSON.parse(line) as Alert)
      .filter(({ syscheck }) => syscheck !== undefined)
      .map(({ rule, agent: { id: from }, syscheck }) => `${rule.id} ${from} ${syscheck?.path.split('/').at(-1) ?? ''}`);
  };
  const scans = async (): Promise<number> => (await syscheckd.call('scan.status', {})).fim.count;

  it('come to the manager by synchronisation alone, whatever bytes their names have', async () => {
    await start(agent, 'svc-syscheckd');
    await eventually('all are there', async () => (await records(id)).length === NAMES.length + 1, WAIT_MS);
    expect(names(await records(id)).sort()).to.deep.equal(['first', ...NAMES.map(shown)].sort());
    const { ino, uid, gid, size, mode } = lstatSync(path('first'));
    const [record] = await records(id, `?hash=${sha1('first\n')}`);
    expect(record).to.include({
      size,
      inode: ino,
      uid: String(uid),
      gid: String(gid),
      sha1: sha1('first\n'),
      changes: 1,
    });
    expect(record).to.include({ file: path('first').toString(), type: 'file' });
    expect(String(record?.['perm'])).to.match((mode & 0o200) === 0 ? /^r-/ : /^rw/);
    expect(alerts()).to.deep.equal([]);
  });

  it('are synchronised on the manager itself, which is agent 000', async () => {
    for (const name of NAMES.slice(0, 5)) writeFileSync(manager.path('watched', name), name);
    await start(manager, 'svc-syscheckd');
    await eventually('all are there', async () => (await records('000')).length === 5, WAIT_MS);
    expect(names(await records('000')).sort()).to.deep.equal(NAMES.slice(0, 5).sort());
    expect(await records('000', `?hash=${sha1('100%')}`)).to.have.length(1);
  });

  it('are told of by events when they change', async () => {
    const before = await scans();
    writeFileSync(path('first'), 'second\n');
    writeFileSync(path('added'), 'added\n');
    rmSync(path('\xff\xfe'));
    writeFileSync(manager.path('watched', 'added'), 'added\n');
    const answer = await call<ApiList>('PUT', `/syscheck?agents_list=000,${id}`);
    expect(answer).to.have.nested.property('data.total_affected_items', 2);
    await eventually('the scan', async () => (await scans()) > before, WAIT_MS);
    await eventually('four alerts', () => alerts().length >= 4, WAIT_MS);
    expect(alerts().sort()).to.deep.equal(
      [`550 ${id} first`, `554 ${id} added`, `553 ${id} ${shown('\xff\xfe')}`, '554 000 added'].sort(),
    );
    await eventually('the change', async () => (await records(id, `?hash=${sha1('second\n')}`)).length === 1, WAIT_MS);
    const left = ['first', 'added', ...NAMES.filter((name) => name !== '\xff\xfe').map(shown)];
    await eventually('the others', async () => (await records(id)).length === left.length, WAIT_MS);
    expect(names(await records(id)).sort()).to.deep.equal(left.sort());
    expect((await records(id, '?search=first'))[0]).to.include({ sha1: sha1('second\n'), changes: 2 });
  });

  it('come back by synchronisation when the manager has lost them, without alerts', async () => {
    const before = alerts().length;
    const count = (await records(id)).length;
    for (const of of [id, '000']) {
      const whole = await records(of);
      await db.call('fim.clear', { agents: [of] });
      await eventually(`${of} has all again`, async () => (await records(of)).length === whole.length, WAIT_MS);
      expect(names(await records(of)).sort()).to.deep.equal(names(whole).sort());
    }
    // One that is wrong, one that is gone, and one that never was.
    const directory = agent.path('watched');
    const attributes = { type: 'file', checksum: '0'.repeat(40), inode: '1', size: 1, hash_sha1: sha1('wrong') };
    for (const file of ['added', 'never']) {
      const state = {
        component: 'fim_file',
        data: { attributes, index: `${directory}/${file}`, timestamp: 1 },
        type: 'state',
      };
      await db.call('fim.sync', { agent: id, message: Buffer.from(JSON.stringify(state)) });
    }
    await eventually(
      'the manager is right again',
      async () => {
        const items = await records(id);
        const added = items.find(({ file }) => file === `${directory}/added`);
        return items.length === count && added?.['sha1'] === sha1('added\n');
      },
      WAIT_MS,
    );
    expect(names(await records(id))).not.to.include('never');
    expect(alerts()).to.have.length(before);
  });

  it('are shown by the configuration that is in force', async () => {
    const { answer } = await remoted.call('agents.request', { id, target: 'syscheck', payload: 'getconfig syscheck' });
    expect(JSON.parse(answer.slice(3))).to.have.nested.property('syscheck.directories[0].dir', agent.path('watched'));
    const active = await call<{ data: object }>('GET', `/agents/${id}/config/syscheck/syscheck`);
    expect(active.data).to.have.nested.property('syscheck.synchronization.interval', 1);
  });

  it('are synchronised after svc-syscheckd and svc-agentd were killed', async () => {
    const known = readdirSync(agent.path('watched')).length;
    for (const name of AGENT) await daemons.get(`${agent.root} ${name}`)?.stop('SIGKILL');
    await db.call('fim.clear', { agents: [id] });
    writeFileSync(path('meanwhile'), 'meanwhile\n');
    for (const name of AGENT) await start(agent, name);
    await eventually('all are there', async () => (await records(id)).length === known + 1, WAIT_MS);
    // What changed meanwhile is told, once.
    await eventually('the alert', () => alerts().includes(`554 ${id} meanwhile`), WAIT_MS);
    expect(alerts().filter((alert) => alert.endsWith('meanwhile'))).to.have.length(1);
  });
});
