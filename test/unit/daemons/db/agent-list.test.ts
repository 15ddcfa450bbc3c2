import { expect } from 'chai';
import fc from 'fast-check';
import { listAgents, type ListParams } from '../../../../daemons/db/agent-list.js';
import type { AgentRecord } from '../../../../daemons/db/agent-record.js';
import { AgentSet } from '../../../../daemons/db/agent-set.js';
import { QueryError } from '../../../../lib/query/query-error.js';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const CONTEXT = { now: NOW, managerVersion: 'Wazuh v4.14.7' };

type Entry = { record: AgentRecord; lastKeepAlive: number | undefined };
/** The plain model: what a list must show, worked out agent by agent. */
class Model extends Map<number, Entry> {
  /** Sums of merged files by the groups joined. */
  sums = new Map<string, string>();
}
type Value = string | number | undefined;

const FIELDS: Record<string, (id: number, entry: Entry, sums: Model['sums']) => Value> = {
  id: (id) => id,
  name: (_id, { record }) => record.name,
  ip: (_id, { record }) => record.ip ?? record.registerIP,
  registerIP: (_id, { record }) => record.registerIP,
  status: (_id, { record }) => record.status,
  status_code: (_id, { record }) => record.statusCode,
  'os.name': (_id, { record }) => record.os?.name,
  'os.platform': (_id, { record }) => record.os?.platform,
  version: (_id, { record }) => record.version,
  node_name: (_id, { record }) => record.nodeName,
  group: (_id, { record }) => record.groups.join(',') || undefined,
  group_config_status: (_id, { record }, sums) => {
    if (record.status === 'never_connected') return 'not synced';
    const sum = sums.get(record.groups.join(','));
    const isAwaited = record.groups.length > 1 && record.groups.every((name) => sums.has(name));
    return sum === undefined
      ? isAwaited
        ? 'not synced'
        : 'synced'
      : sum === record.mergedSum
        ? 'synced'
        : 'not synced';
  },
  dateAdd: (_id, { record }) => record.dateAdd,
  lastKeepAlive: (_id, { lastKeepAlive }) => lastKeepAlive,
};

function sortKey(name: string, value: Value): Value {
  if (name !== 'version') return typeof value === 'string' ? value.toLowerCase() : value;
  const [major, minor, patch] = String(value).match(/\d+/g) ?? [];
  return value === undefined ? undefined : Number(major) * 1e6 + Number(minor) * 1e3 + Number(patch);
}

function compare(left: Value, right: Value): number {
  if (left === right) return 0;
  if (left === undefined) return 1;
  if (right === undefined) return -1;
  return left < right ? -1 : 1;
}

type Query = {
  filters: Record<string, string[]>;
  clause: { field: string; operator: '=' | '!='; value: string } | undefined;
  search: string | undefined;
  sort: { fields: string[]; descending: boolean } | undefined;
  offset: number;
  limit: number;
};

function expected(model: Model, { filters, clause, search, sort, offset, limit }: Query) {
  const lower = (value: Value) => String(value).toLowerCase();
  const texts = ['name', 'ip', 'registerIP', 'status', 'os.name', 'os.platform', 'version', 'node_name', 'group'];
  const read = (name: string, id: number, entry: Entry) => FIELDS[name]!(id, entry, model.sums);
  let rows = [...model].sort(([a], [b]) => a - b);
  for (const [name, wanted] of Object.entries(filters)) {
    rows = rows.filter(([id, entry]) => {
      if (name === 'group') return entry.record.groups.some((group) => wanted.includes(group));
      return wanted.includes(lower(read(name, id, entry)));
    });
  }
  if (clause !== undefined) {
    rows = rows.filter(([id, entry]) => {
      const value = read(clause.field, id, entry);
      return value !== undefined && (lower(value) === clause.value.toLowerCase()) === (clause.operator === '=');
    });
  }
  if (search !== undefined) {
    const wanted = search.replace(/^-/, '').toLowerCase();
    const holds = (id: number, entry: Entry) =>
      String(id) === wanted ||
      [...texts, 'group_config_status'].some((name) => {
        const value = read(name, id, entry);
        return value !== undefined && lower(value).includes(wanted);
      });
    rows = rows.filter(([id, entry]) => holds(id, entry) !== search.startsWith('-'));
  }
  if (sort !== undefined) {
    rows.sort(([a, one], [b, other]) => {
      for (const name of sort.fields) {
        const order = compare(sortKey(name, read(name, a, one)), sortKey(name, read(name, b, other)));
        if (order !== 0) return sort.descending ? -order : order;
      }
      return a - b;
    });
  }
  return { ids: rows.slice(offset, offset + limit).map(([id]) => String(id).padStart(3, '0')), total: rows.length };
}

const names = fc.constantFrom('web', 'Web', 'db', 'mail-1', 'zeta', 'Étoile');
const versions = fc.constantFrom('Wazuh v4.9.2', 'Wazuh v4.14.7', 'Wazuh v4.10.0', undefined);
const systems = fc.constantFrom(
  undefined,
  { name: 'Ubuntu', platform: 'ubuntu' },
  { name: 'Debian', platform: 'debian' },
  { platform: 'windows' },
);
const groups = fc.constantFrom<string[]>([], ['default'], ['default', 'site'], ['site', 'default']);
const entries: fc.Arbitrary<Entry> = fc.record({
  record: fc.record({
    name: names,
    ip: fc.constantFrom('10.0.0.1', '10.0.0.2', undefined),
    registerIP: fc.constantFrom('any', '10.0.0.0/8', '10.0.0.2'),
    os: systems,
    version: versions,
    nodeName: fc.constantFrom('unknown', 'node01'),
    dateAdd: fc.integer({ min: 1_790_000_000, max: 1_790_000_005 }),
    groups,
    status: fc.constantFrom('active', 'pending', 'never_connected', 'disconnected'),
    statusCode: fc.integer({ min: 0, max: 5 }),
    disconnectionTime: fc.constantFrom(0, 1_790_000_000),
    mergedSum: fc.constantFrom('m1', 'm2', undefined),
  }),
  lastKeepAlive: fc.option(fc.integer({ min: 1_790_000_000, max: 1_790_000_009 }), { nil: undefined }),
});

const ids = fc.integer({ min: 0, max: 40 });
type Step =
  | { kind: 'set'; id: number; entry: Entry }
  | { kind: 'seen'; id: number; time: number }
  | { kind: 'gone'; id: number }
  | { kind: 'sum'; groups: string; md5: string | undefined };
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('set' as const), id: ids, entry: entries }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('seen' as const),
      id: ids,
      time: fc.integer({ min: 1_790_000_000, max: 1_790_000_020 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('gone' as const), id: ids }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('sum' as const),
      groups: fc.constantFrom('default', 'site', 'default,site', 'site,default'),
      md5: fc.constantFrom('m1', 'm2', undefined),
    }),
  },
);
const sortable = fc.constantFrom(...Object.keys(FIELDS));
const queries: fc.Arbitrary<Query> = fc.record({
  filters: fc.oneof(
    { weight: 3, arbitrary: fc.constant<Record<string, string[]>>({}) },
    {
      weight: 3,
      arbitrary: fc.constantFrom<Record<string, string[]>>(
        { status: ['active', 'pending'] },
        { name: ['web'] },
        { name: ['db', 'étoile'], node_name: ['node01'] },
        { ip: ['10.0.0.2'] },
        { group: ['site'] },
        { 'os.platform': ['ubuntu', 'windows'], group_config_status: ['synced'] },
      ),
    },
  ),
  clause: fc.option(
    fc.constantFrom<NonNullable<Query['clause']>>(
      { field: 'name', operator: '=', value: 'WEB' },
      { field: 'os.name', operator: '!=', value: 'ubuntu' },
      { field: 'version', operator: '=', value: 'wazuh v4.9.2' },
      { field: 'id', operator: '!=', value: '3' },
    ),
    { nil: undefined, freq: 2 },
  ),
  search: fc.option(fc.constantFrom('web', '-web', '3', '10.0', 'ubun', 'site', '-sync', 'é'), {
    nil: undefined,
    freq: 2,
  }),
  sort: fc.option(
    fc.record({ fields: fc.uniqueArray(sortable, { minLength: 1, maxLength: 3 }), descending: fc.boolean() }),
    { nil: undefined, freq: 5 },
  ),
  offset: fc.integer({ min: 0, max: 10 }),
  limit: fc.integer({ min: 0, max: 50 }),
});

function listParams({ filters, clause, search, sort, offset, limit }: Query): ListParams {
  return {
    ...filters,
    offset,
    limit,
    ...(clause === undefined ? {} : { q: `${clause.field}${clause.operator}${clause.value}` }),
    ...(search === undefined ? {} : { search }),
    ...(sort === undefined ? {} : { sort: `${sort.descending ? '-' : '+'}${sort.fields.join(',')}` }),
  };
}

function apply(agents: AgentSet, model: Model, step: Step): void {
  if (step.kind === 'set') {
    const { record, lastKeepAlive } = step.entry;
    agents.setKeepAlive(agents.set(step.id, record), lastKeepAlive);
    model.set(step.id, { record, lastKeepAlive });
  } else if (step.kind === 'gone') {
    agents.delete(step.id);
    model.delete(step.id);
  } else if (step.kind === 'sum') {
    agents.setMergedSum(step.groups, step.md5);
    if (step.md5 === undefined) model.sums.delete(step.groups);
    else model.sums.set(step.groups, step.md5);
  } else {
    const row = agents.get(step.id);
    if (row !== undefined) agents.setKeepAlive(row, step.time);
    const entry = model.get(step.id);
    if (entry !== undefined) entry.lastKeepAlive = step.time;
  }
}

describe('list of agents', () => {
  it('shows what a plain list would, after any series of changes', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.array(steps, { maxLength: 30 }), queries), { maxLength: 12 }), (rounds) => {
        const agents = new AgentSet();
        const model = new Model();
        for (const [changes, query] of rounds) {
          for (const change of changes) apply(agents, model, change);
          const { items, total } = listAgents(agents, listParams(query), CONTEXT);
          expect({ ids: items.map(({ id }) => id), total }).to.deep.equal(expected(model, query));
        }
      }),
      { numRuns: 150 },
    );
  }).timeout(20_000);

  const record: AgentRecord = {
    name: 'web-1',
    registerIP: 'any',
    nodeName: 'unknown',
    dateAdd: 1_790_000_000,
    groups: ['default'],
    status: 'never_connected',
    statusCode: 0,
    disconnectionTime: 0,
  };
  const page = { offset: 0, limit: 500 };

  function three(): AgentSet {
    const agents = new AgentSet();
    agents.set(1, record);
    const row = agents.set(2, {
      ...record,
      name: 'Manager2',
      ip: '10.0.0.7',
      registerIP: '10.0.0.0/8',
      os: { name: 'Ubuntu', platform: 'ubuntu', version: '24.04', major: '24', minor: '04' },
      uname: 'Linux |web2',
      version: 'Wazuh v4.14.0',
      configSum: 'c1',
      mergedSum: 'm1',
      manager: 'manager1',
      nodeName: 'node01',
      groups: ['default', 'site'],
      status: 'disconnected',
      statusCode: 4,
      disconnectionTime: NOW / 1000 - 100,
    });
    agents.setKeepAlive(row, NOW / 1000 - 8 * 86_400);
    agents.setKeepAlive(
      agents.set(10, {
        ...record,
        name: 'other',
        groups: [],
        status: 'active',
        version: 'Wazuh v4.14.7',
        os: { version: '9.1', major: '9', minor: '1' },
      }),
      NOW / 1000 - 10,
    );
    return agents;
  }
  const idsOf = (params: Partial<ListParams>) =>
    listAgents(three(), { ...page, ...params }, CONTEXT).items.map(({ id }) => id);

  it('shows an agent as the API does', () => {
    expect(listAgents(three(), { ...page, limit: 2 }, CONTEXT)).to.deep.equal({
      total: 3,
      items: [
        {
          id: '001',
          name: 'web-1',
          ip: 'any',
          registerIP: 'any',
          status: 'never_connected',
          status_code: 0,
          node_name: 'unknown',
          group: ['default'],
          group_config_status: 'not synced',
          dateAdd: '2026-09-21T14:13:20+00:00',
        },
        {
          id: '002',
          name: 'Manager2',
          ip: '10.0.0.7',
          registerIP: '10.0.0.0/8',
          status: 'disconnected',
          status_code: 4,
          os: { name: 'Ubuntu', version: '24.04', platform: 'ubuntu', major: '24', minor: '04', uname: 'Linux |web2' },
          version: 'Wazuh v4.14.0',
          manager: 'manager1',
          node_name: 'node01',
          group: ['default', 'site'],
          group_config_status: 'synced',
          configSum: 'c1',
          mergedSum: 'm1',
          dateAdd: '2026-09-21T14:13:20+00:00',
          lastKeepAlive: '2026-11-14T12:00:00+00:00',
          disconnection_time: '2026-11-22T11:58:20+00:00',
        },
      ],
    });
  });

  it('filters by age, version, groups, scope and what a caller names', () => {
    expect(idsOf({ older_than: '7d' })).to.deep.equal(['001', '002']);
    expect(idsOf({ older_than: '0s' })).to.deep.equal(['001', '002', '010']);
    for (const version of ['4.14.0', 'v4.14.0', 'WAZUH v4.14.0']) expect(idsOf({ version })).to.deep.equal(['002']);
    expect(idsOf({ status: ['all', 'active'] })).to.deep.equal(['001', '002', '010']);
    expect(idsOf({ no_group: true })).to.deep.equal(['010']);
    expect(idsOf({ outdated: true })).to.deep.equal(['002']);
    const agents = three();
    agents.set(2, { ...record, version: 'OSSEC HIDS v4.2.0' });
    const { items } = listAgents(agents, { ...page, outdated: true }, CONTEXT);
    expect(items, 'agents of another product').to.deep.equal([]);
    expect(idsOf({ ids: ['010', '001', '010', '077'] })).to.deep.equal(['001', '010']);
    expect(idsOf({ q: 'group!=site' })).to.deep.equal(['001']);
    expect(idsOf({ q: 'lastKeepAlive<1d,id=1' })).to.deep.equal(['001', '010']);
    expect(idsOf({ sort: 'os.version' })).to.deep.equal(['010', '002', '001']);
    const allow = (kind: 'id' | 'group' | 'all', value?: string) => ({
      effect: 'allow' as const,
      kind,
      ...(value === undefined ? {} : { value }),
    });
    const deny = (kind: 'id' | 'group' | 'all', value?: string) => ({ ...allow(kind, value), effect: 'deny' as const });
    expect(idsOf({ scope: { start: 'none', steps: [allow('group', 'site'), allow('id', '001')] } })).to.deep.equal([
      '001',
      '002',
    ]);
    expect(
      idsOf({ scope: { start: 'none', steps: [allow('all'), deny('group', 'default'), allow('id', '001')] } }),
    ).to.deep.equal(['001', '010']);
    expect(idsOf({ scope: { start: 'all', steps: [deny('id', '001'), allow('all')] } })).to.have.lengthOf(3);
    expect(idsOf({ scope: { start: 'none', steps: [] } })).to.deep.equal([]);
  });

  it('selects, and shows different rows once', () => {
    const agents = three();
    expect(listAgents(agents, { ...page, select: ['os.major', 'name'] }, CONTEXT).items).to.deep.equal([
      { id: '001', name: 'web-1' },
      { id: '002', name: 'Manager2', os: { major: '24' } },
      { id: '010', name: 'other', os: { major: '9' } },
    ]);
    agents.set(11, { ...record, groups: ['default'] });
    expect(listAgents(agents, { ...page, select: ['name', 'group'], distinct: true }, CONTEXT)).to.deep.equal({
      items: [
        { name: 'web-1', group: ['default'] },
        { name: 'Manager2', group: ['default', 'site'] },
      ],
      total: 2,
    });
  });

  it('refuses fields and operators it does not know', () => {
    const refusals: [Partial<ListParams>, number, RegExp][] = [
      [{ sort: 'foo' }, 1403, /^Allowed sort fields: configSum, dateAdd, .*version\. Fields: foo$/],
      [{ select: ['os', 'name'] }, 1724, /^Allowed select fields: configSum, .*\. Fields: os$/],
      [{ q: 'foo=1' }, 1408, /Field: foo$/],
      [{ q: 'group>a' }, 1409, /group/],
    ];
    for (const [params, code, extra] of refusals) {
      expect(() => idsOf(params))
        .to.throw(QueryError)
        .that.satisfies((error: QueryError) => error.code === code && extra.test(error.extra ?? ''));
    }
  });
});
