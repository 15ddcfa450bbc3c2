import { expect } from 'chai';
import type { ApiList } from '../../../support/api/api-list.js';
import { addUser, policy } from '../../../support/api/rbac-user.js';
import { TestCluster } from '../../../support/api/test-cluster.js';
import { RemotedServer } from '../../../support/remoted/remoted-server.js';

const PASSWORD = 'Correct-42-horse';
const failures = ({ data }: ApiList) => data.failed_items.map(({ error, id }) => [error.code, ...id]);

describe('requests that several nodes answer', () => {
  let cluster: TestCluster;
  const remoteds = new Map<string, RemotedServer>();
  before(async () => {
    cluster = await TestCluster.start(['node01', 'node02', 'node03'], { requestTimeoutMs: 2000 });
    // 001, 004, ... are on node02, 002, 005, ... on node03, 003, 006, ... on node01.
    await cluster.fill(30, (id) => `node0${1 + (id % 3)}`);
    for (const { name, api } of cluster.nodes.values()) remoteds.set(name, await RemotedServer.start(api.home));
  });
  after(async () => {
    for (const remoted of remoteds.values()) await remoted.stop();
    await cluster.remove();
  });
  beforeEach(() => {
    cluster.asked.length = 0;
    cluster.away.clear();
    cluster.silent.clear();
    for (const remoted of remoteds.values()) remoted.sent.length = 0;
  });

  const sentBy = (name: string) =>
    remoteds
      .get(name)!
      .sent.flatMap(({ ids }) => ids)
      .sort();
  const numbers = (from: number) =>
    Array.from({ length: 10 }, (_none, index) => String(from + 3 * index).padStart(3, '0'));

  it('go for one agent to the node where it is, and nowhere else', async () => {
    const { lists } = cluster.node('node01');
    const template = '/agents/{agent_id}/restart';
    const restart = (id: string) => lists.call('PUT', `/agents/${id}/restart`, { template });
    expect((await restart('001')).data.affected_items).to.deep.equal(['001']);
    expect([sentBy('node01'), sentBy('node02'), sentBy('node03')]).to.deep.equal([[], ['001'], []]);
    expect(cluster.asked.map(({ from, node, method }) => [from, node, method])).to.deep.equal([
      ['node01', 'node02', 'api.run'],
    ]);
    cluster.asked.length = 0;
    expect((await restart('003')).data.affected_items).to.deep.equal(['003']);
    expect(sentBy('node01')).to.deep.equal(['003']);
    // What nobody knows, and the manager itself, is answered where it is asked.
    expect(failures(await restart('999'))).to.deep.equal([[1701, '999']]);
    expect(failures(await restart('000'))).to.deep.equal([[1703, '000']]);
    expect(cluster.asked).to.deep.equal([]);
  });

  it('go for named agents to each of their nodes, and are answered once', async () => {
    const { lists } = cluster.node('node02');
    const answer = await lists.call('PUT', '/agents/restart?agents_list=006,001,002,999,000,004');
    expect(answer).to.deep.include({ message: 'Restart command was not sent to some agents', error: 2 });
    expect(answer.data.affected_items).to.deep.equal(['001', '002', '004', '006']);
    expect(answer.data.total_affected_items).to.equal(4);
    expect(failures(answer)).to.deep.equal([
      [1701, '999'],
      [1703, '000'],
    ]);
    expect([sentBy('node01'), sentBy('node02'), sentBy('node03')]).to.deep.equal([['006'], ['001', '004'], ['002']]);
  });

  it('about all agents have each node do it for its own', async () => {
    const { lists } = cluster.node('node03');
    const answer = await lists.call('PUT', '/agents/reconnect');
    expect(answer).to.deep.include({ message: 'Force reconnect command was sent to all agents', error: 0 });
    expect(answer.data.total_affected_items).to.equal(30);
    expect([sentBy('node01'), sentBy('node02'), sentBy('node03')]).to.deep.equal([numbers(3), numbers(1), numbers(2)]);
    expect(cluster.asked).to.have.length(2);
  });

  it('name the agents of a node that is away, or says nothing, and answer for the others', async () => {
    const { lists } = cluster.node('node01');
    cluster.away.add('node02');
    const named = await lists.call('PUT', '/agents/restart?agents_list=001,003,004');
    expect(named.data.affected_items).to.deep.equal(['003']);
    expect(failures(named)).to.deep.equal([[3022, '001', '004']]);
    expect(named.data.failed_items[0]!.error.message).to.include('node02');
    const all = await lists.call('PUT', '/agents/restart');
    expect(all.data.total_affected_items).to.equal(20);
    expect(failures(all)).to.deep.equal([[3022, 'node02']]);
    cluster.away.clear();
    cluster.silent.add('node03');
    const slow = await lists.call('PUT', '/agents/restart?agents_list=001,002');
    expect(slow.data.affected_items).to.deep.equal(['001']);
    expect(failures(slow)).to.deep.equal([[3021, '002']]);
    const one = await cluster.node('node01').api.call('PUT', '/agents/002/restart');
    const problem = one.json() as { error: number; dapi_errors: object };
    expect([one.status, problem.error]).to.deep.equal([500, 3021]);
    expect(problem.dapi_errors).to.have.property('node03');
  });

  it('of a caller who may not are refused wherever they go', async () => {
    const { api } = cluster.node('node01');
    await addUser(api, { name: 'some', password: PASSWORD }, [policy('allow', 'agent:restart', 'agent:id:001')]);
    const headers = { authorization: `Bearer ${await api.login('some', PASSWORD)}` };
    const restart = async (path: string) => api.request('PUT', path, { headers });
    expect((await restart('/agents/002/restart')).status).to.equal(403);
    expect((await restart('/agents/restart?agents_list=002,004')).status).to.equal(403);
    expect(cluster.asked).to.deep.equal([]);
    const some = (await restart('/agents/restart?agents_list=001,002')).json() as ApiList;
    expect([some.data.affected_items, failures(some)]).to.deep.equal([['001'], [[4000, '002']]]);
    const all = (await restart('/agents/restart')).json() as ApiList;
    expect([all.data.affected_items, failures(all)]).to.deep.equal([['001'], []]);
    expect(remoteds.get('node02')!.sent.flatMap(({ ids }) => ids)).to.deep.equal(['001', '001']);
    // Nor does the other node take the word of this one for it.
    const { handlers } = cluster.node('node02').api.api;
    const policies = [{ actions: ['agent:restart'], resources: ['agent:id:001'], effect: 'allow' as const }];
    const refused = await handlers['api.run']({
      operation: 'putAgentsRestart',
      parameters: { agents_list: ['004'] },
      caller: { name: 'some', mode: 'white', policies },
      ...{ form: 'list', limitMs: 1000, from: 'node01' },
    });
    expect(refused).to.deep.include({ kind: 'refused', status: 403 });
  });

  it('are taken from other nodes only where nodes have to ask each other', async () => {
    const { handlers } = cluster.node('node02').api.api;
    const ask = async (operation: string, parameters: Record<string, unknown>) => {
      const caller = { name: 'x', mode: 'black' as const, policies: [] };
      try {
        await handlers['api.run']({ operation, parameters, caller, form: 'sent', limitMs: 1000, from: 'node01' });
        return 'done';
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    expect(await ask('postSecurityUsers', {})).to.equal('not_relayed');
    expect(await ask('getAgentsAgentIdKey', { agent_id: '001' })).to.equal('not_relayed');
    expect(await ask('noSuch', {})).to.equal('not_relayed');
    expect(await ask('putAgentsAgentIdRestart', { agent_id: '../1' })).to.equal('bad_params');
    expect(await ask('putAgentsAgentIdRestart', {})).to.equal('bad_params');
    expect(await ask('putAgentsAgentIdRestart', { agent_id: '001', foo: 1 })).to.equal('bad_params');
    expect(await ask('putAgentsAgentIdRestart', { agent_id: '001' })).to.equal('done');
  });
});
