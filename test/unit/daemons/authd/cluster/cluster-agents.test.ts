import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { expect } from 'chai';
import type { AdmissionError } from '../../../../../daemons/authd/admission-error.js';
import { KeyRegistry } from '../../../../../daemons/authd/key-registry.js';
import { AgentKey } from '../../../../../lib/agentlink/agent-key.js';
import { BusError } from '../../../../../lib/bus/bus-error.js';
import type { ClusterdClient, RecordChange } from '../../../../../lib/cluster/shared-records.js';
import { AgentAddress } from '../../../../../lib/network/agent-address.js';
import { AuthdNode, FORCE } from '../../../../support/authd/authd-node.js';
import { FakeCluster } from '../../../../support/cluster/fake-cluster.js';
import { eventually } from '../../../../support/eventually.js';
import { RecordingLogger } from '../../../../support/recording-logger.js';
import { TemporaryHome } from '../../../../support/temporary-home.js';

const SEEDED = ['svc-authd', 'svc-db'];
const AT_ONCE = { ...FORCE, after_registration_time: 0 };
const KEY = 'a'.repeat(64);

type Commit = { readonly basis: number; readonly kinds: string[]; readonly changes: RecordChange[] };

describe('agents of a cluster', () => {
  let cluster: FakeCluster;
  let nodes: AuthdNode[];
  let homes: Set<TemporaryHome>;

  beforeEach(() => {
    cluster = new FakeCluster();
    nodes = [];
    homes = new Set();
  });
  afterEach(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    for (const home of homes) home.remove();
  });

  type Given = Partial<Parameters<typeof AuthdNode.start>[0]> & { readonly seeded?: readonly string[] };
  async function start(name: string, { seeded = SEEDED, ...given }: Given = {}): Promise<AuthdNode> {
    const node = await AuthdNode.start({ name, client: cluster.client(name, seeded), ...given });
    nodes.push(node);
    homes.add(node.home);
    return node;
  }
  async function started(...names: string[]): Promise<AuthdNode[]> {
    const all = await Promise.all(names.map((name) => start(name)));
    await Promise.all(all.map((node) => node.loaded()));
    return all;
  }
  async function restart(node: AuthdNode, given: Given = {}): Promise<AuthdNode> {
    await node.stop();
    nodes = nodes.filter((other) => other !== node);
    return start(node.name, { home: node.home, table: node.table, ...given });
  }
  /** A client whose commits go another way. */
  function through(name: string, commit: (given: Commit, made: () => Promise<unknown>) => Promise<unknown>) {
    const client = cluster.client(name, SEEDED);
    const call = (method: string, params: unknown, options: unknown) => {
      const made = () => client.call(method as 'ping', params as never, options as never) as Promise<unknown>;
      return method === 'records.commit' ? commit(params as Commit, made) : made();
    };
    return { call } as unknown as ClusterdClient;
  }

  const shared = () =>
    [...cluster.records.values()].filter(
      ({ kind, key, value }) => kind === 'agent' && value !== null && key !== 'removed',
    );
  /** What all nodes are to have. */
  const wanted = () =>
    shared()
      .map(({ key, value }) => {
        const { name, ip, key: raw } = value as { name: string; ip: string; key: string };
        return `${key} ${name} ${ip} ${raw}`;
      })
      .sort();
  const agree = (...all: AuthdNode[]) =>
    eventually('all nodes have the same', () =>
      all.every((node) => {
        const rows = [...node.table.rows.values()].map(({ id, name, registerIP }) => `${id} ${name} ${registerIP}`);
        const lines = wanted();
        const plain = lines.map((line) => line.slice(0, line.lastIndexOf(' ')));
        return node.live.join() === lines.join() && rows.sort().join() === plain.join();
      }),
    );
  const refusal = (work: Promise<unknown>) =>
    work.then(
      () => expect.fail('it was not refused'),
      (error: unknown) => error as AdmissionError,
    );

  it('enrols at three nodes at once: no id and no name twice, and each has all of them', async () => {
    const all = await started('n1', 'n2', 'n3');
    const added = await Promise.all(
      all.flatMap((node) => Array.from({ length: 60 }, (_, index) => node.add(`${node.name}-host${index}`))),
    );
    expect(new Set(added.map(({ id }) => id)).size).to.equal(180);
    await agree(...all);
    expect(wanted()).to.have.length(180);
  });

  it('answers when the key is in its own file, and decides many that come together with few commits', async () => {
    let commits = 0;
    const client = through('n1', (_, made) => {
      commits += 1;
      return made();
    });
    const node = await start('n1', { client });
    await node.loaded();
    const added = Array.from({ length: 200 }, async (_, index) => {
      const { id } = await node.add(`host${index}`);
      return node.lines.some((line) => line.startsWith(`${id} host${index} `));
    });
    expect(await Promise.all(added)).to.not.include(false);
    expect(commits).to.be.lessThan(10);
  });

  it('gives one name to one of three hosts that ask for it at once, and tells the others', async () => {
    const all = await started('n1', 'n2', 'n3');
    for (let round = 0; round < 5; round += 1) {
      const asked = await Promise.allSettled(all.map((node) => node.add(`web${round}`)));
      const refused = asked.flatMap((one) => (one.status === 'rejected' ? [(one.reason as AdmissionError).code] : []));
      expect(refused).to.deep.equal(['duplicate_name', 'duplicate_name']);
    }
    await agree(...all);
  });

  it('gives one address to one, as well, and replaces where the rules say so', async () => {
    const [one, two] = (await started('n1', 'n2')) as [AuthdNode, AuthdNode];
    const first = await one.add('web01', { ip: '192.0.2.1' });
    await agree(one, two);
    expect(await refusal(two.add('web02', { ip: '192.0.2.1' }))).to.include({ code: 'duplicate_ip' });
    two.table.status.set(first.id, { status: 'disconnected', disconnectedAt: 1000 });
    const second = await two.add('web01', { ip: '192.0.2.1', force: AT_ONCE });
    expect(second.id).to.equal('002');
    await agree(one, two);
    expect(wanted()).to.have.length(1);
    expect(one.logger.lines.join('\n')).to.not.contain('error');
  });

  it('lets an agent that never connected keep its id, whichever node it asks', async () => {
    const [one, two] = (await started('n1', 'n2')) as [AuthdNode, AuthdNode];
    const first = await one.add('web01');
    await agree(one, two);
    const again = await two.add('web01', { force: AT_ONCE });
    expect(again.id).to.equal(first.id);
    expect(again.rawKey).to.not.equal(first.rawKey);
    await agree(one, two);
  });

  it('removes everywhere, and never gives an id again, not even at a node that comes later', async () => {
    const [one, two] = (await started('n1', 'n2')) as [AuthdNode, AuthdNode];
    for (const name of ['aa', 'bb', 'cc']) await one.add(name);
    await agree(one, two);
    mkdirSync(two.home.path('queue/rids/003'));
    expect((await two.enroller.remove(['003', '002', '099'], true)).map(({ id }) => id)).to.deep.equal(['003', '002']);
    await agree(one, two);
    await eventually('its counters are gone', () => !existsSync(two.home.path('queue/rids/003')));
    expect(two.lines.join()).to.not.contain('!bb');
    expect(one.lines.join()).to.contain('002 !bb');
    const late = await start('n3');
    await late.loaded();
    expect((await late.add('dd')).id).to.equal('004');
    expect(cluster.value('agent', 'removed')).to.deep.equal({ highestId: 3 });
  });

  it('brings groups before the agent that asks for them, and takes no group that there is not', async () => {
    const node = await start('n1');
    await node.loaded();
    cluster.commit([{ kind: 'group', key: 'web', value: { dateAdd: 1 } }]);
    await eventually('the group is known', () => node.cluster.keys.hasGroup('web'));
    const { id } = await node.add('aa', { groups: ['default', 'web'] });
    expect(cluster.value('member', id)).to.deep.equal({ groups: ['default', 'web'] });
    const [member, agent] = ['member', 'agent'].map((kind) => cluster.records.get(`${kind} ${id}`)?.revision ?? 0);
    expect(member).to.be.lessThan(agent ?? 0);
    expect(await refusal(node.add('bb', { groups: ['gone'] }))).to.include({ code: 'unknown_group' });
    await eventually('svc-db hears of them', () => node.table.rows.get(id)?.groups?.join() === 'default,web');
    await node.enroller.remove([id], false);
    expect(cluster.value('member', id)).to.equal(undefined);
  });

  it('refuses what cannot be decided, and goes on with what there is', async () => {
    const node = await start('n1');
    await node.loaded();
    const { id } = await node.add('aa');
    cluster.unavailable = 'no quorum';
    const refused = await refusal(node.add('bb'));
    expect(refused).to.include({ code: 'cluster_unavailable' });
    expect(refused.message).to.contain('no quorum');
    expect(await refusal(node.enroller.remove([id], false))).to.include({ code: 'cluster_unavailable' });
    expect(node.live).to.have.length(1);
    cluster.unavailable = undefined;
    expect((await node.add('bb')).id).to.equal('002');
  });

  it('adds nobody whom nobody waits for any more, not even where others were quicker at first', async () => {
    const [node] = await started('n1');
    let wanted = true;
    cluster.interrupt = () => {
      cluster.interrupt = () => undefined;
      wanted = false;
      cluster.commit([{ kind: 'group', key: 'web', value: { dateAdd: 1 } }]);
      return 0;
    };
    const isWanted = () => wanted;
    const refused = await Promise.all([
      refusal(node!.add('one', {}, isWanted)),
      refusal(node!.add('two', {}, isWanted)),
    ]);
    for (const { code, message } of refused) {
      expect([code, message]).to.deep.equal(['cluster_unavailable', 'Nobody waits for the change any more']);
    }
    expect((await node!.add('three')).id).to.equal('001');
    await agree(node!);
    expect(wanted).to.equal(false);
    expect(shared().map(({ key }) => key)).to.deep.equal(['001']);
  });

  it('starts with what it has where the cluster is away, and takes nothing from svc-db', async () => {
    const [node] = (await started('n1')) as [AuthdNode];
    await node.add('aa');
    await agree(node);
    await node.stop();
    rmSync(node.home.path('etc/client.keys'));
    cluster.unavailable = 'no NATS';
    const again = await restart(node);
    expect(await refusal(again.add('bb'))).to.include({ code: 'cluster_unavailable' });
    expect(again.table.rows.size).to.equal(1);
    cluster.unavailable = undefined;
    await again.loaded();
    await agree(again);
  });

  describe('with a key file that is not as the cluster has it', () => {
    it('follows what happened while it was away', async () => {
      const [one, two] = (await started('n1', 'n2')) as [AuthdNode, AuthdNode];
      for (const name of ['aa', 'bb', 'cc']) await one.add(name);
      await agree(one, two);
      await two.stop();
      await one.enroller.remove(['002'], false);
      await one.add('aa', { force: AT_ONCE });
      await one.add('dd');
      const again = await restart(two);
      await agree(one, again);
      expect(again.logger.lines.join('\n')).to.contain('2 came or changed meanwhile, 1 went');
      expect(existsSync(again.home.path('backup/cluster'))).to.equal(false);
    });

    it('writes one anew that is missing or damaged, and removes nobody', async () => {
      let [node] = (await started('n1')) as [AuthdNode];
      for (const name of ['aa', 'bb', 'cc']) await node.add(name);
      const file = node.home.path('etc/client.keys');
      for (const damage of ['missing', 'damaged'] as const) {
        await node.stop();
        if (damage === 'missing') rmSync(file);
        else writeFileSync(file, `${node.lines[0] ?? ''}\n002 bb an\0y broken\n`);
        node = await restart(node);
        await agree(node);
        expect(wanted()).to.have.length(3);
        const said = node.logger.lines.some((line) => line.startsWith('warn: etc/client.keys is damaged, and kept as'));
        expect(said).to.equal(damage === 'damaged');
      }
      const [kept] = readdirSync(node.home.path('backup/cluster'));
      expect(readFileSync(node.home.path('backup/cluster', kept ?? ''), 'latin1')).to.contain('broken');
    });

    async function changeByHand(node: AuthdNode, content: string): Promise<void> {
      writeFileSync(node.home.path('etc/client.keys'), content);
      await node.registry.refresh();
      await node.cluster.look();
      await node.registry.idle();
    }

    it('takes lines that were added by hand with a new id, and no others', async () => {
      const [one, two] = (await started('n1', 'n2')) as [AuthdNode, AuthdNode];
      for (const name of ['aa', 'bb']) await one.add(name);
      await one.enroller.remove(['002'], true);
      const before = `${one.lines.join('\n')}\n`;
      await changeByHand(one, `${before}007 hand any ${KEY}\n002 again any ${KEY}\n008 aa any ${KEY}\n`);
      await agree(one, two);
      expect(wanted().map((line) => line.split(' ', 2).join(' '))).to.deep.equal(['001 aa', '007 hand']);
      const log = one.logger.lines.join('\n');
      expect(log).to.contain("Agent '007' (hand) was added to etc/client.keys by hand");
      expect(log).to.match(
        /error: Agent '008' \(aa\) .* is taken out again: The cluster has an agent of the name 'aa'/,
      );
      expect(log).to.contain('2 too many').and.not.contain(KEY);
      expect((await two.add('next')).id).to.equal('008');
    });

    it('takes what was marked as removed, and puts back what is only absent or changed', async () => {
      const [one, two] = (await started('n1', 'n2')) as [AuthdNode, AuthdNode];
      for (const name of ['aa', 'bb', 'cc']) await one.add(name);
      const [aa = '', bb = '', cc = ''] = one.lines;
      await changeByHand(one, `${aa.replace(' any ', ' 10.0.0.1 ')}\n${cc.replace(' cc', ' !cc')}\n`);
      await agree(one, two);
      expect(wanted()).to.deep.equal([aa, bb]);
      expect(one.logger.lines.join('\n')).to.contain('1 lines were missing, 1 changed, 0 too many');
    });

    it('takes a line added by hand while it was stopped', async () => {
      const [one, two] = (await started('n1', 'n2')) as [AuthdNode, AuthdNode];
      await one.add('aa');
      await agree(one, two);
      await two.stop();
      appendFileSync(two.home.path('etc/client.keys'), `005 hand any ${KEY}\n`);
      const again = await restart(two);
      await again.loaded();
      await again.cluster.look();
      await agree(one, again);
      expect(wanted()).to.have.length(2);
    });

    it('looks at the same where the disk was full, and loses no line and no agent by it', async () => {
      const [one, two] = (await started('n1', 'n2')) as [AuthdNode, AuthdNode];
      for (const name of ['aa', 'bb']) await one.add(name);
      await agree(one, two);
      await two.stop();
      const [aa = '', bb = ''] = two.lines;
      writeFileSync(two.home.path('etc/client.keys'), `${aa}\n${bb.replace(' bb', ' !bb')}\n005 aa any ${KEY}\n`);
      let full = true;
      writeFileSync(two.home.path('backup'), 'no folder can be made here');
      const prepare = () => (full ? Promise.reject(new Error('no space left')) : Promise.resolve());
      const again = await start('n2', { home: two.home, table: two.table, prepare });
      await again.loaded();
      const waits = () => again.logger.lines.filter((line) => line.includes('by hand wait')).length;
      for (let tries = 0; tries < 2; tries += 1) await again.cluster.look();
      expect(waits()).to.equal(1);
      expect(wanted()).to.deep.equal([aa, bb]);

      full = false;
      rmSync(two.home.path('backup'));
      await again.cluster.look();
      await agree(one, again);
      expect(wanted()).to.deep.equal([aa, bb]);
      const kept = () =>
        readdirSync(two.home.path('backup/cluster'))
          .map((file) => readFileSync(two.home.path('backup/cluster', file), 'latin1'))
          .join('');
      expect(kept()).to.contain(`005 aa any ${KEY}`);

      // The next time is another one.
      rmSync(two.home.path('backup'), { recursive: true });
      writeFileSync(two.home.path('backup'), 'no folder can be made here');
      await changeByHand(again, `${aa}\n${bb}\n006 aa any ${KEY}\n`);
      expect(waits()).to.equal(2);
      rmSync(two.home.path('backup'));
      await again.cluster.look();
      await agree(one, again);
      expect(kept()).to.contain(`006 aa any ${KEY}`);
    });
  });

  describe('at a node that joins', () => {
    async function homeWith(...lines: string[]): Promise<TemporaryHome> {
      const home = new TemporaryHome();
      writeFileSync(home.path('etc/client.keys'), lines.map((line) => `${line}\n`).join(''));
      const registry = new KeyRegistry({
        path: home.path('etc/client.keys'),
        lastIdPath: home.path('queue/agents-last-id'),
        logger: new RecordingLogger(),
      });
      await registry.load();
      await registry.change({ remove: [], add: [new AgentKey('050', 'gone', AgentAddress.any, KEY)], purge: false });
      await registry.change({ remove: ['050'], purge: true });
      return home;
    }

    it('brings in its agents, leaves out those that are in the way of others, and keeps their keys', async () => {
      const [first] = (await started('n1')) as [AuthdNode];
      for (const name of ['aa', 'bb', 'cc']) await first.add(name);
      const [aa = ''] = first.live;
      const other = 'b'.repeat(64);
      const home = await homeWith(
        aa,
        `002 other any ${other}`,
        `010 cc any ${other}`,
        `011 own 192.0.2.7 ${other}`,
        `012 same 192.0.2.7 ${other}`,
      );
      const second = await start('n2', { home, seeded: [] });
      await second.loaded();
      await agree(first, second);
      expect(wanted().map((line) => line.split(' ', 2).join(' '))).to.deep.equal([
        '001 aa',
        '002 bb',
        '003 cc',
        '011 own',
      ]);
      const warnings = second.logger.lines.filter((line) =>
        line.startsWith('warn: 3 agents of this manager are not taken'),
      );
      expect(warnings).to.have.length(1);
      const [file = ''] = readdirSync(home.path('backup/cluster'));
      expect(warnings[0]).to.contain(`backup/cluster/${file}`);
      expect(statSync(home.path('backup/cluster', file)).mode & 0o777).to.equal(0o600);
      const kept = readFileSync(home.path('backup/cluster', file), 'latin1').split('\n');
      expect(kept.map((line) => line.slice(0, 3))).to.deep.equal(['002', '010', '012', '']);
      // Its highest id was given to somebody who is gone.
      expect((await first.add('next')).id).to.equal('051');
    });

    it('brings in what two have that join at once', async () => {
      const [one, two] = await Promise.all([
        homeWith(`001 aa any ${KEY}`, `003 cc any ${KEY}`),
        homeWith(`001 bb any ${KEY}`, `004 dd any ${KEY}`),
      ]);
      const all = await Promise.all([start('n1', { home: one, seeded: [] }), start('n2', { home: two, seeded: [] })]);
      await Promise.all(all.map((node) => node.loaded()));
      await agree(...all);
      expect(wanted()).to.have.length(3);
    });
  });

  describe('when it is not known what became of a commit', () => {
    it('takes back what was made and never answered; the host gets another id', async () => {
      let lost = true;
      const node = await start('n1', {
        client: through('n1', async (given, made) => {
          const answer = await made();
          if (!lost) return answer;
          lost = false;
          throw new BusError('cluster_unavailable', `it is not known what was made of ${given.changes.length}`);
        }),
      });
      const [other] = (await started('n2')) as [AuthdNode];
      await node.loaded();
      expect(await refusal(node.add('aa'))).to.include({ code: 'cluster_unavailable' });
      await eventually('it was made', () => node.registry.byName('aa') !== undefined);
      await node.cluster.look();
      await agree(node, other);
      expect(wanted()).to.deep.equal([]);
      expect((await other.add('aa')).id).to.equal('002');
      await agree(node, other);
    });

    it('recognises what was made of a commit whose end others were quicker than', async () => {
      let cut = true;
      const client = through('n1', async ({ basis, kinds, changes }, made) => {
        if (!cut || changes.length < 6) return made();
        cut = false;
        const half = changes.slice(0, 5);
        await cluster.client('n1').call('records.commit', { basis, kinds: kinds as ['agent'], changes: half });
        cluster.commit([{ kind: 'agent', key: '500', value: { name: 'quick', ip: 'any', key: KEY, dateAdd: 1 } }]);
        throw new BusError('stale', 'something has changed');
      });
      const [node, other] = await Promise.all([start('n1', { client }), start('n2')]);
      await Promise.all([node.loaded(), other.loaded()]);
      const added = await Promise.all(['aa', 'bb', 'cc', 'dd', 'ee'].map((name) => node.add(name)));
      await agree(node, other);
      expect(cut).to.equal(false);
      expect(wanted()).to.have.length(6);
      for (const { id, name, rawKey } of added) expect(wanted()).to.include(`${id} ${name} any ${rawKey}`);
    });

    it('leaves no groups to another agent that gets the id instead', async () => {
      let cut = true;
      const [other] = (await started('n2')) as [AuthdNode];
      const client = through('n1', async ({ basis, kinds, changes }, made) => {
        if (!cut) return made();
        cut = false;
        await cluster
          .client('n1')
          .call('records.commit', { basis, kinds: kinds as ['agent'], changes: changes.slice(0, 1) });
        await other.add('bb');
        throw new BusError('stale', 'something has changed');
      });
      const node = await start('n1', { client });
      cluster.commit([{ kind: 'group', key: 'web', value: { dateAdd: 1 } }]);
      await eventually('the group is known', () => node.cluster.keys.hasGroup('web'));
      expect((await node.add('aa', { groups: ['web'] })).id).to.equal('002');
      expect(cluster.value('member', '001')).to.equal(undefined);
      expect(cluster.value('member', '002')).to.deep.equal({ groups: ['web'] });
      await agree(node, other);
    });

    it('marks what a process has added that died before its answer: no node keeps its host waiting', async () => {
      const [one, two] = (await started('n1', 'n2')) as [AuthdNode, AuthdNode];
      await one.add('old');
      // The times are on the disk.
      await one.stop();
      const record = { name: 'aa', ip: 'any', key: KEY, dateAdd: Math.floor(Date.now() / 1000), node: 'n1' };
      cluster.commit([{ kind: 'agent', key: '002', value: record }]);
      cluster.commit([{ kind: 'agent', key: '003', value: { ...record, name: 'bb', node: 'n2' } }]);
      const again = await restart(one);
      await again.loaded();
      await again.cluster.look();
      expect(cluster.value('agent', '002')).to.include({ unanswered: true });
      expect(cluster.value('agent', '003')).to.not.have.property('unanswered');
      expect(cluster.value('agent', '001')).to.not.have.property('unanswered');
      await agree(again, two);
      expect(await refusal(two.add('bb'))).to.include({ code: 'duplicate_name' });
      expect((await two.add('aa')).id).to.equal('002');
      await agree(again, two);
    });

    it('knows of it after a restart, too', async () => {
      let lost = false;
      const client = through('n1', async (_, made) => {
        const answer = await made();
        if (lost) throw new BusError('timeout', 'no answer');
        return answer;
      });
      const node = await start('n1', { client });
      await node.loaded();
      await node.add('old');
      lost = true;
      expect(await refusal(node.add('aa'))).to.include({ code: 'cluster_unavailable' });
      await agree(node);
      const again = await restart(node);
      await again.loaded();
      await again.cluster.look();
      expect(cluster.value('agent', '002')).to.include({ unanswered: true });
      expect((await again.add('aa')).id).to.equal('002');
    });

    it('refuses where the file cannot be written, and takes back what others have already', async () => {
      let full = false;
      const prepare = () => (full ? Promise.reject(new Error('no space left')) : Promise.resolve());
      const node = await start('n1', { prepare });
      const [other] = (await started('n2')) as [AuthdNode];
      await node.loaded();
      full = true;
      expect(await refusal(node.add('aa'))).to.include({ code: 'write_failed' });
      expect(await refusal(node.add('bb'))).to.include({ code: 'write_failed' });
      full = false;
      await eventually('it is written', () => node.registry.byName('aa') !== undefined);
      await eventually('it is taken back', async () => {
        await node.cluster.look();
        return wanted().length === 0;
      });
      await agree(node, other);
    });
  });

  it('has a memory of names that change hands at different nodes', async () => {
    const [one, two] = (await started('n1', 'n2')) as [AuthdNode, AuthdNode];
    const sources = ['192.0.2.1', '192.0.2.2'];
    const outcomes: string[] = [];
    for (let round = 0; round < 6; round += 1) {
      const [node, source] = round % 2 === 0 ? [one, sources[0]] : [two, sources[1]];
      const old = node.registry.byName('web');
      if (old !== undefined) {
        for (const { status } of [one.table, two.table]) {
          status.set(old.id, { status: 'disconnected', disconnectedAt: 1000 });
        }
      }
      await node.add('web', { source, force: AT_ONCE }).then(
        ({ id }) => outcomes.push(id),
        ({ code }: AdmissionError) => outcomes.push(code),
      );
      await agree(one, two);
    }
    expect(outcomes).to.include('duplicate_name');
  });
});
