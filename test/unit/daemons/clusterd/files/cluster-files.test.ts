import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { BlobGarbage } from '../../../../../daemons/clusterd/files/blob-garbage.js';
import { sha256Of } from '../../../../../daemons/clusterd/files/manifest.js';
import { FakeCluster } from '../../../../support/cluster/fake-cluster.js';
import { FilesNode } from '../../../../support/cluster/files-node.js';
import { MemoryBlobs } from '../../../../support/cluster/memory-blobs.js';
import { eventually } from '../../../../support/eventually.js';
import { removeTree } from '../../../../support/remove-tree.js';

describe('files of the cluster', () => {
  let root: string;
  let cluster: FakeCluster;
  let blobs: MemoryBlobs;
  let nodes: FilesNode[];

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'cluster-files-'));
    cluster = new FakeCluster();
    cluster.master = 'n1';
    blobs = new MemoryBlobs();
    nodes = [];
  });
  afterEach(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    removeTree(root);
  });

  function node(name: string): FilesNode {
    const made = new FilesNode(name, cluster, blobs, root);
    nodes.push(made);
    return made;
  }

  const same = (what: string, path: string, content: string | undefined, of: readonly FilesNode[] = nodes) =>
    eventually(what, () => of.every((each) => each.read(path) === content));

  /** Nodes that have what the first one had. */
  async function running(count: number): Promise<FilesNode[]> {
    const first = node('n1');
    first.write('etc/shared/default/agent.conf', 'A');
    first.write('etc/rules/local.xml', 'R');
    first.start();
    await eventually('the first ruleset is in force', () => first.engine.loaded !== undefined);
    for (let index = 2; index <= count; index += 1) node(`n${String(index)}`).start();
    await same('all have the ruleset', 'etc/rules/local.xml', 'R');
    await same('all have the group', 'etc/shared/default/agent.conf', 'A');
    return nodes;
  }

  it('a file of a group that changes at any node is the same on all, once', async () => {
    const [one, two] = await running(3);
    two?.write('etc/shared/default/agent.conf', 'B');
    await same('taken over', 'etc/shared/default/agent.conf', 'B');
    one?.write('etc/shared/default/sub/list.txt', 'L');
    await same('a new one', 'etc/shared/default/sub/list.txt', 'L');
    one?.remove('etc/shared/default/sub/list.txt');
    await same('a removed one', 'etc/shared/default/sub/list.txt', undefined);
    const { revision } = cluster;
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(cluster.revision, 'nothing echoes').to.equal(revision);
  });

  it('a group comes and goes with its folder, and svc-db is told where it happened', async () => {
    const [, two, three] = await running(3);
    two?.write('etc/shared/web/agent.conf', 'W');
    await same('there', 'etc/shared/web/agent.conf', 'W');
    await eventually('told', () => two?.groups.has('web'));
    expect(three?.groups.has('web')).to.equal(false);
    three?.remove('etc/shared/web');
    await same('gone', 'etc/shared/web/agent.conf', undefined);
    expect(cluster.value('files', 'group/web')).to.equal(undefined);
    expect(nodes.map((each) => each.kept())).to.deep.equal([{}, {}, {}]);
  });

  it('two that change the same file: the one of the cluster counts, the other is kept and named', async () => {
    const [one, two] = (await running(2)) as [FilesNode, FilesNode];
    cluster.away.add('n2');
    cluster.wake();
    two.write('etc/shared/default/agent.conf', 'of two');
    two.write('etc/shared/default/only-two.txt', '2');
    one.write('etc/shared/default/agent.conf', 'of one');
    one.write('etc/shared/default/only-one.txt', '1');
    await eventually('published', () => JSON.stringify(cluster.value('files', 'group/default')).includes('only-one'));
    cluster.away.delete('n2');
    cluster.wake();
    await same('merged', 'etc/shared/default/only-two.txt', '2');
    await same('merged', 'etc/shared/default/only-one.txt', '1');
    await same('the one of the cluster', 'etc/shared/default/agent.conf', 'of one');
    expect(two.kept()).to.deep.equal({ 'etc/shared/default/agent.conf': 'of two' });
    expect(two.logged('warn').join('\n')).to.include("changed here and by node 'n1'").and.include('agent.conf');
  });

  it('a group that was removed while a node was away is removed there, what it changed is kept', async () => {
    const [one, two] = (await running(2)) as [FilesNode, FilesNode];
    one.write('etc/shared/web/agent.conf', 'W');
    await same('there', 'etc/shared/web/agent.conf', 'W');
    cluster.away.add('n2');
    cluster.wake();
    two.write('etc/shared/web/agent.conf', 'work');
    one.remove('etc/shared/web');
    await eventually('removed', () => cluster.value('files', 'group/web') === undefined);
    cluster.away.delete('n2');
    cluster.wake();
    await same('gone', 'etc/shared/web/agent.conf', undefined);
    expect(two.kept()).to.deep.equal({ 'etc/shared/web/agent.conf': 'work' });
  });

  it('one that joins brings the groups that the cluster lacks; of others, and of the ruleset, its own give way', async () => {
    await running(1);
    const joining = node('n2');
    joining.write('etc/shared/default/agent.conf', 'mine');
    joining.write('etc/shared/default/extra.txt', 'extra');
    joining.write('etc/shared/db/agent.conf', 'D');
    joining.write('etc/rules/local.xml', 'mine');
    joining.write('etc/rules/other.xml', 'other');
    joining.start();
    await same('brought', 'etc/shared/db/agent.conf', 'D');
    await same('of the cluster', 'etc/shared/default/agent.conf', 'A');
    await same('of the cluster', 'etc/rules/local.xml', 'R');
    await same('of the cluster', 'etc/rules/other.xml', undefined);
    expect(joining.kept()).to.deep.equal({
      'etc/shared/default/agent.conf': 'mine',
      'etc/shared/default/extra.txt': 'extra',
      'etc/rules/local.xml': 'mine',
      'etc/rules/other.xml': 'other',
    });
  });

  it('a ruleset comes into force on all at once when it loads on all', async () => {
    const [one, two] = (await running(3)) as [FilesNode, FilesNode, FilesNode];
    two.write('etc/rules/local.xml', 'R2');
    two.write('etc/lists/blocked', 'key:');
    await same('rules', 'etc/rules/local.xml', 'R2');
    await same('lists', 'etc/lists/blocked', 'key:');
    // What lies in etc may be switched before the engine is.
    await eventually('synced', () => nodes.every(({ files }) => files.facts().ruleset.synced));
    expect(new Set(nodes.map(({ engine }) => engine.loaded)).size).to.equal(1);
    expect(cluster.value('candidate', 'ruleset')).to.equal(undefined);
    expect(cluster.value('verdict', 'n1')).to.equal(undefined);
    expect(one.files.facts().ruleset.revision).to.equal(two.files.facts().ruleset.revision);
  });

  it('one that does not load on some node comes into force nowhere, and the proposer is told where and why', async () => {
    const [one, two, three] = (await running(3)) as [FilesNode, FilesNode, FilesNode];
    const { loaded } = one.engine;
    two.write('etc/rules/local.xml', '<rule>BROKEN n3');
    const facts = await eventually('refused', () => {
      const { ruleset } = two.files.facts();
      return ruleset.state === 'refused' && ruleset;
    });
    expect(facts.problems).to.deep.equal(["node 'n3': does not load (etc/rules/local.xml:1)"]);
    await eventually('told', () => two.logged('error').some((text) => text.includes("node 'n3'")));
    expect(nodes.map(({ engine }) => engine.loaded)).to.deep.equal([loaded, loaded, loaded]);
    expect(two.read('etc/rules/local.xml'), 'the work of a person').to.equal('<rule>BROKEN n3');
    expect(three.read('etc/rules/local.xml')).to.equal('R');
    expect(three.files.facts().ruleset).to.include({ synced: true, state: 'in_force' });
    // It is mended.
    two.write('etc/rules/local.xml', '<rule>');
    await same('in force', 'etc/rules/local.xml', '<rule>');
  });

  it('is not said to be in force by a node that has not heard of another one', async () => {
    const [one, two] = (await running(2)) as [FilesNode, FilesNode];
    await eventually('synced', () => nodes.every(({ files }) => files.facts().ruleset.synced));
    cluster.unheard.add('n2');
    cluster.hold('n2');
    one.write('etc/rules/local.xml', 'R2');
    await eventually('in force', () => one.files.facts().ruleset.revision > two.files.facts().ruleset.revision);
    expect(two.files.facts().ruleset).to.include({ state: 'in_force', synced: true });
    // It hears of nothing before it says something.
    cluster.overtaken = () => {
      cluster.release('n2');
    };
    expect(await two.files.settle(10_000)).to.deep.equal({ state: 'in_force', problems: [] });
    expect(two.files.facts().ruleset.revision).to.equal(one.files.facts().ruleset.revision);

    cluster.unwritable = 'no quorum';
    expect(await two.files.settle(2000)).to.deep.equal({ state: 'unavailable', problems: ['no quorum'] });
  });

  it('one that does not load where it was made is proposed to nobody', async () => {
    const [one, two] = (await running(2)) as [FilesNode, FilesNode];
    const asked = two.engine.checked.length;
    one.write('etc/rules/local.xml', 'BROKEN');
    await eventually('refused', () => one.files.facts().ruleset.state === 'refused');
    expect(await one.files.settle(2000)).to.deep.equal({
      state: 'refused',
      problems: ['does not load (etc/rules/local.xml:1)'],
    });
    expect(two.engine.checked.length).to.equal(asked);
    one.write('etc/rules/local.xml', 'R3');
    expect(await one.files.settle(10_000)).to.deep.equal({ state: 'in_force', problems: [] });
    await same('in force', 'etc/rules/local.xml', 'R3');
  });

  it('the holder of the lease decides when the proposer died', async () => {
    const [one, two, three] = (await running(3)) as [FilesNode, FilesNode, FilesNode];
    cluster.unheard.add('n3');
    await three.stop();
    let release = (): void => {};
    one.engine.hold = new Promise<void>((resolve) => {
      release = resolve;
    });
    two.write('etc/rules/local.xml', 'R2');
    const proposed = await eventually('proposed', () => cluster.value('candidate', 'ruleset'));
    expect(proposed).to.include({ node: 'n2' });
    cluster.unheard.add('n2');
    await two.stop();
    release();
    await eventually('in force', () => one.read('etc/rules/local.xml') === 'R2');
    cluster.unheard.clear();
    two.restart();
    three.restart();
    await same('taken by those that come back', 'etc/rules/local.xml', 'R2');
    await eventually('loaded', () => nodes.every(({ files }) => files.facts().ruleset.synced));
  });

  it('one whose svc-analysisd does not run has no say, and takes what is in force', async () => {
    const [one, two] = (await running(2)) as [FilesNode, FilesNode];
    two.engine.isAbsent = true;
    one.write('etc/rules/local.xml', 'R2');
    await same('in force', 'etc/rules/local.xml', 'R2');
    expect(one.logged('warn').join('\n')).to.include('does not run: n2');
  });

  it('a node that cannot load what all others have says so loudly, and tries again', async () => {
    const [one, two] = (await running(2)) as [FilesNode, FilesNode];
    cluster.away.add('n2');
    cluster.wake();
    const { loaded } = one.engine;
    one.write('etc/rules/local.xml', 'BROKEN n2');
    await eventually('in force', () => one.engine.loaded !== loaded);
    cluster.away.clear();
    cluster.wake();
    await eventually('told', () => two.logged('error').some((text) => text.includes('cannot load the ruleset')));
    await eventually('shown', () => two.files.facts().ruleset.state === 'not_loaded');
    expect(two.files.facts().ruleset.synced).to.equal(false);
  });

  it('without NATS files of groups act here at once, and a change of the ruleset waits', async () => {
    const [one] = (await running(2)) as [FilesNode, FilesNode];
    cluster.away.add('n1');
    cluster.wake();
    one.write('etc/shared/default/agent.conf', 'now');
    one.write('etc/rules/local.xml', 'R2');
    expect((await one.files.settle(1000)).state).to.equal('unavailable');
    expect(one.read('etc/shared/default/agent.conf')).to.equal('now');
    cluster.away.clear();
    cluster.wake();
    await same('known to all', 'etc/shared/default/agent.conf', 'now');
    await same('in force', 'etc/rules/local.xml', 'R2');
  });

  it('contents that the cluster lost are brought again, and those that no set names are removed after a day', async () => {
    const [one] = (await running(2)) as [FilesNode, FilesNode];
    one.write('etc/shared/default/agent.conf', 'B');
    await same('taken over', 'etc/shared/default/agent.conf', 'B');
    await eventually('synced', () => nodes.every(({ files }) => files.facts().groups.waiting === 0));
    let now = 0;
    const garbage = new BlobGarbage({
      blobs: blobs.of(() => false),
      logger: one.logger,
      named: () => one.files.named(),
      mend: (there) => one.files.mend(there),
      leaseHeld: () => Promise.resolve(true),
      now: () => now,
    });
    const name = (text: string) => sha256Of(Buffer.from(text));
    blobs.contents.delete(name('B'));
    expect(await garbage.collect()).to.equal(0);
    expect(blobs.contents.get(name('B'))?.toString()).to.equal('B');
    expect(blobs.contents.has(name('A'))).to.equal(true);
    now += 25 * 3_600_000;
    expect(await garbage.collect()).to.be.greaterThan(0);
    expect(blobs.contents.has(name('A'))).to.equal(false);
    expect(blobs.contents.has(name('B'))).to.equal(true);
  });

  it('an etc/shared that is not there any more is no removal of all groups', async () => {
    const [one] = (await running(2)) as [FilesNode, FilesNode];
    one.write('etc/shared/web/agent.conf', 'W');
    await same('there', 'etc/shared/web/agent.conf', 'W');
    one.remove('etc/shared/default');
    one.remove('etc/shared/web');
    await eventually('default comes back', () => one.read('etc/shared/default/agent.conf') === 'A');
    expect(nodes[1]?.read('etc/shared/default/agent.conf')).to.equal('A');
  });
});
