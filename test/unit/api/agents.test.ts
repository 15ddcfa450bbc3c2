import { mkdirSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { ListCaller } from '../../support/api/api-list.js';
import { TestApi } from '../../support/api/test-api.js';
import { DbServer } from '../../support/db/db-server.js';

type Item = Record<string, unknown> & { id: string };
const COUNT = 300;

const at = (item: Record<string, unknown>, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], item);
const lower = (value: unknown) => String(value).toLowerCase();

describe('lists of agents', () => {
  let api: TestApi;
  let db: DbServer;
  let lists: ListCaller;
  let all: Item[];

  before(async () => {
    api = new TestApi();
    api.now = Date.parse('2026-11-22T12:00:00Z');
    await api.start({ access: { maxLoginAttempts: 99, blockSeconds: 1, maxRequestsPerMinute: 0 } });
    db = await DbServer.start(api.home, () => api.now);
    await db.fill(COUNT);
    lists = new ListCaller(api);
    all = (await lists.get('/agents?limit=100000')).data.affected_items as Item[];
  });
  after(async () => {
    await api.stop();
    await db.stop();
    await api.remove();
  });

  const ids = async (query: string) =>
    (await lists.get(`/agents?limit=100000&select=id&${query}`)).data.affected_items.map(({ id }) => id);
  const refused = async (path: string) => {
    const answer = await api.call('GET', path);
    expect(answer.status, answer.text).to.equal(400);
    lists.checker.check('GET', path.split('?')[0]!, answer);
    return answer.json() as { error: number; detail: string };
  };

  it('show the manager and what is known of each agent', async () => {
    const answer = await lists.get('/agents?limit=2');
    expect(answer).to.include({ message: 'All selected agents information was returned', error: 0 });
    expect(answer.data.total_affected_items).to.equal(COUNT + 1);
    expect(answer.data.affected_items[0]).to.deep.include({
      id: '000',
      name: 'manager1',
      ip: '127.0.0.1',
      registerIP: '127.0.0.1',
      status: 'active',
      status_code: 0,
      version: 'Wazuh v4.14.7',
      node_name: 'node01',
      lastKeepAlive: '9999-12-31T23:59:59+00:00',
      group_config_status: 'synced',
    });
    expect(answer.data.affected_items[0]).not.to.have.any.keys('group', 'configSum', 'mergedSum', 'disconnection_time');
    const never = all.find(({ status }) => status === 'never_connected')!;
    expect(Object.keys(never)).to.have.members(
      'id name ip registerIP status status_code dateAdd node_name group group_config_status'.split(' '),
    );
    expect(await lists.get('/agents?name=nobody')).to.deep.equal({
      data: { affected_items: [], total_affected_items: 0, total_failed_items: 0, failed_items: [] },
      message: 'No agent information was returned',
      error: 0,
    });
  });

  it('filter as a plain model does, each parameter and several', async () => {
    const filters = {
      status: ['active', 'DISCONNECTED', 'never_connected', 'active,disconnected'],
      'os.platform': ['ubuntu', 'Debian', 'amiga'],
      'os.name': ['Ubuntu', 'debian gnu/linux'.replace('/', '-')],
      'os.version': ['12', '9.4'],
      group: ['default', 'site-0', 'site-5', 'site-20'],
      node_name: ['node01', 'unknown'],
      manager: ['manager1', 'other'],
      group_config_status: ['synced', 'not synced'],
      registerIP: ['any'],
      version: ['4.9.1', 'v4.12.4', 'wazuh v4.10.2', 'all'],
    };
    const full = (value: string) => (value === 'all' ? value : `wazuh v${value.replace(/^(wazuh )?v?/, '')}`);
    const holds = (item: Item, name: string, wanted: string) => {
      if (wanted === 'all') return true;
      const value = at(item, name);
      const values = (name === 'version' ? full(wanted) : wanted).toLowerCase().split(',');
      if (Array.isArray(value)) return value.some((entry) => values.includes(lower(entry)));
      return value !== undefined && values.includes(lower(value));
    };
    const any = fc.record(
      Object.fromEntries(Object.entries(filters).map(([name, values]) => [name, fc.constantFrom(...values)])),
      { requiredKeys: [] },
    );
    const sort = fc.option(
      fc.record({
        field: fc.constantFrom('name', 'os.name', 'status', 'dateAdd'),
        sign: fc.constantFrom('+', '-', ''),
      }),
    );
    const search = fc.option(fc.constantFrom('web-', '-web-', 'ubuntu', 'build'));
    const check = async (
      given: Record<string, string | undefined>,
      order: { field: string; sign: string } | null,
      text: string | null,
    ) => {
      let expected = all.filter((item) =>
        Object.entries(given).every(([name, value]) => holds(item, name, value ?? 'all')),
      );
      if (text !== null) {
        const complement = text.startsWith('-');
        const wanted = complement ? text.slice(1) : text;
        const texts = 'name ip registerIP status version manager node_name group_config_status group'.split(' ');
        const found = (item: Item) =>
          [...texts.map((name) => at(item, name)), ...Object.values((item['os'] as object | undefined) ?? {})].some(
            (value) => value !== undefined && lower(value).includes(wanted),
          );
        expected = expected.filter((item) => found(item) !== complement);
      }
      if (order !== null) {
        const { field, sign } = order;
        const key = (item: Item) => at(item, field);
        const compare = (a: Item, b: Item) => {
          const [left, right] = [key(a), key(b)];
          if (left === undefined || right === undefined) {
            return Number(left === undefined) - Number(right === undefined);
          }
          return lower(left) < lower(right) ? -1 : lower(left) > lower(right) ? 1 : 0;
        };
        expected = expected.toSorted((a, b) => (sign === '-' ? -compare(a, b) : compare(a, b)));
      }
      const query = new URLSearchParams(given as Record<string, string>);
      if (text !== null) query.set('search', text);
      if (order !== null) query.set('sort', `${order.sign}${order.field}`);
      expect(await ids(query.toString()), query.toString()).to.deep.equal(expected.map(({ id }) => id));
    };
    await fc.assert(fc.asyncProperty(any, sort, search, check), { numRuns: 40 });
  });

  it('filter by address, name, age and q', async () => {
    const one = all[7]!;
    expect(await ids(`name=${lower(one['name']).toUpperCase()}`)).to.deep.equal([one.id]);
    expect(await ids(`ip=${String(one['ip'])}`)).to.include(one.id);
    const limit = api.now - 30 * 86_400_000;
    const old = all.filter((item) =>
      item['status'] === 'never_connected'
        ? Date.parse(String(item['dateAdd'])) < limit
        : Date.parse(String(item['lastKeepAlive'])) < limit,
    );
    expect(await ids('older_than=30d')).to.deep.equal(old.map(({ id }) => id));
    expect(await ids('older_than=0s')).to.have.length(all.length);
    const q = encodeURIComponent('id!=000;(status=disconnected,os.name~deb);group=site-0');
    const expected = all.filter(
      (item) =>
        (item['status'] === 'disconnected' || lower(at(item, 'os.name') ?? '').includes('deb')) &&
        ((item['group'] as string[] | undefined) ?? []).includes('site-0'),
    );
    expect(await ids(`q=${q}`)).to.deep.equal(expected.map(({ id }) => id));
    expect(await ids('q=')).to.have.length(all.length);
    expect(await ids('q=id=000')).to.deep.equal(['000']);
  });

  it('select, page and make distinct', async () => {
    const page = await lists.get('/agents?select=os.name,status&offset=10&limit=3');
    expect(page.data.total_affected_items).to.equal(COUNT + 1);
    expect(page.data.affected_items).to.deep.equal(
      all.slice(10, 13).map(({ id, status, os }) => ({
        id,
        status,
        ...(os === undefined ? {} : { os: { name: (os as { name: string }).name } }),
      })),
    );
    expect((await lists.get('/agents?offset=1000')).data.affected_items).to.deep.equal([]);
    const distinct = await lists.get('/agents?select=status&distinct=true&sort=status');
    expect(distinct.data.affected_items).to.deep.equal(
      [...new Set(all.map(({ status }) => status))].sort().map((status) => ({ status })),
    );
    expect(distinct.data.total_affected_items).to.equal(3);
  });

  it('refuse fields, queries and dates that are none', async () => {
    expect(await refused('/agents?select=nothing')).to.include({ error: 1724 });
    const { error, detail } = await refused('/agents?sort=-nothing,name');
    expect(error).to.equal(1403);
    expect(detail).to.match(/^Not a valid sort field: Allowed sort fields: configSum, dateAdd, .*\. Fields: nothing$/);
    expect(await refused('/agents?q=nothing=1')).to.include({ error: 1408 });
    expect(await refused('/agents?q=id')).to.include({ error: 1407 });
    expect(await refused('/agents?q=group%3Ea')).to.include({ error: 1409 });
    expect(await refused('/agents?q=dateAdd%3E2026-13-01')).to.include({ error: 1412 });
    expect(await refused('/agents/stats/distinct?fields=nothing')).to.include({ error: 1724 });
  });

  it('take ids, and say which there are not', async () => {
    const answer = await lists.get('/agents?agents_list=002,001,999,0001,123456789&select=name');
    expect(answer).to.include({ message: 'Some agents information was not returned', error: 2 });
    expect(answer.data.affected_items.map(({ id }) => id)).to.deep.equal(['001', '002']);
    expect(answer.data).to.include({ total_affected_items: 2, total_failed_items: 3 });
    expect(answer.data.failed_items.map(({ error, id }) => [error.code, id])).to.deep.equal([
      [1701, ['0001', '999', '123456789']],
    ]);
    const none = await lists.get('/agents?agents_list=999');
    expect(none).to.include({ message: 'No agent information was returned', error: 1 });
    const filtered = await lists.get('/agents?agents_list=000,001&status=disconnected');
    expect(filtered.data.affected_items.every(({ status }) => status === 'disconnected')).to.equal(true);
  });

  it('have forms with fixed conditions', async () => {
    await db.registry.edit((edit) => edit.setAgent(5, { ...db.registry.agents.get(5)!.record, groups: [] }));
    try {
      expect((await lists.get('/agents/no_group')).data.affected_items.map(({ id }) => id)).to.deep.equal(['005']);
      expect((await lists.get('/agents/no_group?q=id=006')).data.total_affected_items).to.equal(0);
    } finally {
      await db.registry.edit((edit) => edit.setAgent(5, { ...db.registry.agents.get(5)!.record, groups: ['default'] }));
    }
    const outdated = await lists.get('/agents/outdated?limit=100000&select=version');
    expect(outdated.data.affected_items.map(({ id }) => id)).to.deep.equal(
      all.filter(({ version }) => version !== undefined && version !== 'Wazuh v4.14.7').map(({ id }) => id),
    );
  });

  it('are counted by fields, platforms and states', async () => {
    const others = all.filter(({ id }) => id !== '000');
    const count = (name: string, value: unknown) => others.filter((item) => at(item, name) === value).length;
    const counted = await lists.get(`/agents/stats/distinct?fields=os.platform,status&q=id!=000`);
    for (const item of counted.data.affected_items) {
      const platform = at(item, 'os.platform');
      const matching = others.filter(
        (agent) => agent['status'] === item['status'] && (at(agent, 'os.platform') ?? 'N/A') === platform,
      );
      expect(item['count'], JSON.stringify(item)).to.equal(matching.length);
    }
    expect((await lists.get('/agents/stats/distinct')).data.affected_items[0]).to.include({ group: 'N/A', count: 1 });

    const platforms = await lists.get('/agents/summary/os');
    expect(platforms.message).to.equal('Showing the operative system of all specified agents');
    expect(platforms.data.affected_items).to.deep.equal(
      [...new Set(all.map((item) => at(item, 'os.platform')))].filter((value) => value !== undefined).sort(),
    );

    const data = async (path: string) => {
      const answer = await api.call('GET', path);
      expect(answer.status, answer.text).to.equal(200);
      lists.checker.check('GET', path.split('?')[0]!, answer);
      expect(Object.keys(answer.json() as object)).to.deep.equal(['data', 'error']);
      return (answer.json() as { data: Record<string, unknown> }).data;
    };
    const connection = {
      active: count('status', 'active'),
      disconnected: count('status', 'disconnected'),
      never_connected: count('status', 'never_connected'),
      pending: 0,
    };
    const synced = count('group_config_status', 'synced');
    const status = {
      connection: { ...connection, total: COUNT },
      configuration: { synced, not_synced: COUNT - synced, total: COUNT },
    };
    expect(await data('/agents/summary/status')).to.deep.equal(status);
    const summary = await data('/agents/summary');
    expect(summary['status']).to.deep.equal(connection);
    expect(summary['os']).to.include({ ubuntu: count('os.platform', 'ubuntu') });
    expect(summary['groups']).to.include({ default: COUNT });
    expect((await data('/agents/summary?agents_list=000,001,002,999'))['groups']).to.include({ default: 2 });

    mkdirSync(api.home.path('etc/shared/default'), { recursive: true });
    writeFileSync(api.home.path('etc/shared/default/agent.conf'), 'abc');
    const overview = await data('/overview/agents');
    expect(overview['agent_status']).to.deep.equal(status);
    expect(overview['nodes']).to.deep.include({ node_name: 'unknown', count: connection.never_connected });
    expect((overview['groups'] as object[])[0]).to.deep.equal({
      name: 'default',
      count: COUNT,
      configSum: '900150983cd24fb0d6963f7d28e17f72',
    });
    const latest = others
      .map(({ dateAdd }) => String(dateAdd))
      .toSorted()
      .at(-1);
    // Of several registered in that second the one with the largest id.
    expect(overview['last_registered_agent']).to.deep.equal([others.findLast(({ dateAdd }) => dateAdd === latest)]);
    for (const [name, fields] of [
      ['nodes', 'node_name'],
      ['agent_os', 'os.name,os.platform,os.version'],
      ['agent_version', 'version'],
    ] as const) {
      const same = await lists.get(`/agents/stats/distinct?fields=${fields}&q=id!=000&limit=100000`);
      expect(overview[name], name).to.deep.equal(same.data.affected_items);
    }
    expect(overview['agent_os']).to.deep.include({
      os: { name: 'N/A', platform: 'N/A', version: 'N/A' },
      count: connection.never_connected,
    });
  });

  it('count every version, however many there are', async () => {
    const versions = Array.from({ length: 10_005 }, (_none, index) => `Wazuh v4.0.${String(index)}`);
    await db.registry.edit((edit) => {
      const { record } = db.registry.agents.get(1)!;
      versions.forEach((version, index) => edit.setAgent(1000 + index, { ...record, name: `many${index}`, version }));
    });
    const answer = await api.call('GET', '/overview/agents');
    const { data } = answer.json() as { data: { agent_version: { version: string; count: number }[] } };
    const found = data.agent_version.filter(({ version }) => version.startsWith('Wazuh v4.0.'));
    expect(found.map(({ version }) => version)).to.deep.equal(versions);
    expect(found.every(({ count }) => count === 1)).to.equal(true);
  });
});
