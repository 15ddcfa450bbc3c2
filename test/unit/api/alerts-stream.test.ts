import { connect } from 'node:net';
import { expect } from 'chai';
import { EventClient } from '../../support/api/event-client.js';
import { FakeAlerts } from '../../support/api/fake-alerts.js';
import { addUser, policy } from '../../support/api/rbac-user.js';
import { TestApi } from '../../support/api/test-api.js';
import { DbServer } from '../../support/db/db-server.js';
import { eventually } from '../../support/eventually.js';

const USER = { name: 'someone', password: 'Other-42-password' };
const TIMES = { checkMs: 10, heartbeatMs: 50, maxStallMs: 300 };

describe('a stream of alerts', () => {
  let api: TestApi;
  let db: DbServer;
  let alerts: FakeAlerts;
  const clients: EventClient[] = [];

  beforeEach(async () => {
    api = new TestApi();
    const settings = { access: { maxLoginAttempts: 99, blockSeconds: 1, maxRequestsPerMinute: 0 } };
    await api.start({ ...settings, requestTimeoutMs: 300 }, { streamTimes: TIMES });
    alerts = new FakeAlerts();
    db = await DbServer.start(api.home, () => api.now, 'node01', alerts.handlers);
    await db.fill(3);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await api.stop();
    await db.stop();
    await api.remove();
  });

  const open = async (path = '/alerts/stream', token?: string, lastId?: string) => {
    const options = lastId === undefined ? {} : { lastId };
    const client = await EventClient.open(api.port, path, token ?? (await api.login()), options);
    clients.push(client);
    expect(await client.next()).to.include({ event: 'begin' });
    return client;
  };
  const add = (rest: { level?: number; agent?: string; text?: string } = {}) => alerts.add({ time: api.now, ...rest });
  const streams = () => api.api.stats()['streams'];

  it('has alerts from then on, as they are, for longer than a request may take', async () => {
    add();
    const client = await open();
    expect(client.response.headers).to.include({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    const id = add({ text: 'é "quoted"' });
    const event = await client.next();
    expect(event).to.include({ event: 'alert', id });
    expect(JSON.parse(event.data)).to.deep.include({ alert_id: id, full_log: 'é "quoted"' });
    const began = performance.now();
    while (performance.now() - began < 400) await client.heartbeat();
    const later = add();
    expect(await client.nextAlert()).to.equal(later);
    expect(streams()).to.equal(1);
  });

  it('has those alone that its filters mean', async () => {
    const client = await open('/alerts/stream?min_level=7&agents_list=001,002');
    add({ level: 9 });
    add({ level: 3, agent: '001' });
    const id = add({ level: 7, agent: '002' });
    expect(await client.nextAlert()).to.equal(id);
  });

  it('goes on behind the last id, and heartbeats say how far it is', async () => {
    const first = add({ level: 9 });
    const second = add({ level: 9 });
    const client = await open('/alerts/stream?min_level=7', undefined, first);
    expect(await client.nextAlert()).to.equal(second);
    const other = add();
    await eventually('a heartbeat behind it', () => client.lastId !== undefined && client.lastId > other);
    client.close();
    const missed = [add({ level: 7 }), add(), add({ level: 8 })];
    const again = await open('/alerts/stream?min_level=7', undefined, client.lastId!);
    expect([await again.nextAlert(), await again.nextAlert()]).to.deep.equal([missed[0], missed[2]]);
  });

  it('ends when the token expires, with a word, and before another alert is sent', async () => {
    const client = await open();
    api.now += 900_000;
    add();
    const end = await client.next();
    expect(end).to.include({ event: 'end' });
    expect(JSON.parse(end.data)).to.include({ reason: 'unauthorized' });
    expect(await client.next()).to.include({ event: '' });
    await eventually('0 streams', () => streams() === 0);
  });

  it('ends when the token is revoked', async () => {
    const token = await api.login();
    const client = await open('/alerts/stream', token);
    await api.request('DELETE', '/security/user/authenticate', { headers: { authorization: `Bearer ${token}` } });
    expect(JSON.parse((await client.next()).data)).to.include({ reason: 'unauthorized' });
  });

  it('ends when the rights of its user change', async () => {
    await addUser(api, USER, [policy('allow', 'alerts:read', 'agent:id:*')]);
    const client = await open('/alerts/stream', await api.login(USER.name, USER.password));
    expect((await api.call('POST', '/security/users/100/roles?role_ids=4')).status).to.equal(200);
    add();
    expect(JSON.parse((await client.next()).data)).to.include({ reason: 'unauthorized' });
  });

  it('ends with a word when the API stops, which waits for no stream', async () => {
    const client = await open();
    const began = performance.now();
    await api.stop();
    expect(performance.now() - began).to.be.lessThan(2500);
    expect(JSON.parse((await client.next()).data)).to.include({ reason: 'stopping' });
    await api.open();
  });

  it('shows a user the alerts of his agents alone', async () => {
    await addUser(api, USER, [policy('allow', 'alerts:read', 'agent:id:002')]);
    const token = await api.login(USER.name, USER.password);
    const client = await open('/alerts/stream', token);
    add({ agent: '001' });
    add();
    const id = add({ agent: '002' });
    expect(await client.nextAlert()).to.equal(id);
    const named = await EventClient.open(api.port, '/alerts/stream?agents_list=001,002', token);
    clients.push(named);
    expect(JSON.parse((await named.next()).data)).to.deep.equal({ agents_denied: ['001'] });
    expect(
      (await api.request('GET', '/alerts/stream?agents_list=001', { headers: { authorization: `Bearer ${token}` } }))
        .status,
    ).to.equal(403);
  });

  it('waits for svc-db and misses nothing when that comes back', async () => {
    const client = await open();
    const first = add();
    expect(await client.nextAlert()).to.equal(first);
    await db.stop();
    const missed = add();
    expect((await client.nextOf('waiting')).data).to.include('svc-db');
    db = await DbServer.start(api.home, () => api.now, 'node01', alerts.handlers);
    expect(await client.next()).to.include({ event: 'resumed' });
    expect(await client.nextAlert()).to.equal(missed);
  }).timeout(20_000);

  it('is cut off when nobody reads it, and gives its place back', async () => {
    const socket = connect(api.port, '127.0.0.1');
    socket.pause();
    socket.write(`GET /alerts/stream HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${await api.login()}\r\n\r\n`);
    await eventually('1 streams', () => streams() === 1);
    const text = 'x'.repeat(100_000);
    for (let count = 0; count < 250; count += 1) add({ text });
    await eventually('0 streams', () => streams() === 0);
    socket.destroy();
  }).timeout(20_000);

  it('is refused where a user has too many, until one ends', async () => {
    const token = await api.login();
    const open8 = await Promise.all(Array.from({ length: 8 }, () => open('/alerts/stream', token)));
    const headers = { authorization: `Bearer ${token}` };
    const refused = await api.request('GET', '/alerts/stream', { headers });
    expect(refused.status).to.equal(429);
    expect(refused.headers).to.include({ 'retry-after': '30' });
    expect(refused.json()).to.include({
      error: 8004,
      detail: 'Too many streams of alerts are open: a user may have 8',
    });
    // A HEAD takes no place.
    open8[0]!.close();
    await eventually('7 streams', () => streams() === 7);
    for (let count = 0; count < 3; count += 1) {
      expect((await api.request('HEAD', '/alerts/stream', { headers })).status).to.equal(200);
    }
    await open('/alerts/stream', token);
    // One question waits in svc-db, however many streams there are.
    const waits = alerts.asked.filter(
      ({ method, params }) => method === 'follow' && 'waitMs' in params && params.waitMs !== 0,
    );
    expect(waits.length).to.be.lessThan(4);
  });

  it('is refused before it begins where the request is wrong or the store is off', async () => {
    const status = async (path: string, headers: Record<string, string> = {}) => {
      const answer = await api.call('GET', path, undefined, headers);
      return [answer.status, (answer.json() as { error?: number }).error];
    };
    expect(await status('/alerts/stream?q=x')).to.deep.equal([400, 1407]);
    expect(await status('/alerts/stream?from=now')).to.deep.equal([400, undefined]);
    expect(await status('/alerts/stream', { 'last-event-id': 'x' })).to.deep.equal([400, undefined]);
    expect(await status('/alerts/stream', { 'last-event-id': '20261127-000-1@node09' })).to.deep.equal([
      400,
      undefined,
    ]);
    alerts.isOff = true;
    expect(await status('/alerts/stream')).to.deep.equal([503, 8000]);
    expect((await api.request('GET', '/alerts/stream')).status).to.equal(401);
    expect(streams()).to.equal(0);
  });
});
