import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { initHome } from '../../../bin/control/home/init-home.js';
import { decodeKeyText } from '../../../lib/agents/key-text.js';
import type { HttpMethod } from '../../../lib/contract/api-contract.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { MinimalAgent } from '../../support/agentlink/minimal-agent.js';
import { ApiClient } from '../../support/api/api-client.js';
import type { ApiList } from '../../support/api/api-list.js';
import { ResponseChecker } from '../../support/api/response-checker.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { fileAttributes, type FileFacts, fimEvent, fimState } from '../../support/syscheckd/fim-kit.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const DAEMONS: readonly DaemonName[] = ['svc-db', 'svc-authd', 'svc-analysisd', 'svc-remoted', 'svc-apid'];
const WAIT_MS = 30_000;
const LIST = '/syscheck/{agent_id}';
const DEMO = '/etc/demo';
/** The file of integrity-and-inventory.md 4.2, before and after its change, and after another one. */
const BEFORE: FileFacts = { content: 'hello world\n', mtime: 1_700_000_000, inode: 131_075 };
const AFTER: FileFacts = { content: 'hello world!\n', mtime: 1_700_000_500, inode: 131_075 };
const LATER: FileFacts = { content: 'hello\n', mtime: 1_700_000_900, inode: 131_075 };
const ROOTKIT = "Rootkit 'Demo' detected by the presence of file '/tmp/demo'.";

type Alert = {
  readonly rule: { readonly id: string };
  readonly agent: { readonly id: string };
  readonly syscheck?: object;
};

describe('file integrity from an agent to the API over HTTPS, with the real daemons', function () {
  this.timeout(120_000);
  const home = new TemporaryHome();
  const checker = new ResponseChecker();
  const api = new ApiClient(home);
  const daemons = new Map<DaemonName, RunningDaemon>();
  let agent: MinimalAgent;
  let id = '';

  before(async () => {
    await initHome(home, { role: 'server' });
    writeFileSync(
      home.path('etc', 'manager.conf'),
      `<manager_config>
         <remote><connection>secure</connection><port>0</port><protocol>tcp</protocol><local_ip>127.0.0.1</local_ip></remote>
         <auth><port>0</port><disabled>no</disabled></auth>
       </manager_config>\n`,
    );
    writeFileSync(
      home.path('api', 'configuration', 'api.yaml'),
      'host: ["127.0.0.1"]\nport: 0\naccess:\n  max_request_per_minute: 0\n',
    );
    for (const name of DAEMONS) daemons.set(name, await RunningDaemon.start(name, home));
    const added = await call<{ data: { id: string; key: string } }>('POST', '/agents', '/agents', { name: 'web01' });
    ({ id } = added.data);
    agent = new MinimalAgent(decodeKeyText(added.data.key)!);
  });
  after(async () => {
    agent.close();
    await Promise.all([...daemons.values()].map((daemon) => daemon.stop('SIGKILL')));
    home.remove();
  });

  /** Asks over HTTPS; the answer follows the contract. */
  async function call<T>(method: HttpMethod, path: string, template: string, body?: object): Promise<T> {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const answer = await eventually(`${method} ${path}`, () =>
      api.call(method, path, headers, body === undefined ? undefined : JSON.stringify(body)),
    );
    checker.check(method, template, answer);
    return answer.json() as T;
  }
  const records = async (query = '') => {
    const answer = await call<ApiList>('GET', `/syscheck/${id}${query}`, LIST);
    return answer.data.affected_items;
  };
  const changes = async (path: string) => (await records(`?file=${path}`))[0]?.['changes'];
  const becomes = (count: number) =>
    eventually(`${DEMO} has ${count} changes`, async () => (await changes(DEMO)) === count, WAIT_MS);
  const alerts = (): Alert[] => {
    const path = home.path('logs', 'alerts', 'alerts.json');
    const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
    return lines.map((line) => JSON.parse(line) as Alert).filter((alert) => alert.syscheck !== undefined);
  };
  const send = (...messages: readonly string[]) => {
    for (const message of messages) agent.event('syscheck', message, '8');
  };

  it('has nothing of an agent that never connected', async () => {
    expect(await call('GET', `/syscheck/${id}`, LIST)).to.include({ error: 2007 });
    const scan = '/syscheck/{agent_id}/last_scan';
    const { data } = await call<ApiList>('GET', `/syscheck/${id}/last_scan`, scan);
    expect(data.affected_items).to.deep.equal([{ start: null, end: null }]);
    await agent.startWhenKnown(daemons.get('svc-remoted')!.port('agents_tcp'));
    agent.keepalive();
    await eventually(
      'the agent is active',
      async () =>
        (await call<ApiList>('GET', '/agents?status=active&q=id!=000', '/agents')).data.total_affected_items === 1,
      WAIT_MS,
    );
    expect(await call('GET', `/syscheck/${id}`, LIST)).to.include({
      message: 'No FIM information was returned',
      error: 0,
    });
  });

  it('shows a file that was added, modified and deleted, each as an alert and as a record', async () => {
    send('{"type":"scan_start","data":{"timestamp":1700000000}}', fimEvent('added', DEMO, fileAttributes(BEFORE)));
    await becomes(1);
    const { sha1, md5 } = Object.fromEntries(
      ['md5', 'sha1'].map((name) => [name, String(fileAttributes(AFTER)[`hash_${name}`])]),
    );
    expect(await records(`?hash=${sha1!}`)).to.deep.equal([]);
    send(fimEvent('modified', DEMO, fileAttributes(AFTER)), '{"type":"scan_end","data":{"timestamp":1700000060}}');
    await becomes(2);
    for (const hash of [sha1!, md5!]) {
      expect((await records(`?hash=${hash}`))[0]).to.include({ file: DEMO, sha1, md5, size: 13, changes: 2 });
    }
    expect(await records('?search=/ETC/demo')).to.have.length(1);
    const scan = await eventually('the scan has ended', async () => {
      const template = '/syscheck/{agent_id}/last_scan';
      const { data } = await call<ApiList>('GET', `/syscheck/${id}/last_scan`, template);
      return data.affected_items[0]?.['end'] === null ? undefined : data.affected_items;
    });
    expect(scan).to.deep.equal([{ start: '2023-11-14T22:13:20Z', end: '2023-11-14T22:14:20Z' }]);
    send(fimEvent('deleted', DEMO, fileAttributes(AFTER)));
    await eventually('it is gone', async () => (await records()).length === 0, WAIT_MS);
    await eventually('its alerts are written', () => alerts().length >= 3, WAIT_MS);
    expect(alerts().map(({ rule, agent: { id: from } }) => [rule.id, from])).to.deep.equal([
      ['554', id],
      ['550', id],
      ['553', id],
    ]);
    expect(alerts()[1]?.syscheck).to.include({ path: DEMO, event: 'modified', sha1_after: sha1 });
  });

  it('takes what an agent synchronises, and says what it does not have', async () => {
    const path = '/etc/synced';
    const data = { begin: path, end: path, id: 1_700_001_000 };
    const check = JSON.stringify({
      component: 'fim_file',
      data: { ...data, checksum: fileAttributes(BEFORE)['checksum'] },
      type: 'integrity_check_global',
    });
    agent.event('fim_file', check, '5');
    await agent.until('is asked for its files', () =>
      agent.received.includes(`fim_file dbsync no_data ${JSON.stringify(data)}`),
    );
    agent.event('fim_file', fimState(path, fileAttributes(BEFORE)), '5');
    await eventually('it is shown', async () => (await changes(path)) === 1, WAIT_MS);
    expect((await records())[0]).to.include({ file: path, attributes: '', size: 12 });
  });

  it('loses no change and counts none twice when svc-db and svc-analysisd are killed', async () => {
    send(fimEvent('added', DEMO, fileAttributes(BEFORE)));
    await becomes(1);
    const before = alerts().length;
    await daemons.get('svc-db')!.stop('SIGKILL');
    send(fimEvent('modified', DEMO, fileAttributes(AFTER)));
    await eventually('its alert is written', () => alerts().length > before, WAIT_MS);
    await daemons.get('svc-analysisd')!.stop('SIGKILL');
    for (const name of ['svc-db', 'svc-analysisd'] as const) {
      daemons.set(name, await RunningDaemon.start(name, home));
    }
    await becomes(2);
    send(fimEvent('modified', DEMO, fileAttributes(LATER)));
    await becomes(3);
    await eventually('each change has its alert', () => alerts().length === before + 2, WAIT_MS);
  });

  it('answers every parameter of the list as the specification says', async () => {
    // What is there by now: one file from an event, one that was synchronised.
    const event = fileAttributes(LATER);
    const files = async (query: string) => (await records(`?sort=file&${query}`)).map(({ file }) => file);
    const hashes = { md5: event['hash_md5'], sha1: event['hash_sha1'], sha256: event['hash_sha256'] };
    for (const [name, value] of Object.entries(hashes)) {
      expect(await files(`hash=${String(value)}`), name).to.deep.equal([DEMO]);
      expect(await files(`${name}=${String(value).toUpperCase()}`), name).to.deep.equal([DEMO]);
    }
    expect(await files('search=synced')).to.deep.equal(['/etc/synced']);
    expect(await files('search=-synced')).to.deep.equal([DEMO]);
    expect(await files('q=size>6;type=file')).to.deep.equal(['/etc/synced']);
    expect(await files('q=mtime<1d')).to.deep.equal([]);
    expect(await files('q=(size=6,size=7);uname=root')).to.deep.equal([DEMO]);
    expect(await files('file=/ETC/DEMO')).to.deep.equal([DEMO]);
    expect((await records('?sort=-size')).map(({ file }) => file)).to.deep.equal(['/etc/synced', DEMO]);
    expect(await records('?select=md5&file=/etc/demo')).to.deep.equal([{ file: DEMO, md5: hashes.md5 }]);
    const [summary = {}] = await records('?summary=true');
    expect(Object.keys(summary).sort()).to.deep.equal(['date', 'file', 'mtime']);
    expect(await records('?distinct=true&select=uname')).to.deep.equal([{ uname: 'root' }]);
    expect(await records(`?file=${DEMO}`)).to.deep.equal([
      {
        file: DEMO,
        perm: 'rw-r--r--',
        ...hashes,
        changes: 3,
        inode: 131_075,
        size: 6,
        uid: '0',
        gid: '0',
        uname: 'root',
        gname: 'root',
        mtime: '2023-11-14T22:28:20Z',
        date: '2023-11-14T22:23:20Z',
        type: 'file',
      },
    ]);
    const refusals = {
      'q=colour=red': 1408,
      'sort=colour': 1403,
      'select=colour': 1724,
      'q=size%3E': 1407,
    };
    for (const [query, error] of Object.entries(refusals)) {
      expect(await call('GET', `/syscheck/${id}?${query}`, LIST), query).to.include({ error });
    }
    send('{"type":"scan_start","data":{"timestamp":1700000900}}');
    const scan = '/syscheck/{agent_id}/last_scan';
    await eventually('a scan is running', async () => {
      const { data } = await call<ApiList>('GET', `/syscheck/${id}/last_scan`, scan);
      return data.affected_items[0]?.['end'] === null && data.affected_items[0]['start'] === '2023-11-14T22:28:20Z';
    });
    const unknown = await call<ApiList>('PUT', '/syscheck?agents_list=998', '/syscheck');
    expect(unknown.data.failed_items.map(({ error, id: ids }) => [error.code, ...ids])).to.deep.equal([[1701, '998']]);
    const added = await call<{ data: { id: string } }>('POST', '/agents', '/agents', { name: 'never' });
    const away = await call<ApiList>('PUT', `/syscheck?agents_list=${added.data.id}`, '/syscheck');
    expect(away.data.failed_items.map(({ error }) => error.code)).to.deep.equal([1707]);
  });

  it('takes the text form of agents before 3.11, as alerts and as records', async () => {
    const path = '/etc/old file';
    const sum = (size: number) =>
      `${String(size)}:33188:0:0:${'a'.repeat(32)}:${'b'.repeat(40)}:root:root:1700000000:7`;
    const before = alerts().length;
    send('fim-db-start-first-scan', `${sum(1)} ${path}`, 'fim-db-end-first-scan');
    send(`${sum(1)} ${path}`, `${sum(2)} ${path}\n1c1\n< a\n---\n> b\n`);
    await eventually('the change is stored', async () => (await changes(encodeURIComponent(path))) === 2, WAIT_MS);
    expect((await records(`?file=${encodeURIComponent(path)}`))[0]).to.include({ size: 2, perm: '100644', inode: 7 });
    send(`-1 ${path}`);
    await eventually('its alerts are written', () => alerts().length === before + 2, WAIT_MS);
    const told = alerts().slice(before);
    expect(told.map(({ rule }) => rule.id)).to.deep.equal(['550', '553']);
    expect(told[0]?.syscheck).to.deep.include({
      path,
      size_before: '1',
      size_after: '2',
      changed_attributes: ['size'],
    });
    await eventually('it is gone', async () => (await records()).length === 2, WAIT_MS);
  });

  it('shows what rootcheck found, and forgets it', async () => {
    const list = '/rootcheck/{agent_id}';
    for (const text of ['Starting rootcheck scan.', ROOTKIT, 'Ending rootcheck scan.']) {
      agent.event('rootcheck', text, '9');
    }
    const scan = await eventually('the scan has ended', async () => {
      const template = '/rootcheck/{agent_id}/last_scan';
      const { data } = await call<ApiList>('GET', `/rootcheck/${id}/last_scan`, template);
      return data.affected_items[0]?.['end'] === null ? undefined : data.affected_items[0];
    });
    expect(scan?.['start']).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const found = await call<ApiList>('GET', `/rootcheck/${id}`, list);
    expect(found.data.affected_items).to.have.length(1);
    expect(found.data.affected_items[0]).to.include({ log: ROOTKIT, status: 'outstanding' });
    expect(await call('DELETE', `/rootcheck/${id}`, list)).to.include({ error: 0 });
    const none = await call<ApiList>('GET', `/rootcheck/${id}`, list);
    expect(none).to.deep.include({ message: 'No rootcheck information was returned', error: 0 });
  });

  it('orders the agent to scan, and keeps its files for itself', async () => {
    for (const path of ['/syscheck', '/rootcheck']) {
      agent.received.length = 0;
      const answer = await call<ApiList>('PUT', `${path}?agents_list=000,${id}`, path);
      expect(answer).to.include({ error: 2 });
      expect(answer.data.affected_items).to.deep.equal([id]);
      expect(answer.data.failed_items.map(({ error, id: ids }) => [error.code, ...ids])).to.deep.equal([[1017, '000']]);
      await agent.until('scans', () => agent.received.includes('syscheck restart'));
    }
    const kept = await call<ApiList>('DELETE', `/syscheck/${id}`, LIST);
    expect(kept.data.failed_items[0]?.error.code).to.equal(1760);
    expect(await records()).to.have.length(2);
    await call('DELETE', `/agents?agents_list=${id}&status=all&older_than=0s`, '/agents');
    expect(await call('GET', `/syscheck/${id}`, LIST)).to.include({ error: 2007 });
  });
});
