import { existsSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { ApiLog } from '../../../../api/http/api-log.js';
import { basic, TEST_PASSWORD, TestApi } from '../../../support/api/test-api.js';
import { eventually } from '../../../support/eventually.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

describe('API log', () => {
  let home: TemporaryHome;
  let now: Date;
  beforeEach(() => {
    home = new TemporaryHome();
    now = new Date(2026, 4, 8, 23, 59, 59);
  });
  afterEach(() => home.remove());
  const open = (maxSize?: number) => {
    const fail = (error: unknown) => expect.fail(String(error));
    const log = new ApiLog(home.path('logs'), { level: 'info', plain: true, json: true, maxSize }, () => now, fail);
    log.open();
    return log;
  };

  it('goes to a file of the day at midnight, compressed', async () => {
    const log = open();
    log.info('old');
    now = new Date(2026, 4, 9, 0, 0, 1);
    log.warn('new');
    await log.close();
    const archive = home.path('logs', 'api', '2026', 'May', 'api.log-08.gz');
    expect(gunzipSync(readFileSync(archive)).toString()).to.equal('2026/05/08 23:59:59 INFO: old\n');
    expect(statSync(archive).mode & 0o777).to.equal(0o640);
    expect(existsSync(home.path('logs', 'api', '2026', 'May', 'api.json-08.gz'))).to.equal(true);
    expect(readFileSync(home.path('logs', 'api.log'), 'utf8')).to.equal('2026/05/09 00:00:01 WARNING: new\n');
    expect(statSync(home.path('logs', 'api.log')).mode & 0o777).to.equal(0o660);
    expect(JSON.parse(readFileSync(home.path('logs', 'api.json'), 'utf8'))).to.deep.equal({
      timestamp: '2026/05/09 00:00:01',
      levelname: 'WARNING',
      data: { type: 'informative', payload: 'new' },
    });
  });

  it('puts away a file that an earlier run left', async () => {
    writeFileSync(home.path('logs', 'api.log'), 'from yesterday\n');
    utimesSync(home.path('logs', 'api.log'), new Date(2026, 4, 7), new Date(2026, 4, 7));
    const log = open();
    log.info('today');
    await log.close();
    const archive = home.path('logs', 'api', '2026', 'May', 'api.log-07.gz');
    expect(gunzipSync(readFileSync(archive)).toString()).to.equal('from yesterday\n');
  });

  it('is rotated by size when asked, with numbers', async () => {
    const log = open(100);
    for (let line = 0; line < 9; line += 1) log.info('x'.repeat(30));
    await log.close();
    for (const number of [1, 2]) {
      expect(existsSync(home.path('logs', 'api', '2026', 'May', `api.log-08_${number}.gz`))).to.equal(true);
    }
  });
});

describe('access log', () => {
  let api: TestApi;
  beforeEach(async () => {
    api = await new TestApi().start();
  });
  afterEach(() => api.remove());
  const lastLine = (prefix: string) =>
    eventually(prefix, () => {
      const lines = readFileSync(api.home.path('logs', 'api.log'), 'utf8').trim().split('\n');
      return lines.findLast((line) => line.includes(prefix));
    });

  it('has a line for each request', async () => {
    await api.call('GET', '/rules?limit=1&search=x');
    expect(await lastLine('GET /rules')).to.match(
      /^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d INFO: admin 127\.0\.0\.1 "GET \/rules" with parameters \{"limit": "1", "search": "x"\} and body \{\} done in 0\.\d{3}s: 200$/,
    );
    const json = readFileSync(api.home.path('logs', 'api.json'), 'utf8').trim().split('\n').at(-1) ?? '';
    const { data } = JSON.parse(json) as { data: { type: string; payload: Record<string, unknown> } };
    expect(data.type).to.equal('request');
    expect(data.payload).to.include({ user: 'admin', ip: '127.0.0.1', http_method: 'GET', uri: 'GET /rules' });
    expect(data.payload['parameters']).to.deep.equal({ limit: '1', search: 'x' });
  });

  it('names the user of a wrong password and of an expired token', async () => {
    await api.request('POST', '/security/user/authenticate', { headers: { authorization: basic('eve', 'x') } });
    expect(await lastLine('authenticate'))
      .to.include('INFO: eve 127.0.0.1')
      .and.include(': 401');
    const token = await api.login();
    api.now += 901_000;
    await api.request('GET', '/manager/info', { headers: { authorization: `Bearer ${token}` } });
    expect(await lastLine('GET /manager/info'))
      .to.include('INFO: admin 127.0.0.1')
      .and.include(': 401');
    await api.request('GET', '/manager/status');
    expect(await lastLine('GET /manager/status')).to.include('INFO: unknown_user 127.0.0.1');
  });

  it('masks secrets and counts events', async () => {
    await api.call('POST', '/security/users', { username: 'mallory', password: 'Hidden-1-password' });
    expect(await lastLine('POST /security/users'))
      .to.include('"password": "****"')
      .and.not.include('Hidden-1');
    await api.call('POST', '/agents/insert', { name: 'a', id: '001', key: 'k'.repeat(64) });
    expect(await lastLine('POST /agents/insert'))
      .to.include('"key": "****"')
      .and.not.include('kkkk');
    await api.call('GET', '/rules?password=visible');
    expect(await lastLine('GET /rules')).to.not.include('visible');
    await api.call('POST', '/events', { events: ['secret event', 'x'] });
    expect(await lastLine('POST /events'))
      .to.include('and body {"events": 2}')
      .and.not.include('secret event');
    const log = readFileSync(api.home.path('logs', 'api.json'), 'utf8');
    expect(log).not.to.include(TEST_PASSWORD);
  });

  it('cannot be forged through names and paths', async () => {
    const name = 'x\n2026/01/01 00:00:00 INFO: admin 10.0.0.1';
    await api.request('POST', '/security/user/authenticate', { headers: { authorization: basic(name, 'y') } });
    await api.request('GET', '/a%0Ab%22c');
    await lastLine('/a\\x0ab');
    const lines = readFileSync(api.home.path('logs', 'api.log'), 'utf8').split('\n');
    expect(lines.filter((line) => line.startsWith('2026/01/01'))).to.deep.equal([]);
    expect(lines.join('\n')).to.include('x\\x0a2026/01/01').and.include('WARNING: User name with control characters');
  });
});
