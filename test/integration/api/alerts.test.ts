import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { initHome } from '../../../bin/control/home/init-home.js';
import { Home } from '../../../lib/home/home.js';
import { EventClient } from '../../support/api/event-client.js';
import { httpRequest } from '../../support/api/http-request.js';
import { ResponseChecker } from '../../support/api/response-checker.js';
import { basic, TEST_PASSWORD } from '../../support/api/test-api.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { removeTree } from '../../support/remove-tree.js';
import { watchLittle } from '../../support/watch-little.js';

const PASSWORD = 'Correct-42-horse';
/** An event that the shipped rules have an alert for. */
const failure = (address: string): string =>
  `Dec 10 01:02:02 host sshd[1234]: Failed password for invalid user admin from ${address} port 41234 ssh2`;

type Alert = { alert_id: string; id: string; data: { srcip: string } };

describe('alerts from the event to the API', function () {
  this.timeout(120_000);
  const parent = mkdtempSync(join(tmpdir(), 'svc-alerts-'));
  const home = new Home(join(parent, 'h'));
  const checker = new ResponseChecker();
  let analysisd: RunningDaemon;
  let db: RunningDaemon;
  let apid: RunningDaemon;
  let token: string;

  before(async () => {
    await initHome(home, { role: 'server' });
    watchLittle(home);
    writeFileSync(home.path('api', 'configuration', 'api.yaml'), 'host: ["127.0.0.1"]\nport: 0\n');
    writeFileSync(home.path('api', 'configuration', 'security', 'initial-admin-password'), `${TEST_PASSWORD}\n`, {
      mode: 0o600,
    });
    [db, analysisd] = await Promise.all([
      RunningDaemon.start('svc-db', home),
      RunningDaemon.start('svc-analysisd', home),
    ]);
    apid = await RunningDaemon.start('svc-apid', home);
    token = await login('admin', TEST_PASSWORD);
  });
  after(async () => {
    for (const daemon of [apid, analysisd, db]) await daemon.stop('SIGKILL');
    removeTree(parent);
  });

  const request = (method: string, path: string, headers: Record<string, string>, body?: object) =>
    httpRequest({
      ...{ port: apid.port('api'), tls: true, method, path },
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const login = async (name: string, password: string) => {
    const headers = { authorization: basic(name, password) };
    const answer = await request('POST', '/security/user/authenticate?raw=true', headers);
    expect(answer.status, answer.text).to.equal(200);
    return answer.text;
  };
  const call = (method: string, path: string, body?: object, as = token) =>
    request(method, path, { authorization: `Bearer ${as}` }, body);
  const send = async (...addresses: string[]) => {
    const answer = await call('POST', '/events', { events: addresses.map(failure) });
    expect(answer.status, answer.text).to.equal(200);
  };
  const find = async (query: string, as = token) => {
    const answer = await call('GET', `/alerts?${query}`, undefined, as);
    expect(answer.status, answer.text).to.equal(200);
    checker.check('GET', '/alerts', answer);
    return answer.json() as { data: { affected_items: Alert[]; total_affected_items: number } };
  };
  const from = (address: string) => `srcip=${address}`;

  it('are found after the event, by field and word, and as they are in alerts.json', async () => {
    await send('192.0.2.7');
    const [alert] = await eventually('the alert', async () => {
      const { affected_items: items } = (await find(from('192.0.2.7'))).data;
      return items.length > 0 && items;
    });
    const { alert_id: id, ...rest } = alert!;
    const lines = readFileSync(home.path('logs/alerts/alerts.json'), 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line) as object)).to.deep.include(rest);
    for (const query of [
      'search=%22invalid user admin%22&min_level=5'.replaceAll(' ', '%20'),
      'q=data.srcip%3D192.0.2.7;rule.level%3E4',
      'agents_list=000&decoders=sshd&from=now-1h',
    ]) {
      expect(
        (await find(query)).data.affected_items.map((item) => item.alert_id),
        query,
      ).to.include(id);
    }
    for (const name of [id, rest.id]) {
      const one = await call('GET', `/alerts/${name}`);
      checker.check('GET', '/alerts/{alert_id}', one);
      expect((one.json() as { data: { affected_items: Alert[] } }).data.affected_items).to.deep.equal([alert]);
    }
    const top = await call('GET', '/alerts/top?field=data.srcip');
    checker.check('GET', '/alerts/top', top);
    expect((top.json() as { data: { affected_items: object[] } }).data.affected_items).to.deep.include({
      value: '192.0.2.7',
      count: 1,
    });
    const histogram = await call('GET', '/alerts/histogram?from=now-1h&by=rule.id');
    checker.check('GET', '/alerts/histogram', histogram);
    expect((histogram.json() as { data: { total_alerts: number } }).data.total_alerts).to.be.greaterThan(0);
    expect((await call('GET', '/alerts?search=%22open')).json()).to.include({ error: 8003 });
    expect((await call('GET', '/alerts/20000101-000-0')).json()).to.include({ error: 8001 });
  });

  it('come in pages without one twice or missing', async () => {
    const addresses = Array.from({ length: 25 }, (_none, index) => `198.51.100.${index}`);
    await send(...addresses);
    await eventually(
      'all',
      async () => (await find('q=data.srcip~198.51.100&limit=1')).data.total_affected_items >= 25,
    );
    for (const order of ['desc', 'asc']) {
      const found: string[] = [];
      for (let cursor = ''; ;) {
        const { data } = await find(`q=data.srcip~198.51.100&limit=7&order=${order}${cursor}`);
        found.push(...data.affected_items.map((item) => item.data.srcip));
        const { next_cursor: next } = data as unknown as { next_cursor: string | null };
        if (next === null) break;
        cursor = `&cursor=${next}`;
      }
      expect(found).to.deep.equal(order === 'asc' ? addresses : addresses.toReversed());
    }
  });

  it('come over a stream, also when svc-db is killed meanwhile, each once', async () => {
    const client = await EventClient.open(apid.port('api'), '/alerts/stream?min_level=5', token, { tls: true });
    const next = async () => (JSON.parse((await client.nextOf('alert')).data) as Alert).data.srcip;
    await send('203.0.113.1');
    expect(await next()).to.equal('203.0.113.1');
    await db.stop('SIGKILL');
    await send('203.0.113.2');
    expect((await client.next()).event).to.equal('waiting');
    db = await RunningDaemon.start('svc-db', home);
    expect((await client.next()).event).to.equal('resumed');
    await send('203.0.113.3');
    expect([await next(), await next()]).to.deep.equal(['203.0.113.2', '203.0.113.3']);
    client.close();
    await send('203.0.113.4');
    const options = { tls: true, lastId: client.lastId! };
    const again = await EventClient.open(
      apid.port('api'),
      '/alerts/stream?srcip=203.0.113.3,203.0.113.4',
      token,
      options,
    );
    expect((JSON.parse((await again.nextOf('alert')).data) as Alert).data.srcip).to.equal('203.0.113.4');
    again.close();
  });

  it('are hidden from who may see other agents alone', async () => {
    const policy = { actions: ['alerts:read'], resources: ['agent:id:007'], effect: 'allow' };
    await call('POST', '/security/policies', { name: 'others', policy });
    await call('POST', '/security/roles', { name: 'others' });
    await call('POST', '/security/roles/100/policies?policy_ids=100');
    await call('POST', '/security/users', { username: 'maria', password: PASSWORD });
    expect((await call('POST', '/security/users/100/roles?role_ids=100')).status).to.equal(200);
    const maria = await login('maria', PASSWORD);
    expect((await find('limit=1')).data.total_affected_items).to.be.greaterThan(20);
    expect((await find('limit=1', maria)).data.total_affected_items).to.equal(0);
    expect((await call('GET', '/alerts?agents_list=000', undefined, maria)).status).to.equal(403);
    const client = await EventClient.open(apid.port('api'), '/alerts/stream', maria, { tls: true });
    await send('192.0.2.99');
    await eventually('it', async () => (await find(from('192.0.2.99'))).data.total_affected_items === 1);
    await call('DELETE', '/security/user/authenticate', undefined, maria);
    expect([(await client.next()).event, (await client.next()).event]).to.deep.equal(['begin', 'end']);
  });
});
