import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { PresenceCluster } from '../../../../support/db/presence-cluster.js';
import { removeTree } from '../../../../support/remove-tree.js';

type Judged = { readonly agents: readonly { readonly id: string }[]; readonly judged: boolean };

describe('agents of lost nodes', () => {
  let directory: string;
  let cluster: PresenceCluster;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'presence-'));
    cluster = new PresenceCluster(directory, ['a', 'b', 'c']);
    cluster.fake.master = 'b';
    await cluster.start();
    for (const node of cluster.nodes) await node.register(1, 2);
    await cluster.seconds(2);
    for (const id of [1, 2]) await cluster.node('a').keepalive(id, true);
    await cluster.second();
  });

  afterEach(async () => {
    await cluster.stop();
    removeTree(directory);
  });

  const status = (name: string, id = 1) => cluster.node(name).record(id)?.status;
  const judge = async (name: string, disconnect = true) => {
    const at = cluster.node(name).seconds;
    return (await cluster.node(name).call('agents.lost', { seconds: 20, disconnect, at })) as Judged;
  };
  const ids = ({ agents }: Judged) => agents.map(({ id }) => id);
  const stale = async (name: string) => {
    const { seconds, connections } = cluster.node(name);
    return await connections['agents.disconnect_stale']({ before: seconds - 20, at: seconds });
  };

  it('are called disconnected by the holder of the lease, once the node is lost for long enough', async () => {
    await cluster.node('a').stop();
    await cluster.seconds(15);
    expect(await judge('b')).to.deep.equal({ agents: [], judged: true });
    await cluster.seconds(10);
    expect(await judge('c')).to.deep.equal({ agents: [], judged: false });
    expect(ids(await judge('b'))).to.deep.equal(['001', '002']);
    expect(ids(await judge('b')), 'once').to.deep.equal([]);
    expect(ids(await judge('b', false))).to.deep.equal(['001', '002']);
    await cluster.second();
    expect(cluster.node('c').record(1)).to.include({ status: 'disconnected', statusCode: 4, nodeName: 'a' });
    // A connection anywhere is newer.
    await cluster.node('c').keepalive(1, true);
    await cluster.second();
    expect([status('b'), status('c')]).to.deep.equal(['active', 'active']);
    expect(ids(await judge('b', false))).to.deep.equal(['002']);
  });

  it('do not show as disconnected when they connect elsewhere meanwhile', async () => {
    await cluster.node('a').stop();
    await cluster.seconds(3);
    await cluster.node('c').keepalive(1, true);
    for (let at = 0; at < 40; at += 1) {
      await cluster.second();
      if (at % 10 === 0) await cluster.node('c').keepalive(1, false);
      await judge('b');
      await stale('b');
      for (const name of ['b', 'c']) expect(status(name), `after ${String(at)} s`).to.equal('active');
    }
    expect(status('b', 2)).to.equal('disconnected');
  });

  it('are active again when their node was only cut off', async () => {
    cluster.connects = (from, to) => from !== 'a' && to !== 'a';
    await cluster.seconds(30);
    expect(ids(await judge('b'))).to.deep.equal(['001', '002']);
    cluster.connects = () => true;
    await cluster.node('a').keepalive(1, false);
    await cluster.seconds(3);
    for (const name of ['a', 'b', 'c']) expect(status(name)).to.equal('active');
  });

  it('are not judged by one that was cut off itself until it has heard the others for as long', async () => {
    cluster.connects = (from, to) => from !== 'b' && to !== 'b';
    cluster.fake.away.add('b');
    await cluster.seconds(60);
    expect(await judge('b')).to.deep.equal({ agents: [], judged: false });
    await cluster.node('a').stop();
    cluster.connects = () => true;
    cluster.fake.away.delete('b');
    await cluster.seconds(10);
    expect(await judge('b')).to.deep.equal({ agents: [], judged: true });
  });

  it('are left alone by a node that stood still for a minute while they connected elsewhere', async () => {
    const old = cluster.node('a');
    old.isUp = false;
    await cluster.node('c').keepalive(1, true);
    await cluster.seconds(60);
    expect(ids(await judge('b'))).to.deep.equal(['002']);
    old.isUp = true;
    // The first things that it does: what it knows is a minute old.
    expect(await stale('a')).to.deep.equal({ agents: [], judged: false });
    expect(status('a'), 'as it was').to.equal('active');
    await cluster.seconds(6);
    expect((await stale('a')).agents.map(({ id }) => id)).to.deep.equal([]);
    for (const name of ['a', 'b', 'c']) {
      expect(cluster.node(name).record(1)).to.include({ nodeName: 'c', status: 'active' });
      expect(status(name, 2)).to.equal('disconnected');
    }
  });

  it('are not judged by a holder of the lease that stood still until another has it', async () => {
    await cluster.node('a').stop();
    await cluster.seconds(25);
    cluster.node('b').isUp = false;
    await cluster.seconds(60);
    cluster.fake.master = 'c';
    await cluster.node('c').keepalive(1, true);
    expect(ids(await judge('c'))).to.deep.equal(['002']);
    cluster.node('b').isUp = true;
    expect(await judge('b')).to.deep.equal({ agents: [], judged: false });
    await cluster.seconds(3);
    for (const name of ['b', 'c']) expect([status(name), status(name, 2)]).to.deep.equal(['active', 'disconnected']);
  });

  it('of a node that stays alone are disconnected there after as long again', async () => {
    cluster.connects = (from, to) => from === to;
    cluster.fake.away.add('a');
    await cluster.seconds(15);
    expect(await stale('a')).to.deep.include({ judged: false });
    await cluster.seconds(15);
    const { agents, judged } = await stale('a');
    expect([agents.map(({ id }) => id), judged]).to.deep.equal([['001', '002'], true]);
  });
});
