import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { ensureManagerAgent } from '../../../../daemons/db/manager-agent.js';
import { Registry } from '../../../../daemons/db/registry.js';
import { BusError } from '../../../../lib/bus/bus-error.js';
import type { CallParams } from '../../../../lib/bus/contract.js';
import type { dbContract } from '../../../../lib/bus/contracts/db.js';
import { queryErrorOf } from '../../../../lib/bus/contracts/db-agents.js';
import { callRegistry, type RegistryMethod } from '../../../support/db/registry-calls.js';
import { sampleAgent } from '../../../support/db/sample-agents.js';

type Contract = typeof dbContract;

const NOW = 1_795_000_000;

describe('registry of agents', () => {
  let directory: string;
  let registry: Registry;
  let problem: string | undefined;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'svc-db-'));
    problem = undefined;
    registry = await Registry.open(directory, (text) => (problem = text));
    await registry.ensureDefaultGroup(NOW);
    await ensureManagerAgent(registry, 'manager1', 'node01', NOW);
  });

  afterEach(async () => {
    await registry.close();
    rmSync(directory, { recursive: true, force: true });
  });

  async function call<M extends RegistryMethod>(
    method: M,
    params: CallParams<Contract, M>,
  ): Promise<Record<string, unknown>> {
    return (await callRegistry(registry, () => NOW * 1000, method, params)) as Record<string, unknown>;
  }

  async function failure(work: Promise<unknown>): Promise<BusError> {
    const error: unknown = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(BusError);
    return error as BusError;
  }

  async function reopen(): Promise<void> {
    await registry.close();
    registry = await Registry.open(directory, (text) => (problem = text));
  }

  const register = (id: string, more: Partial<CallParams<Contract, 'agents.register'>> = {}) =>
    call('agents.register', { id, name: `agent-${id}`, dateAdd: NOW - 5000, ...more });
  const item = async (id: string) =>
    ((await call('agents.get', { ids: [id] }))['items'] as Record<string, unknown>[])[0];

  it('has the manager from the start', async () => {
    const manager = (await item('000'))!;
    expect(manager).to.include({
      id: '000',
      name: 'manager1',
      ip: '127.0.0.1',
      registerIP: '127.0.0.1',
      status: 'active',
      manager: 'manager1',
      version: 'Wazuh v4.14.7',
      lastKeepAlive: '9999-12-31T23:59:59+00:00',
      group_config_status: 'synced',
      node_name: 'node01',
    });
    expect(manager).to.not.have.any.keys('group', 'configSum', 'mergedSum');
    expect(manager['os']).to.include.keys('name', 'platform', 'uname', 'arch');
    for (const refused of [
      call('agents.remove', { ids: ['000'] }),
      call('agents.update', { id: '000', changes: { name: 'x' } }),
      register('001', { replaces: ['000'] }),
    ]) {
      expect((await failure(refused)).code).to.equal('manager');
    }
    await reopen();
    await ensureManagerAgent(registry, 'renamed', 'node02', NOW + 9);
    expect(await item('000')).to.include({
      name: 'renamed',
      node_name: 'node02',
      dateAdd: '2026-11-18T11:06:40+00:00',
    });
  });

  it('keeps agents through registration, keepalives, a restart and their removal', async () => {
    await call('groups.create', { name: 'site' });
    await register('001', { registerIP: '10.0.0.0/8', groups: ['site', 'default'] });
    await register('002');
    expect(await item('002')).to.deep.equal({
      id: '002',
      name: 'agent-002',
      ip: 'any',
      registerIP: 'any',
      status: 'never_connected',
      status_code: 0,
      node_name: 'unknown',
      group: ['default'],
      group_config_status: 'not synced',
      dateAdd: '2026-11-18T09:43:20+00:00',
    });
    await call('agents.status', { agents: [{ id: '001', status: 'pending', at: NOW }] });
    const labels: [string, string][] = [
      ['"site"', 'north'],
      ['#"_agent_ip"', '10.1.2.3'],
    ];
    const changes = {
      ip: '10.1.2.3',
      os: { name: 'Debian', platform: 'debian', uname: 'Linux |one' },
      version: 'Wazuh v4.14.0',
      mergedSum: 'x',
      manager: 'manager1',
      nodeName: 'node01',
      labels,
    };
    expect(
      await call('agents.keepalives', {
        agents: [
          { id: '001', at: NOW + 1, changes },
          { id: '077', at: NOW },
        ],
      }),
    ).to.deep.equal({
      unknown: ['077'],
      assigned: [],
      incomplete: [],
    });
    await reopen();
    const shown = await item('001');
    expect(shown).to.deep.include({
      ip: '10.1.2.3',
      status: 'active',
      os: { name: 'Debian', platform: 'debian', uname: 'Linux |one' },
      group: ['site', 'default'],
      lastKeepAlive: '2026-11-18T11:06:41+00:00',
    });
    expect(await call('agents.labels', { ids: ['001', '002', '003'] })).to.deep.equal({
      agents: [
        { id: '001', labels },
        { id: '002', labels: [] },
      ],
      unknown: ['003'],
    });
    await call('agents.update', { id: '001', changes: { os: null, ip: null, name: 'renamed' } });
    expect(await item('001'))
      .to.include({ ip: '10.0.0.0/8', name: 'renamed' })
      .and.not.have.property('os');
    const ids = async (params: CallParams<Contract, 'agents.find'>) =>
      ((await call('agents.find', params))['items'] as { id: string }[]).map(({ id }) => id);
    expect(await ids({ name: 'RENAMED' })).to.deep.equal(['001']);
    expect(await ids({ registerIP: '10.0.0.0' })).to.deep.equal(['001']);
    expect(await ids({ registerIP: '10.0.0' })).to.deep.equal([]);
    expect(await ids({ registerIP: 'any', name: 'agent-002' })).to.deep.equal(['002']);

    expect((await failure(register('002'))).code).to.equal('agent_exists');
    expect((await failure(register('003', { groups: ['nowhere'] }))).code).to.equal('unknown_group');
    expect((await failure(call('agents.update', { id: '003', changes: {} }))).code).to.equal('unknown_agent');
    expect(await register('003', { replaces: ['002', '055'] })).to.deep.equal({
      removed: [{ id: '002', name: 'agent-002', ip: 'any', registerIP: 'any' }],
    });
    expect((await call('agents.remove', { ids: ['001', '002'] }))['unknown']).to.deep.equal(['002']);
    await reopen();
    expect((await call('agents.ids', {}))['ids']).to.deep.equal(['000', '003']);
    await register('001');
    expect((await call('agents.labels', { ids: ['001'] }))['agents']).to.deep.equal([{ id: '001', labels: [] }]);
    expect(await item('001')).to.not.have.property('lastKeepAlive');
  });

  it('tells svc-analysisd of each removal until it has it, over a restart, and of none that was not made', async () => {
    for (const id of ['001', '002', '003', '004']) await register(id);
    await call('agents.remove', { ids: ['002', '001'] });
    await register('005', { replaces: ['003'] });
    const removed = async (after: number, limit = 500): Promise<{ sequence: number; id: string }[]> =>
      (await call('agents.removed', { after, limit }))['removed'] as { sequence: number; id: string }[];
    const all = await removed(0);
    expect(all.map(({ id }) => id)).to.deep.equal(['002', '001', '003']);
    expect((await removed(0, 2)).map(({ id }) => id)).to.deep.equal(['002', '001']);
    await reopen();
    expect(await removed(0)).to.deep.equal(all);
    const [first, second, third] = all.map(({ sequence }) => sequence);
    expect([first! < second!, second! < third!]).to.deep.equal([true, true]);
    expect((await removed(second!)).map(({ id }) => id)).to.deep.equal(['003']);
    await reopen();
    expect(
      (await removed(0)).map(({ id }) => id),
      'asked for behind the others, it is kept alone',
    ).to.deep.equal(['003']);
    expect(await removed(third!)).to.deep.equal([]);
    // Closed, the store refuses every commit, as a full disk does.
    await registry.close();
    expect((await failure(call('agents.remove', { ids: ['004'] }))).code).to.equal('disk_failed');
    expect(await removed(third!)).to.deep.equal([]);
    registry = await Registry.open(directory, () => {});
    expect(await removed(third!)).to.deep.equal([]);
    await call('agents.remove', { ids: ['004'] });
    expect((await removed(third!))[0]!.sequence).to.be.above(third!);
  });

  it('finds who became silent, once', async () => {
    for (const id of ['001', '002', '003', '004']) await register(id);
    await call('agents.keepalives', {
      agents: [
        { id: '001', at: NOW - 100 },
        { id: '002', at: NOW },
      ],
    });
    await call('agents.status', { agents: [{ id: '003', status: 'pending', at: NOW - 200 }] });
    const stale = { before: NOW - 50, at: NOW };
    expect(await call('agents.disconnect_stale', stale)).to.deep.equal({
      agents: [
        { id: '001', name: 'agent-001', ip: 'any', registerIP: 'any', lastKeepAlive: NOW - 100 },
        { id: '003', name: 'agent-003', ip: 'any', registerIP: 'any', lastKeepAlive: NOW - 200 },
      ],
      judged: true,
    });
    expect(await call('agents.disconnect_stale', stale)).to.deep.equal({ agents: [], judged: true });
    expect(await item('001')).to.include({
      status: 'disconnected',
      status_code: 4,
      disconnection_time: '2026-11-18T11:06:40+00:00',
    });
    await call('agents.keepalives', { agents: [{ id: '001', at: NOW + 1 }] });
    expect(await item('001'))
      .to.include({ status: 'active', status_code: 0 })
      .and.not.have.property('disconnection_time');
    await call('agents.status', { agents: [{ id: '002', status: 'disconnected', statusCode: 3 }] });
    expect(await item('002')).to.include({ status_code: 3, disconnection_time: '2026-11-18T11:06:40+00:00' });
    expect(await call('agents.reset_connections', { at: NOW + 5 })).to.deep.equal({ ids: ['001'] });
    expect(await item('001')).to.include({ status: 'disconnected', status_code: 5 });
    expect(await item('000')).to.include({ status: 'active' });
    expect(await call('agents.summary', {})).to.deep.equal({
      connection: { active: 0, disconnected: 3, never_connected: 1, pending: 0, total: 4 },
      configuration: { synced: 3, not_synced: 1, total: 4 },
      os: {},
      groups: { default: 4 },
    });
    expect((await call('agents.count_by', { fields: ['status', 'os.name'], q: 'id!=000' }))['items']).to.deep.equal([
      { status: 'disconnected', os: { name: 'N/A' }, count: 3 },
      { status: 'never_connected', os: { name: 'N/A' }, count: 1 },
    ]);
    const refused = await failure(call('agents.list', { sort: 'foo' }));
    expect(queryErrorOf(refused))
      .to.include({ code: 1403 })
      .and.have.property('extra')
      .that.matches(/Fields: foo$/);
  });

  it('changes membership in the four modes', async () => {
    for (const name of ['web', 'db']) await call('groups.create', { name });
    await register('001');
    await register('002', { groups: [] });
    const change = async (mode: 'append' | 'override' | 'empty_only' | 'remove', groups: string[], id = '001') => {
      const answer = await call('agents.membership', { mode, agents: [{ id, groups }] });
      const [failed] = answer['failed'] as { code: string }[];
      return failed?.code ?? (await item(id))?.['group'];
    };
    expect(await change('append', ['web', 'db'])).to.deep.equal(['default', 'web', 'db']);
    expect(await change('append', ['web'])).to.equal('already_member');
    expect(await change('override', ['db', 'web', 'db'])).to.deep.equal(['db', 'web']);
    expect(await change('empty_only', ['default'])).to.deep.equal(['db', 'web']);
    expect(await change('remove', ['default'])).to.equal('not_member');
    expect(await change('remove', ['db', 'web'])).to.deep.equal(['default']);
    expect(await change('remove', ['default'])).to.equal('only_default');
    expect(await change('append', ['web'], '000')).to.equal('manager');
    expect(await change('append', ['web'], '099')).to.equal('unknown_agent');
    expect((await failure(change('append', ['nowhere']))).message).to.equal(
      "Unable to find the id of the group 'nowhere'",
    );
    expect((await call('agents.ids', { no_group: true }))['ids']).to.deep.equal(['002']);
    expect((await call('agents.keepalives', { agents: [{ id: '002', at: NOW }] }))['assigned']).to.deep.equal(['002']);

    const many = Array.from({ length: 128 }, (_none, index) => `g${index}`);
    for (const name of many) await call('groups.create', { name });
    expect(await change('append', many)).to.equal('too_many_groups');
    expect(await change('override', many)).to.deep.equal(many);
  });

  it('keeps groups, and gives members of removed ones back to default', async () => {
    for (const name of ['web', 'db']) await call('groups.create', { name });
    expect((await failure(call('groups.create', { name: 'web' }))).code).to.equal('group_exists');
    expect((await failure(call('groups.get', { name: 'nowhere' }))).code).to.equal('unknown_group');
    await register('001', { groups: ['default', 'web'] });
    await register('002', { groups: ['web', 'default'] });
    await register('003', { groups: ['db'] });
    expect(await call('groups.list', {})).to.deep.include({
      groups: [
        { name: 'db', count: 1 },
        { name: 'default', count: 2 },
        { name: 'web', count: 2 },
      ],
      unknown: [],
    });
    expect(await call('groups.multigroups', {})).to.deep.equal({
      lists: [
        { groups: ['default', 'web'], hash: '5288d400', agents: 1 },
        { groups: ['web', 'default'], hash: '4b323b42', agents: 1 },
      ],
    });
    expect((await call('groups.agents', { name: 'web' }))['ids']).to.deep.equal(['001', '002']);
    expect((await failure(call('groups.remove', { names: ['web', 'default'] }))).code).to.equal('default_group');
    expect(await call('groups.remove', { names: ['web', 'nowhere'] })).to.deep.equal({
      removed: ['web'],
      kept: [],
      unknown: ['nowhere'],
      agents: ['001', '002'],
    });
    await call('groups.create', { name: 'new' });
    expect((await call('groups.remove', { names: ['db'] }))['agents']).to.deep.equal(['003']);
    await reopen();
    expect(await call('groups.list', { names: ['new', 'default', 'db'] })).to.deep.include({
      groups: [
        { name: 'default', count: 3 },
        { name: 'new', count: 0 },
      ],
      unknown: ['db'],
    });
    expect((await item('003'))?.['group']).to.deep.equal(['default']);
  });

  it('removes no group on old news that somebody has wanted since', async () => {
    await register('001', { groups: ['default'] });
    const names = ['made', 'given', 'registered', 'idle'];
    for (const name of names) await call('groups.create', { name });
    const { mark } = await call('groups.list', {});
    expect((await failure(call('groups.create', { name: 'made' }))).code).to.equal('group_exists');
    await call('agents.membership', { mode: 'append', agents: [{ id: '001', groups: ['given'] }] });
    await register('002', { groups: ['registered'] });
    expect(await call('groups.remove', { names: [...names, 'nowhere'], unusedSince: String(mark) })).to.deep.equal({
      removed: ['idle'],
      kept: ['made', 'given', 'registered'],
      unknown: ['nowhere'],
      agents: [],
    });
    expect((await item('001'))?.['group']).to.deep.equal(['default', 'given']);
    // What is known only now is no old news.
    const later = await call('groups.list', {});
    await call('agents.membership', { mode: 'remove', agents: [{ id: '001', groups: ['given'] }] });
    expect(
      await call('groups.remove', { names: ['made', 'given'], unusedSince: String(later['mark']) }),
    ).to.deep.include({
      removed: ['made', 'given'],
      kept: [],
    });
    await reopen();
    expect(await call('groups.remove', { names: ['registered'], unusedSince: String(later['mark']) })).to.deep.include({
      removed: [],
      kept: ['registered'],
    });
  });

  it('is as it was before when the disk does not take a change', async () => {
    await register('001', { groups: ['default'] });
    await call('agents.keepalives', { agents: [{ id: '001', at: NOW, changes: { labels: [['"a"', '1']] } }] });
    const list = async () => (await call('agents.list', {}))['items'];
    const before = await list();
    // Closed, the store refuses every commit, as a full disk does.
    await registry.close();
    const results = await Promise.all([
      failure(register('002')),
      failure(call('agents.update', { id: '001', changes: { name: 'renamed', lastKeepAlive: 5 } })),
      failure(call('groups.create', { name: 'web' })),
      failure(call('agents.remove', { ids: ['001'] })),
    ]);
    for (const { code } of results) expect(code).to.equal('disk_failed');
    expect(await list()).to.deep.equal(before);
    expect((await call('groups.list', {}))['groups']).to.deep.equal([{ name: 'default', count: 1 }]);
    expect(problem).to.match(/^Changes of agents cannot be stored: .* was closed$/);
  });

  it('takes back any series of changes that could not be stored', async () => {
    for (let id = 1; id < 20; id += 1) await register(String(id).padStart(3, '0'));
    await registry.close();
    const step = fc.record({
      kind: fc.constantFrom('set', 'delete', 'seen', 'labels', 'group', 'ungroup'),
      id: fc.integer({ min: 1, max: 25 }),
      sample: fc.integer({ min: 0, max: 1000 }),
    });
    const lists = async () => ({
      byId: await call('agents.list', {}),
      others: await Promise.all(['-name', 'lastKeepAlive,ip', 'group,id'].map((sort) => call('agents.list', { sort }))),
      byGroup: await call('groups.list', {}),
    });
    const before = await lists();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 4 }),
        async (edits) => {
          const outcomes = edits.map((changes) =>
            registry.edit((edit) => {
              for (const { kind, id, sample } of changes) {
                const row = registry.agents.get(id);
                if (kind === 'set') edit.setAgent(id, sampleAgent(sample).record);
                else if (kind === 'group') edit.setGroup(`g${id}`, { dateAdd: sample });
                else if (kind === 'ungroup') edit.deleteGroup(`g${id}`);
                else if (row === undefined) continue;
                else if (kind === 'delete') edit.deleteAgent(row);
                else if (kind === 'seen') edit.setKeepAlive(row, sample);
                else edit.setLabels(id, [['"a"', String(sample)]]);
              }
            }),
          );
          await Promise.allSettled(outcomes);
          expect(await lists()).to.deep.equal(before);
          expect(registry.unwrittenLabels.size).to.equal(0);
        },
      ),
      { numRuns: 60 },
    );
  });
});
