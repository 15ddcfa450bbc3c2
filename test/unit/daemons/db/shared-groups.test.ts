import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { DEFAULT_GROUP } from '../../../../daemons/db/membership.js';
import { Registry } from '../../../../daemons/db/registry.js';
import { BusError } from '../../../../lib/bus/bus-error.js';
import { FakeCluster } from '../../../support/cluster/fake-cluster.js';
import { GroupNode } from '../../../support/db/group-node.js';
import { eventually } from '../../../support/eventually.js';

const NOW = 1_795_000_000;
const AWAY = 'no connection to NATS';

describe('groups that all nodes have in common', () => {
  let cluster: FakeCluster;
  const nodes: GroupNode[] = [];

  beforeEach(() => {
    cluster = new FakeCluster();
  });
  afterEach(async () => {
    for (const node of nodes.splice(0)) await node.remove();
  });

  const directory = () => mkdtempSync(join(tmpdir(), 'svc-db-'));
  async function start(name: string, ...rest: [directory?: string, seeded?: readonly string[]]): Promise<GroupNode> {
    const node = await GroupNode.start(cluster, name, rest[0] ?? directory(), rest[1]);
    nodes.push(node);
    return node;
  }
  async function two(): Promise<[GroupNode, GroupNode]> {
    const pair: [GroupNode, GroupNode] = [await start('a'), await start('b')];
    await settled();
    return pair;
  }
  async function settled(): Promise<void> {
    for (const node of nodes) await node.caughtUp();
  }
  /** As svc-authd of each node does. */
  async function enrol(id: string, groups?: readonly string[]): Promise<void> {
    const key = { name: `agent-${id}`, ip: 'any', key: 'k', dateAdd: NOW };
    cluster.commit([{ kind: 'agent', key: id, value: key }]);
    for (const node of nodes) await register(node, id, node === nodes[0] ? groups : undefined);
  }
  const register = (node: GroupNode, id: string, groups?: readonly string[]) =>
    node.call('agents.register', {
      id,
      name: `agent-${id}`,
      dateAdd: NOW,
      ...(groups === undefined ? {} : { groups: [...groups] }),
    });
  const put = (node: GroupNode, id: string, ...groups: string[]) =>
    node.call('agents.membership', { mode: 'append', agents: [{ id, groups }] });
  async function failure(work: Promise<unknown>): Promise<BusError> {
    const error: unknown = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(BusError);
    return error as BusError;
  }
  const groupsOf = (node: GroupNode, id: string) => node.tables().agents[id];

  it('are made at one, given to an agent at another, and removed at the first', async () => {
    const [a, b] = await two();
    await enrol('001');
    await a.call('groups.create', { name: 'web' });
    await settled();
    const { epoch, version } = await a.call('agents.memberships', {});
    await put(b, '001', 'web');
    await settled();
    expect(a.tables()).to.deep.equal(b.tables());
    expect(groupsOf(a, '001')).to.deep.equal([DEFAULT_GROUP, 'web']);
    expect(await a.call('agents.memberships', { since: { epoch, version } })).to.deep.include({
      full: false,
      agents: [{ id: '001', groups: [DEFAULT_GROUP, 'web'] }],
    });
    expect((await failure(b.call('groups.create', { name: 'web' }))).code).to.equal('group_exists');
    expect(await a.call('groups.remove', { names: ['web', 'ghost'] })).to.deep.equal({
      removed: ['web'],
      kept: [],
      unknown: ['ghost'],
      agents: ['001'],
    });
    await settled();
    expect(groupsOf(b, '001')).to.deep.equal([DEFAULT_GROUP]);
    expect(b.registry.groups.has('web')).to.equal(false);
    expect((await failure(put(b, '001', 'web'))).code).to.equal('unknown_group');
  });

  it('are right when one node removes a group that another gives to an agent, whoever is first', async () => {
    const [a, b] = await two();
    for (const id of ['001', '002']) await enrol(id);
    for (const first of ['a', 'b']) {
      await a.call('groups.create', { name: first });
      await settled();
      // What the other does is not heard by the one that decides now.
      const [quick, slow] = first === 'a' ? [a, b] : [b, a];
      cluster.hold(slow.name);
      const removal = () => a.call('groups.remove', { names: [first] });
      const gift = () => b.call('agents.membership', { mode: 'append', agents: [{ id: '002', groups: [first] }] });
      const won = quick === a ? removal() : gift();
      await won;
      const late = quick === a ? gift() : removal();
      const outcome = late.then(
        () => 'done',
        (error: unknown) => (error as BusError).code,
      );
      cluster.release(slow.name);
      expect(await outcome).to.equal(quick === a ? 'unknown_group' : 'done');
      await settled();
      expect(a.tables()).to.deep.equal(b.tables());
      expect(groupsOf(a, '002')).to.deep.equal([DEFAULT_GROUP]);
      expect(a.registry.groups.has(first)).to.equal(false);
    }
  });

  it('are given to an agent that comes with groups, before or after the other node hears of it', async () => {
    const [a, b] = await two();
    await a.call('groups.create', { name: 'web' });
    await settled();
    cluster.commit([{ kind: 'agent', key: '001', value: { name: 'agent-001', ip: 'any', key: 'k', dateAdd: NOW } }]);
    await register(a, '001', ['web', 'default']);
    expect(cluster.value('member', '001')).to.deep.equal({ groups: ['web', 'default'] });
    await b.caughtUp();
    expect(groupsOf(b, '001')).to.equal(undefined);
    await register(b, '001');
    expect(groupsOf(b, '001')).to.deep.equal(['web', 'default']);
    // What was said when it came does not undo what was said of it since then.
    await b.call('agents.membership', { mode: 'override', agents: [{ id: '001', groups: ['default'] }] });
    await settled();
    await a.call('agents.remove', { ids: ['001'] });
    await register(a, '001', ['web']);
    expect(groupsOf(a, '001')).to.deep.equal(['default']);
    expect((await failure(register(a, '002', ['ghost']))).code).to.equal('unknown_group');
    expect(groupsOf(a, '002')).to.equal(undefined);
    expect((await failure(register(a, '001', ['web']))).code).to.equal('agent_exists');
  });

  it('are taken from agents, too, that this node has not heard of yet', async () => {
    const [a, b] = await two();
    await a.call('groups.create', { name: 'web' });
    await a.call('groups.create', { name: 'db' });
    await settled();
    cluster.commit([{ kind: 'agent', key: '001', value: { name: 'agent-001', ip: 'any', key: 'k', dateAdd: NOW } }]);
    await register(a, '001', ['web', 'db']);
    await b.caughtUp();
    expect(await b.call('groups.remove', { names: ['web'] })).to.deep.include({ removed: ['web'], agents: [] });
    expect(cluster.value('member', '001')).to.deep.equal({ groups: ['db'] });
    await register(b, '001');
    await settled();
    expect(a.tables()).to.deep.equal(b.tables());
  });

  it('are told as made by whoever made them, though the answer was lost and it is decided anew', async () => {
    const [a, b] = await two();
    cluster.interrupt = (changes) => {
      cluster.interrupt = () => undefined;
      return changes.length;
    };
    await a.call('groups.create', { name: 'web' });
    expect((await failure(b.call('groups.create', { name: 'web' }))).code).to.equal('group_exists');
    expect(Object.keys(a.tables().groups)).to.include('web');
  });

  it('cannot be changed while the cluster cannot be, and all else goes on', async () => {
    const [a, b] = await two();
    await a.call('groups.create', { name: 'web' });
    await enrol('001');
    await settled();
    cluster.unwritable = AWAY;
    for (const work of [
      a.call('groups.create', { name: 'db' }),
      a.call('groups.remove', { names: ['web'] }),
      put(a, '001', 'web'),
      register(a, '002', ['web']),
    ]) {
      const { code, message } = await failure(work);
      expect({ code, message }).to.deep.equal({ code: 'cluster_unavailable', message: AWAY });
    }
    expect(a.tables()).to.deep.equal(b.tables());
    await register(a, '002');
    const beats = ['001', '002'].map((id) => ({ id, at: NOW, changes: { mergedSum: 'x' } }));
    expect(await a.call('agents.keepalives', { agents: beats })).to.deep.equal({
      unknown: [],
      assigned: [],
      incomplete: [],
    });
    expect((await a.call('groups.list', {})).groups).to.deep.equal([
      { name: 'default', count: 2 },
      { name: 'web', count: 0 },
    ]);
    cluster.unwritable = undefined;
    await put(a, '001', 'web');
    expect(groupsOf(a, '001')).to.deep.equal(['default', 'web']);
  });

  it('are as this node had them until it knows better, when it starts', async () => {
    const a = await start('a');
    await a.caughtUp();
    await a.call('groups.create', { name: 'web' });
    await enrol('001');
    await put(a, '001', 'web');
    await a.groups.close();
    cluster.unavailable = AWAY;
    await a.registry.close();
    a.registry = await Registry.open(a['directory'], () => {});
    a.join(['svc-authd', 'svc-db']);
    expect(groupsOf(a, '001')).to.deep.equal(['default', 'web']);
    const { code, message } = await failure(a.call('groups.create', { name: 'db' }));
    expect(code).to.equal('cluster_unavailable');
    expect(message).to.match(/^Nothing can be changed in the cluster: /);
    cluster.unavailable = undefined;
    cluster.commit([{ kind: 'member', key: '001', value: { groups: ['web'] } }]);
    await a.caughtUp();
    expect(groupsOf(a, '001')).to.deep.equal(['web']);
  });

  it('write what differs, and nothing else, when a node comes back', async () => {
    const [a, b] = await two();
    await a.call('groups.create', { name: 'web' });
    for (const id of ['001', '002', '003']) await enrol(id);
    await put(a, '001', 'web');
    await settled();
    await b.restart();
    const { commits } = b.registry.counters;
    await b.caughtUp();
    expect(b.registry.counters.commits).to.equal(commits);
    await b.stop();
    await put(a, '002', 'web');
    await a.call('groups.create', { name: 'db' });
    await a.call('groups.remove', { names: ['web'] });
    await put(a, '003', 'db');
    await b.startAgain();
    await b.caughtUp();
    expect(b.tables()).to.deep.equal(a.tables());
  });

  it('of a manager that joins are brought: groups, and those of its agents that are the cluster’s', async () => {
    const a = await start('a');
    await a.caughtUp();
    await a.call('groups.create', { name: 'web' });
    await enrol('001', ['web']);
    const place = directory();
    const alone = await Registry.open(place, () => {});
    await alone.edit((edit) => {
      for (const name of ['default', 'web', 'db']) edit.setGroup(name, { dateAdd: 7 });
      const agent = (id: number, name: string, ...groups: string[]) =>
        edit.setAgent(id, {
          ...{ name, registerIP: 'any', nodeName: 'unknown', dateAdd: NOW, groups },
          ...{ status: 'never_connected', statusCode: 0, disconnectionTime: 0 },
        });
      // Another one of the cluster has its id.
      agent(1, 'stranger', 'db');
      agent(2, 'agent-002', 'db', 'default');
      agent(3, 'agent-003', 'default');
      agent(4, 'not-brought', 'db');
    });
    await alone.close();
    const b = await start('b', place, []);
    await eventually('it waits for svc-authd', () => b.logger.lines.some((line) => line.includes('svc-authd')));
    expect(cluster.value('group', 'db')).to.equal(undefined);
    const agents = ['002', '003'].map((id) => ({ name: `agent-${id}`, ip: 'any', key: 'k', dateAdd: NOW, id }));
    cluster.commit(agents.map(({ id, ...value }) => ({ kind: 'agent', key: id, value })));
    for (const { id } of agents) await register(a, id);
    await b.call('agents.remove', { ids: ['001', '004'] });
    await register(b, '001');
    await b.groups.close();
    b.join(['svc-authd']);
    await settled();
    expect(cluster.value('group', 'db')).to.deep.equal({ dateAdd: 7 });
    expect(cluster.value('member', '002')).to.deep.equal({ groups: ['db', 'default'] });
    expect([cluster.value('member', '003'), cluster.value('member', '004')]).to.deep.equal([undefined, undefined]);
    expect(b.tables()).to.deep.equal(a.tables());
    expect(groupsOf(a, '001')).to.deep.equal(['web']);
    expect(b.registry.groups.get('web')?.dateAdd).to.equal(NOW);
  });

  it('of agents that are gone leave the records, after a while', async () => {
    const a = await start('a');
    await a.caughtUp();
    await a.call('groups.create', { name: 'web' });
    await enrol('001', ['web']);
    await enrol('002', ['web']);
    await a.groups.tidy();
    cluster.commit([{ kind: 'agent', key: '001', value: null }]);
    await a.call('agents.remove', { ids: ['001'] });
    await settled();
    await a.groups.tidy();
    expect(cluster.value('member', '001')).to.deep.equal({ groups: ['web'] });
    cluster.unwritable = AWAY;
    await a.groups.tidy();
    cluster.unwritable = undefined;
    await a.groups.tidy();
    expect(cluster.value('member', '001')).to.equal(undefined);
    expect(cluster.value('member', '002')).to.deep.equal({ groups: ['web'] });
  });

  it('are given to very many at once in several commits; what is made stays when the rest cannot be', async () => {
    const count = 10_500;
    const [a, b] = await two();
    await a.call('groups.create', { name: 'web' });
    const ids = Array.from({ length: count }, (_none, index) => String(index + 1).padStart(3, '0'));
    for (const node of nodes) {
      await node.registry.edit((edit) => {
        for (const id of ids) {
          edit.setAgent(Number(id), {
            ...{ name: `agent-${id}`, registerIP: 'any', nodeName: 'unknown', dateAdd: NOW, groups: ['default'] },
            ...{ status: 'never_connected', statusCode: 0, disconnectionTime: 0 },
          });
        }
      });
    }
    await settled();
    cluster.interrupt = () => {
      cluster.unwritable = AWAY;
      return undefined;
    };
    const agents = ids.map((id) => ({ id, groups: ['web'] }));
    const first = await a.call('agents.membership', { mode: 'append', agents });
    expect([first.changed.length, first.failed.length]).to.deep.equal([2000, 8500]);
    expect(first.failed[0]).to.include({ code: 'cluster_unavailable', message: AWAY });
    await settled();
    const there = b.tables().agents;
    for (const { id } of first.changed) expect(there[id]).to.deep.equal(['default', 'web']);
    cluster.interrupt = () => undefined;
    cluster.unwritable = undefined;
    const rest = await a.call('agents.membership', {
      mode: 'append',
      agents: first.failed.map(({ id }) => ({ id, groups: ['web'] })),
    });
    expect(rest.failed).to.deep.equal([]);
    await settled();
    expect((await b.call('groups.get', { name: 'web' })).count).to.equal(count);
    const removal = await b.call('groups.remove', { names: ['web'] });
    expect([removal.removed, removal.agents.length]).to.deep.equal([['web'], count]);
    await settled();
    expect(a.tables()).to.deep.equal(b.tables());
    expect((await a.call('groups.get', { name: 'default' })).count).to.equal(count);
  }).timeout(60_000);

  it('are told as changed once, though somebody else comes between the parts of a change', async () => {
    const [a, b] = await two();
    for (const name of ['web', 'db']) await a.call('groups.create', { name });
    const ids = ['001', '002', '003', '004'];
    for (const id of ids) await enrol(id);
    let interrupted = 0;
    cluster.interrupt = (changes) => {
      if (changes.length === 1 || interrupted > 1) return undefined;
      interrupted += 1;
      cluster.commit([{ kind: 'group', key: `other-${interrupted}`, value: { dateAdd: 1 } }]);
      return 2;
    };
    const agents = ids.map((id) => ({ id, groups: ['web'] }));
    const { changed, failed } = await a.call('agents.membership', { mode: 'append', agents });
    expect(failed).to.deep.equal([]);
    expect(changed).to.deep.equal(ids.map((id) => ({ id, groups: ['default', 'web'] })));
    expect(interrupted).to.equal(2);
    interrupted = 0;
    await settled();
    const removal = await b.call('groups.remove', { names: ['web', 'db'] });
    expect(removal).to.deep.equal({ removed: ['web', 'db'], kept: [], unknown: [], agents: ids });
    await settled();
    expect(a.tables()).to.deep.equal(b.tables());
  });

  it('do not come from records that are none', async () => {
    const [a, b] = await two();
    await enrol('001');
    cluster.commit([
      { kind: 'group', key: '../etc', value: { dateAdd: 1 } },
      { kind: 'group', key: 'odd', value: { dateAdd: 'x' } },
      { kind: 'member', key: '000', value: { groups: ['default'] } },
      { kind: 'member', key: 'x', value: { groups: ['default'] } },
      { kind: 'member', key: '001', value: { groups: 'web' } },
    ]);
    await settled();
    expect(Object.keys(a.tables().groups)).to.deep.equal(['default']);
    expect(groupsOf(b, '001')).to.deep.equal(['default']);
    expect(a.logger.lines.join('\n')).to.include("warn: Record 'group ../etc' of the cluster is none");
    // One that names a group that comes later has it then.
    cluster.commit([{ kind: 'member', key: '001', value: { groups: ['later', 'default', 'later'] } }]);
    await settled();
    expect(groupsOf(a, '001')).to.deep.equal(['default']);
    cluster.commit([{ kind: 'group', key: 'later', value: { dateAdd: 1 } }]);
    await settled();
    expect(groupsOf(a, '001')).to.deep.equal(['later', 'default']);
    await b.restart();
    await settled();
    expect(a.tables()).to.deep.equal(b.tables());
  });
});
