import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { expect } from 'chai';
import { API_CONNECTIONS } from '../../../api/http/api-connections.js';
import { CONNECTION_TIMES } from '../../../api/http/api-server.js';
import { httpRequest, type TestRequest } from '../../support/api/http-request.js';
import { basic, TEST_PASSWORD, TestApi } from '../../support/api/test-api.js';
import { eventually } from '../../support/eventually.js';
import { ConnectionFlood } from '../../support/remoted/connection-flood.js';

const LOGIN = '/security/user/authenticate';
/** Who floods, and who has nothing to do with it. */
const HOSTILE = '127.0.0.1';
const ELSEWHERE = '127.0.0.2';

describe('a flood of requests without a token', () => {
  let api: TestApi;
  beforeEach(async () => {
    api = await new TestApi().start();
  });
  afterEach(() => api.remove());

  async function flood(
    count: number,
    method: string,
    path: string,
    headers: (index: number) => Record<string, string>,
  ) {
    const statuses = [];
    for (let index = 0; index < count; index += 1) {
      statuses.push((await api.request(method, path, { from: HOSTILE, headers: headers(index) })).status);
    }
    return statuses;
  }

  /** What a user does all day, from the flooded address and from another one. */
  async function userNoticesNothing(token: string) {
    for (const from of [ELSEWHERE, HOSTILE]) {
      const headers = { authorization: `Bearer ${token}` };
      expect((await api.request('GET', '/', { from, headers })).status, from).to.equal(200);
      const json = { ...headers, 'content-type': 'application/json' };
      const events = await api.request('POST', '/events', { from, headers: json, body: '{"events": [1]}' });
      expect(events.status, `${from}: past every limit`).to.equal(400);
      const login = await api.request('POST', LOGIN, {
        from,
        headers: { authorization: basic('admin', TEST_PASSWORD) },
      });
      expect(login.status, `${from}: login`).to.equal(200);
    }
  }

  it('of 310 GET / stops nobody but strangers of its address', async () => {
    const token = await api.login();
    const statuses = await flood(310, 'GET', '/', () => ({}));
    expect(statuses.slice(0, 300)).to.deep.equal(Array(300).fill(401));
    expect(statuses.slice(300)).to.deep.equal(Array(10).fill(429));
    await userNoticesNothing(token);
    expect((await api.request('GET', '/', { from: ELSEWHERE })).status).to.equal(401);
  });

  it('of forged tokens neither', async () => {
    const token = await api.login();
    const statuses = await flood(310, 'GET', '/', (index) => ({ authorization: `Bearer ${token}forged${index}` }));
    expect(statuses.at(-1)).to.equal(429);
    await userNoticesNothing(token);
  });

  it('of 31 POST /events does not stop the intake of events', async () => {
    const token = await api.login();
    expect(await flood(31, 'POST', '/events', () => ({}))).to.deep.equal(Array(31).fill(401));
    await userNoticesNothing(token);
  });

  it('is one of its address, whatever it says in X-Forwarded-For', async () => {
    const token = await api.login();
    const statuses = await flood(301, 'GET', '/', (index) => ({
      'x-forwarded-for': `192.0.2.${index % 250}`,
      forwarded: `for=192.0.2.${index % 250}`,
    }));
    expect(statuses.at(-1)).to.equal(429);
    await userNoticesNothing(token);
  });

  it('of wrong passwords blocks logins of its address alone', async () => {
    const token = await api.login();
    const authorization = basic('admin', 'wrong');
    const statuses = await flood(310, 'POST', LOGIN, (index) => ({
      authorization,
      'x-forwarded-for': `192.0.2.${index % 250}`,
    }));
    expect(statuses.slice(0, 50)).to.deep.equal(Array(50).fill(401));
    expect(statuses.at(50)).to.equal(403);
    expect(statuses.at(-1)).to.equal(429);
    const headers = { authorization: `Bearer ${token}` };
    expect((await api.request('GET', '/', { from: HOSTILE, headers })).status).to.equal(200);
    const login = { authorization: basic('admin', TEST_PASSWORD) };
    expect((await api.request('POST', LOGIN, { from: ELSEWHERE, headers: login })).status).to.equal(200);
  });
});

describe('a flood of logins at once', () => {
  it('tries no more passwords than are allowed, and a user logs in meanwhile', async () => {
    const api = await new TestApi().start();
    try {
      const login = (from: string, password: string) =>
        api.request('POST', LOGIN, { from, headers: { authorization: basic('admin', password) } });
      // No more than an address may have connections.
      const flood = Array.from({ length: API_CONNECTIONS.unprovenPerAddress - 8 }, () => login(HOSTILE, 'wrong'));
      expect((await login(ELSEWHERE, TEST_PASSWORD)).status).to.equal(200);
      const statuses = (await Promise.all(flood)).map(({ status }) => status);
      // Two checks run at once: the second may end after the address was blocked.
      expect(statuses.filter((status) => status === 401).length).to.be.within(50, 51);
      expect(statuses.filter((status) => ![401, 403].includes(status))).to.deep.equal([]);
    } finally {
      await api.remove();
    }
  });
});

describe('a flood of idle connections', () => {
  for (const encrypted of [true, false]) {
    it(`leaves room for users, ${encrypted ? 'HTTPS' : 'HTTP'}`, async () => {
      const api = new TestApi();
      const ssl = (name: string) => api.home.path('api', 'configuration', 'ssl', name);
      const https = { key: ssl('server.key'), certificate: ssl('server.crt'), ca: undefined, ciphers: undefined };
      // Nothing but the flood itself ends its connections.
      const never = 600_000;
      const connectionTimes = { ...CONNECTION_TIMES };
      for (const time of ['handshake', 'headers', 'request', 'keepAlive', 'idle'] as const) {
        connectionTimes[time] = never;
      }
      await api.start({ https: encrypted ? https : undefined }, { connectionTimes });
      const flood = new ConnectionFlood();
      const user = new (encrypted ? HttpsAgent : HttpAgent)({ keepAlive: true, maxSockets: 1 });
      const request = (path: string, headers: Record<string, string>, more: Partial<TestRequest> = {}) =>
        httpRequest({ port: api.port, tls: encrypted, path, headers, ...more });
      try {
        const login = { authorization: basic('admin', TEST_PASSWORD) };
        const token = (await request(`${LOGIN}?raw=true`, login, { method: 'POST', agent: user })).text;
        const headers = { authorization: `Bearer ${token}` };
        const before = new Set(api.logger.lines);
        await flood.open(api.port, 1030, HOSTILE);
        await eventually('the oldest were closed', () => flood.closed >= 1030 - API_CONNECTIONS.unprovenPerAddress);
        const same = await request('/', headers, { agent: user });
        expect([same.status, same.reused], 'on the connection there was').to.deep.equal([200, true]);
        for (const from of [ELSEWHERE, HOSTILE]) {
          expect((await request('/', headers, { from })).status, from).to.equal(200);
          expect((await request(LOGIN, login, { from, method: 'POST' })).status, from).to.equal(200);
        }
        expect(api.logger.lines.filter((line) => line.startsWith('warn') && !before.has(line))).to.deep.equal([
          'warn: Too many connections to the API: the oldest one of 127.0.0.1 without a token was closed.',
        ]);
      } finally {
        flood.end();
        user.destroy();
        await api.remove();
      }
    });
  }
});
