import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { PresenceCluster } from '../../../../support/db/presence-cluster.js';
import { removeTree } from '../../../../support/remove-tree.js';

describe('where agents are, at every node', () => {
  let directory: string;
  let cluster: PresenceCluster;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'presence-'));
    cluster = new PresenceCluster(directory, ['a', 'b', 'c']);
    await cluster.start();
    for (const node of cluster.nodes) await node.register(1, 2, 3);
    await cluster.seconds(2);
  });

  afterEach(async () => {
    await cluster.stop();
    removeTree(directory);
  });

  const seen = (id: number) => cluster.nodes.map((node) => [node.record(id)?.nodeName, node.record(id)?.status]);

  it('is known a turn after the agent connects, with all that it told', async () => {
    await cluster.node('a').keepalive(1, true);
    await cluster.second();
    expect(seen(1)).to.deep.equal(Array.from({ length: 3 }, () => ['a', 'active']));
    expect(cluster.node('c').told(1)).to.deep.include({ version: 'v1', manager: 'host-a', labels: [['"site"', 'a']] });
    expect(cluster.node('c').registry.agents.get(1)?.lastKeepAlive).to.equal(cluster.node('a').seconds - 1);
    expect(seen(2)).to.deep.equal(Array.from({ length: 3 }, () => ['unknown', 'never_connected']));
  });

  it('tells keepalives without the rows, in a few bytes', async () => {
    await cluster.node('a').keepalive(1, true);
    await cluster.seconds(10);
    cluster.bytes = 0;
    await cluster.node('a').keepalive(1, false);
    await cluster.second();
    expect(cluster.node('b').registry.agents.get(1)?.lastKeepAlive).to.equal(cluster.node('a').seconds - 1);
    expect(cluster.bytes).to.be.below(600);
  });

  it('follows an agent that moves, whatever the clocks say, and asks for all it has told there', async () => {
    cluster.node('b').skew = -3600;
    await cluster.node('a').keepalive(1, true);
    await cluster.second();
    await cluster.node('b').status(1, 'pending');
    expect(await cluster.node('b').keepalive(1, false)).to.deep.equal({ incomplete: ['001'] });
    expect(await cluster.node('b').keepalive(1, true)).to.deep.equal({ incomplete: [] });
    await cluster.second();
    expect(seen(1)).to.deep.equal(Array.from({ length: 3 }, () => ['b', 'active']));
    expect(cluster.node('a').lost).to.deep.equal([1]);
    // What the old node still says of it changes nothing.
    await cluster.node('a').status(1, 'disconnected');
    await cluster.second();
    expect(seen(1)).to.deep.equal(Array.from({ length: 3 }, () => ['b', 'active']));
  });

  it('asks for what was lost on the way', async () => {
    cluster.loses = (_from, to) => to === 'c';
    await cluster.node('a').keepalive(1, true);
    await cluster.second();
    expect(cluster.node('c').record(1)?.status).to.equal('never_connected');
    cluster.loses = () => false;
    await cluster.seconds(6);
    expect(seen(1)).to.deep.equal(Array.from({ length: 3 }, () => ['a', 'active']));
  });

  it('tells a node that begins with nothing all of it, of nodes that are away too', async () => {
    await cluster.node('a').keepalive(1, true);
    await cluster.node('b').keepalive(2, true);
    await cluster.node('c').keepalive(3, true);
    await cluster.second();
    await cluster.node('a').stop();
    await cluster.node('c').stop();
    removeTree(join(directory, 'c'));
    await cluster.node('c').start();
    await cluster.seconds(2);
    // Its registry is filled a moment later.
    await cluster.node('c').register(1, 2, 3);
    await cluster.seconds(3);
    const { c, b } = { c: cluster.node('c'), b: cluster.node('b') };
    for (const id of [1, 2, 3]) expect(c.told(id)).to.deep.equal(b.told(id));
    expect(c.record(1)).to.include({ nodeName: 'a', status: 'active' });
    // One of its own is newer than what it said before it lost it.
    await c.keepalive(3, true);
    await cluster.second();
    expect(b.told(3)).to.deep.equal(c.told(3));
    expect(b.record(3)).to.include({ nodeName: 'c', status: 'active' });
  });

  it('settles a claim that two nodes made while they could not hear of each other', async () => {
    await cluster.node('a').keepalive(1, true);
    await cluster.seconds(2);
    cluster.connects = () => false;
    await cluster.node('c').keepalive(1, true);
    await cluster.second();
    await cluster.node('b').keepalive(1, true);
    await cluster.seconds(3);
    cluster.connects = () => true;
    await cluster.seconds(3);
    expect(new Set(seen(1).map(([node]) => node)).size, 'one answer').to.equal(1);
    await cluster.node('b').keepalive(1, false);
    await cluster.seconds(2);
    expect(seen(1)).to.deep.equal(Array.from({ length: 3 }, () => ['b', 'active']));
  });

  it('lets a node that comes back leave alone what has moved', async () => {
    await cluster.node('a').keepalive(1, true);
    await cluster.second();
    await cluster.node('a').stop();
    await cluster.node('b').keepalive(1, true);
    await cluster.second();
    await cluster.node('a').start();
    // svc-remoted begins before svc-db has heard of the others.
    cluster.milliseconds += 6000;
    await cluster.node('a').connections['agents.reset_connections']({ at: cluster.node('a').seconds });
    await cluster.seconds(3);
    expect(seen(1)).to.deep.equal(Array.from({ length: 3 }, () => ['b', 'active']));
  });
});
