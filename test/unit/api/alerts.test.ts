import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import {
  ALERT_FIELDS,
  MAX_ALERTS_PER_PAGE,
  MAX_HISTOGRAM_SERIES,
  MAX_TOP_VALUES,
} from '../../../lib/bus/contracts/db-alerts.js';
import { type ApiList, ListCaller } from '../../support/api/api-list.js';
import { FakeAlerts } from '../../support/api/fake-alerts.js';
import { addUser, policy } from '../../support/api/rbac-user.js';
import { TestApi } from '../../support/api/test-api.js';
import { DbServer } from '../../support/db/db-server.js';

const USER = { name: 'someone', password: 'Other-42-password' };
const NOW = Date.parse('2026-05-08T12:34:19.000Z');
const HOUR = 3_600_000;

type AlertList = ApiList & {
  data: {
    next_cursor: string | null;
    total_is_exact: boolean;
    total_alerts: number;
    alerts_without_field: number;
    interval: number;
  };
  detail?: string;
};

describe('alerts over the API', () => {
  let api: TestApi;
  let db: DbServer;
  let alerts: FakeAlerts;
  let lists: ListCaller;
  let ids: string[];

  beforeEach(async () => {
    api = new TestApi();
    await api.start({ access: { maxLoginAttempts: 99, blockSeconds: 1, maxRequestsPerMinute: 0 } });
    alerts = new FakeAlerts();
    db = await DbServer.start(api.home, () => api.now, 'node01', alerts.handlers);
    await db.fill(3);
    lists = new ListCaller(api);
    ids = [
      alerts.add({ time: NOW - 30 * HOUR, level: 5, rule: '5710', agent: '001', groups: ['sshd'], text: 'first' }),
      alerts.add({ time: NOW - 2 * HOUR, level: 10, rule: '5712', agent: '002', groups: ['sshd', 'brute'] }),
      alerts.add({ time: NOW - HOUR, level: 3, rule: '502', text: 'started' }),
      alerts.add({ time: NOW - 60_000, level: 12, rule: '5712', agent: '009', text: 'of an agent that was removed' }),
    ];
  });
  afterEach(async () => {
    await api.stop();
    await db.stop();
    await api.remove();
  });

  const get = async (path: string, template?: string) => (await lists.get(path, template)) as AlertList;
  const idsOf = ({ data }: ApiList) => data.affected_items.map((item) => item['alert_id']);
  const problem = async (path: string) => {
    const answer = await api.call('GET', path);
    lists.checker.check('GET', path.split('?')[0]!.replace(/\/alerts\/\d.*/, '/alerts/{alert_id}'), answer);
    return { status: answer.status, ...(answer.json() as { error?: number; detail: string; remediation?: string }) };
  };

  it('are listed newest first, as in alerts.json, with their ids', async () => {
    const all = await get('/alerts');
    expect(idsOf(all)).to.deep.equal(ids.toReversed());
    expect(all.data).to.include({ total_affected_items: 4, total_is_exact: true, next_cursor: null });
    expect(all).to.include({ message: 'All selected alerts were returned', error: 0 });
    expect(all.data.affected_items[0]).to.deep.equal({
      alert_id: ids[3],
      timestamp: '2026-05-08T12:33:19.000Z',
      rule: { level: 12, id: '5712', groups: [], description: 'of an agent that was removed' },
      agent: { id: '009', name: 'agent-009' },
      id: `${(NOW - 60_000) / 1000}.400`,
      full_log: 'of an agent that was removed',
    });
    expect(idsOf(await get('/alerts?order=asc&limit=2'))).to.deep.equal(ids.slice(0, 2));
    const selected = await get('/alerts?limit=1&select=full_log');
    expect(selected.data.affected_items).to.deep.equal([
      { alert_id: ids[3], full_log: 'of an agent that was removed' },
    ]);
  });

  it('come in pages that stay right while alerts come in', async () => {
    const first = await get('/alerts?limit=3&count=false');
    expect(first.data).to.include({ total_affected_items: 3, total_is_exact: false });
    alerts.add({ time: NOW });
    const second = await get(`/alerts?limit=3&cursor=${first.data.next_cursor}`);
    expect([...idsOf(first), ...idsOf(second)]).to.deep.equal(ids.toReversed());
    expect(second.data).to.include({ total_affected_items: 5, next_cursor: null });
    expect((await problem('/alerts?cursor=abc')).detail).to.match(/^Parameter 'cursor' is none of this list/);
  });

  it('are found by time, level, fields and words', async () => {
    const by = async (query: string) => idsOf(await get(`/alerts?order=asc&${query}`));
    expect(await by('from=now-24h')).to.deep.equal(ids.slice(1));
    expect(await by('from=2026-05-07&to=2026-05-08T00:00:00%2B00:00')).to.deep.equal([ids[0]]);
    expect(await by(`from=${(NOW - 3 * HOUR) / 1000}&to=${NOW - 1}`)).to.deep.equal(ids.slice(1));
    expect(await by('min_level=10')).to.deep.equal([ids[1], ids[3]]);
    expect(await by('level=3-5')).to.deep.equal([ids[0], ids[2]]);
    expect(await by('level=12')).to.deep.equal([ids[3]]);
    expect(await by('rule_ids=5710,502')).to.deep.equal([ids[0], ids[2]]);
    expect(await by('rule_groups=brute')).to.deep.equal([ids[1]]);
    expect(await by('agents_list=009')).to.deep.equal([ids[3]]);
    expect(await by('search=started')).to.deep.equal([ids[2]]);
    const { params } = alerts.asked.filter(({ method }) => method === 'search').at(-1)!;
    expect(params).to.include({ search: 'started', withinMs: 5000 }).and.not.have.property('agents');
    await get('/alerts?q=&srcip=192.0.2.7&decoders=sshd&wait_for_complete=true');
    const last = alerts.asked.filter(({ method }) => method === 'search').at(-1)!.params;
    expect(last).to.deep.include({
      filters: { 'data.srcip': ['192.0.2.7'], 'decoder.name': ['sshd'] },
      withinMs: 10_000,
    });
    expect(last).not.to.have.property('q');
  });

  it('are counted over time, and by value', async () => {
    const hours = await get('/alerts/histogram?interval=1h&by=rule.id');
    expect(hours.data).to.include({ interval: 3600, total_alerts: 3, total_affected_items: 24 });
    expect(hours.data.affected_items.at(-2)).to.deep.equal({
      time: '2026-05-08T10:34:19.000Z',
      count: 1,
      by: [{ value: '5712', count: 1 }],
    });
    expect((await get('/alerts/histogram')).data.interval).to.equal(1800);
    expect((await get('/alerts/histogram?from=now-1m')).data).to.include({ interval: 1, total_affected_items: 60 });
    const top = await get('/alerts/top?field=rule.id&from=0');
    expect(top.data.affected_items).to.deep.equal([
      { value: '5712', count: 2 },
      { value: '5710', count: 1 },
      { value: '502', count: 1 },
    ]);
    expect(top.data).to.include({ total_alerts: 4, total_affected_items: 3, alerts_without_field: 0 });
    expect((await get('/alerts/top?field=rule.groups&limit=1')).data).to.include({
      total_alerts: 3,
      alerts_without_field: 2,
    });
  });

  it('are counted by the fields that the store keeps apart, in no more than it takes', () => {
    const operation = (id: string) => lists.checker.operations.find((one) => one.id === id)!;
    const schema = (id: string, name: string) => operation(id).parameters.find((one) => one.name === name)!.schema;
    expect(schema('getAlertsTop', 'field')['enum']).to.deep.equal(ALERT_FIELDS);
    expect(schema('getAlertsHistogram', 'by')['enum']).to.deep.equal(ALERT_FIELDS);
    expect(schema('getAlerts', 'limit')['maximum']).to.equal(MAX_ALERTS_PER_PAGE);
    expect(schema('getAlertsTop', 'limit')['maximum']).to.equal(MAX_TOP_VALUES);
    expect(schema('getAlertsHistogram', 'series')['maximum']).to.equal(MAX_HISTOGRAM_SERIES);
  });

  it('are shown by either of their ids', async () => {
    const template = '/alerts/{alert_id}';
    expect(idsOf(await get(`/alerts/${ids[1]}`, template))).to.deep.equal([ids[1]]);
    expect(idsOf(await get(`/alerts/${NOW / 1000 - 60}.400`, template))).to.deep.equal([ids[3]]);
    expect(await problem('/alerts/20261127-000-7')).to.deep.include({ status: 404, error: 8001 });
    expect((await problem('/alerts/7')).detail).to.match(/^'7' is not a 'alert_id'/);
  });

  it('refuse what cannot be understood, naming the parameter', async () => {
    const details: [string, RegExp, number?][] = [
      ['/alerts?from=yesterday', /^'yesterday' is not a 'alert_time'/],
      ['/alerts?from=2026-13-01', /^Parameter 'from' is no time: '2026-13-01'/],
      ['/alerts?from=now&to=now-1h', /^Parameter 'from' must be before 'to'$/],
      ['/alerts?min_level=17', /^17 is greater than the maximum of 16/],
      ['/alerts?limit=501', /^501 is greater than the maximum of 500/],
      ['/alerts/histogram?interval=1s', /^Parameter 'interval' makes more than 2000 buckets/],
      ['/alerts/top', /^Missing query parameter 'field'$/],
      ['/alerts/top?field=full_log', /^'full_log' is not one of/],
      ['/alerts?search=%22', /^Not a valid search: a quote is open$/, 8003],
      ['/alerts?q=x', /^Query does not match expected format/, 1407],
    ];
    for (const [path, detail, code] of details) {
      const answer = await problem(path);
      expect(answer, path).to.include({ status: 400 });
      expect(answer.detail, path).to.match(detail);
      expect(answer.error, path).to.equal(code);
    }
  });

  it('are never said to be none when they cannot be searched', async () => {
    alerts.rebuilding = 2;
    const partial = await get('/alerts?limit=1');
    expect(partial).to.include({ error: 2, message: 'Some selected alerts were returned' });
    expect(partial.data.failed_items.map(({ error, id }) => [error.code, ...id])).to.deep.equal([[8002, 'node01']]);
    expect((await get('/alerts/top?field=rule.id')).error).to.equal(2);
    expect((await get('/alerts?rule_ids=77')).error).to.equal(1);
    alerts.isOff = true;
    for (const path of ['/alerts', '/alerts/histogram', '/alerts/top?field=rule.id', `/alerts/${ids[0]}`]) {
      const off = await problem(path);
      expect(off, path).to.include({ status: 503, error: 8000 });
      expect(off.remediation, path).to.include('<alert_store><enabled>yes');
    }
    await db.stop();
    expect(await problem('/alerts')).to.include({ status: 500, error: 1017 });
    db = await DbServer.start(api.home, () => api.now, 'node01', alerts.handlers);
  });

  it('are found by groups of agents, as they are when it is asked', async () => {
    const move = (id: number, ...groups: string[]) =>
      db.registry.edit((edit) => edit.setAgent(id, { ...db.registry.agents.get(id)!.record, groups }));
    for (const [id, group] of [
      [1, 'site-1'],
      [2, 'site-2'],
      [3, 'default'],
    ] as const) {
      await move(id, group);
    }
    const by = async (query: string) => idsOf(await get(`/alerts?order=asc&${query}`));
    expect(await by('agent_groups=site-1')).to.deep.equal([ids[0]]);
    expect(await by('agent_groups=SITE-1,site-2')).to.deep.equal([ids[0], ids[1]]);
    expect(await by('agent_groups=site-1,site-2&agents_list=002,009')).to.deep.equal([ids[1]]);
    expect(await by('agent_groups=nobody'), 'a group that there is not').to.deep.equal([]);
    await move(1, 'site-2', 'site-1');
    await move(2, 'default');
    expect(await by('agent_groups=site-1&rule_ids=5710')).to.deep.equal([ids[0]]);
    expect(await by('agent_groups=site-2')).to.deep.equal([ids[0]]);
    const top = await get('/alerts/top?field=rule.id&from=0&agent_groups=site-2');
    expect(top.data.affected_items).to.deep.equal([{ value: '5710', count: 1 }]);
    expect((await get('/alerts/histogram?from=now-2d&agent_groups=default')).data.total_alerts).to.equal(1);
    expect((await problem('/alerts?agent_groups=a%2Fb')).status).to.equal(400);
  });

  describe('of a user who may see some agents', () => {
    let token: string;
    const login = async (mode: string, policies: ReturnType<typeof policy>[]) => {
      writeFileSync(api.home.path('api/configuration/security/security.yaml'), `rbac_mode: ${mode}\n`);
      await addUser(api, USER, policies);
      token = await api.login(USER.name, USER.password);
    };
    const call = async (path: string) => {
      const answer = await api.request('GET', path, { headers: { authorization: `Bearer ${token}` } });
      return { status: answer.status, body: answer.json() as AlertList & { error: number } };
    };

    it('are those of these agents, however they are asked for', async () => {
      await login('white', [policy('allow', 'alerts:read', 'agent:group:site-1', 'agent:id:009')]);
      await db.registry.edit((edit) => {
        const { record } = db.registry.agents.get(1)!;
        edit.setAgent(1, { ...record, groups: ['site-1'] });
        for (const id of [2, 3]) edit.setAgent(id, { ...db.registry.agents.get(id)!.record, groups: ['default'] });
      });
      expect(idsOf((await call('/alerts')).body)).to.deep.equal([ids[0]]);
      // A policy that names an agent is about its alerts also when it was removed.
      const named = await call('/alerts?agents_list=001,002,009');
      expect(idsOf(named.body)).to.deep.equal([ids[3], ids[0]]);
      expect(named.body.data.failed_items.map(({ error, id }) => [error.code, ...id])).to.deep.equal([[4000, '002']]);
      const denied = await call('/alerts?agents_list=000,002');
      expect([denied.status, denied.body.error, denied.body.detail]).to.deep.equal([
        ...[403, 4000],
        'Permission denied: Resource type: agent:id',
      ]);
      expect(idsOf((await call('/alerts?agent_groups=site-1,default')).body), 'of a group').to.deep.equal([ids[0]]);
      expect(idsOf((await call('/alerts?agent_groups=default')).body)).to.deep.equal([]);
      expect(idsOf((await call('/alerts?agent_groups=site-1&agents_list=001,009')).body)).to.deep.equal([ids[0]]);
      expect((await call(`/alerts/${ids[1]}`)).body.error).to.equal(8001);
      expect((await call(`/alerts/${ids[0]}`)).status).to.equal(200);
      expect((await call('/alerts?rule_ids=5712,502&q=rule.id=5712')).body.data.total_affected_items).to.equal(0);
      expect((await call('/alerts/top?field=agent.id&from=0')).body.data.affected_items).to.deep.equal([
        { value: '001', count: 1 },
      ]);
      expect((await call('/alerts/histogram?from=now-2d')).body.data.total_alerts).to.equal(1);
    });

    it('are all but those of an agent that is denied, in black mode', async () => {
      await login('black', [policy('deny', 'alerts:read', 'agent:id:002')]);
      expect(idsOf((await call('/alerts')).body)).to.deep.equal([ids[2], ids[0]]);
    });

    it('are none without a policy, and all for who may only read', async () => {
      await login('white', [policy('allow', 'agent:read', 'agent:id:*')]);
      expect((await call('/alerts')).body).to.deep.include({ message: 'No alert was returned', error: 0 });
      await api.stop();
      await api.open();
      await addUser(api, { ...USER, roles: [2] });
      token = await api.login(USER.name, USER.password);
      expect(idsOf((await call('/alerts')).body)).to.deep.equal(ids.toReversed());
    });
  });
});
