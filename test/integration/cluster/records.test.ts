import { expect } from 'chai';
import { BusError } from '../../../lib/bus/bus-error.js';
import { ClusterHome } from '../../support/cluster/cluster-homes.js';
import { eventually } from '../../support/eventually.js';
import { natsServers } from '../../support/nats/nats-servers.js';

const NAMES = ['n1', 'n2', 'n3'] as const;
const agent = (name: string) => ({ name, ip: 'any', key: 'k'.repeat(64), dateAdd: 1 });

describe('svc-clusterd with real NATS servers', function () {
  this.timeout(120_000);
  const servers = natsServers({ managers: ['n4'] });
  let homes: ClusterHome[] = [];

  before(async () => {
    homes = NAMES.map((name) => new ClusterHome(name, servers()));
    await Promise.all(homes.map((home) => home.start('svc-clusterd')));
    await eventually('all are one', async () => {
      const views = await Promise.all(homes.map((home) => home.clusterd.call('cluster.view', {})));
      return views.every(
        ({ writable, nodes, master }) =>
          writable && master !== null && nodes.length === 3 && nodes.every(({ present }) => present),
      );
    });
  });
  after(() => Promise.all(homes.map((home) => home.close())));

  const [one, two, three] = [() => home(0), () => home(1), () => home(2)];
  function home(at: number): ClusterHome {
    const found = homes[at];
    if (found === undefined) throw new Error('no such home');
    return found;
  }
  const revision = async (at: ClusterHome) => (await at.clusterd.call('cluster.view', {})).revision;

  /**
   * Takes the next free number, as one who decides on what he knows. Where the cluster does not say what was made, another one
   * is taken, as long as a test lasts: servers that have lost their leader on a busy machine elect more than once.
   */
  async function takeNumber(at: ClusterHome, label: string): Promise<number> {
    for (;;) {
      const basis = await revision(at);
      const { changes } = await at.clusterd.call('records.changes', { kinds: ['agent'], after: 0 });
      const next = Math.max(0, ...changes.map(({ key }) => Number(key))) + 1;
      try {
        const change = { kind: 'agent' as const, key: `${next}`, value: agent(`${label}${next}`) };
        await at.clusterd.call(
          'records.commit',
          { basis, kinds: ['agent'], changes: [change] },
          { deadlineMs: 60_000 },
        );
        return next;
      } catch (error) {
        if (!(error instanceof BusError) || !['stale', 'cluster_unavailable'].includes(error.code)) throw error;
      }
    }
  }

  it('gives no number twice to three who take numbers at once, and all see the same', async () => {
    const taken = await Promise.all(
      homes.flatMap((at) =>
        Array.from({ length: 2 }, async () => {
          const numbers: number[] = [];
          for (let count = 0; count < 8; count += 1) numbers.push(await takeNumber(at, at.node));
          return numbers;
        }),
      ),
    );
    const numbers = taken.flat().sort((a, b) => a - b);
    expect(numbers).to.deep.equal(Array.from({ length: 48 }, (_, at) => at + 1));
    const last = await revision(one());
    await eventually('all have it', async () =>
      (await Promise.all([two(), three()].map(revision))).every((at) => at >= last),
    );
    const all = await Promise.all(
      homes.map((at) => at.clusterd.call('records.changes', { kinds: ['agent'], after: 0 })),
    );
    expect(all[1]?.changes).to.deep.equal(all[0]?.changes);
    expect(all[2]?.changes).to.deep.equal(all[0]?.changes);
    const stats = await Promise.all(homes.map((at) => at.clusterd.call('stats', {})));
    const records = stats.map(
      (each) => (each as { readonly records: { readonly handed: number; readonly unheard: number } }).records,
    );
    // One of the three writes for the others.
    expect(records.filter(({ handed }) => handed > 0)).to.have.length(2);
  });

  it('tells one that waits of a change at another node, and of removals', async () => {
    const after = await revision(two());
    const waiting = (since: number) =>
      two().clusterd.call(
        'records.changes',
        { kinds: ['group'], after: since, waitMs: 20_000 },
        { deadlineMs: 25_000 },
      );
    const first = waiting(after);
    const change = (basis: number, value: unknown) =>
      one().clusterd.call('records.commit', {
        basis,
        kinds: ['group'],
        changes: [{ kind: 'group', key: 'web.*>', value }],
      });
    const made = await change(after, { dateAdd: 5 });
    expect((await first).changes).to.deep.equal([
      { kind: 'group', key: 'web.*>', revision: made.revision, value: { dateAdd: 5 } },
    ]);
    await change(made.revision, null);
    expect((await waiting(made.revision)).changes[0]).to.include({ key: 'web.*>', value: null });
    expect((await two().clusterd.call('records.changes', { kinds: ['group'], after: 0 })).changes).to.deep.equal([]);
  });

  it('writes no removal of what is not there, and every other one', async () => {
    const groups = (value: unknown) => ({ kind: 'member' as const, key: '9001', value });
    const name = (value: unknown) => ({ kind: 'agent' as const, key: '9001', value });
    const commit = async (...changes: (ReturnType<typeof groups> | ReturnType<typeof name>)[]) => {
      const basis = await revision(one());
      const made = await one().clusterd.call('records.commit', { basis, kinds: ['agent', 'member'], changes });
      return made.revision - basis;
    };
    const seen = async () => {
      const last = await revision(one());
      await eventually('the other one has it', async () => (await revision(two())) >= last);
      const { changes } = await two().clusterd.call('records.changes', { kinds: ['member', 'agent'], after: 0 });
      return changes.filter(({ key }) => key === '9001').map(({ kind }) => kind);
    };
    expect(await commit(groups(null), name(agent('a')))).to.equal(1);
    expect(await seen()).to.deep.equal(['agent']);
    expect(await commit(groups({ groups: ['x'] }), groups(null), name(agent('a')), groups({ groups: ['y'] }))).to.equal(
      4,
    );
    expect(await seen()).to.deep.equal(['agent', 'member']);
    expect(await commit(groups(null), name(null))).to.equal(2);
    expect(await seen()).to.deep.equal([]);
    // What is nothing at all is written all the same: its writer is told a revision.
    expect(await commit(groups(null))).to.equal(1);
  });

  it('refuses what is no such record, and what was decided on something old', async () => {
    const basis = await revision(one());
    const commit = (value: unknown, at: number) =>
      one()
        .clusterd.call('records.commit', { basis: at, kinds: ['agent'], changes: [{ kind: 'agent', key: 'x', value }] })
        .catch((error: unknown) => error as BusError);
    expect(await commit({ name: '' }, basis)).to.include({ code: 'bad_record' });
    expect(await commit(agent('late'), 3)).to.include({ code: 'stale' });
  });

  it('says that nothing has changed by what all nodes have, not by what it has read', async () => {
    const basis = await takeNumber(one(), 'before').then(() => revision(one()));
    const unchanged = (at: ClusterHome, since: number) =>
      at.clusterd
        .call('records.commit', { basis: since, kinds: ['agent'], changes: [] }, { deadlineMs: 60_000 })
        .then(({ revision: held }) => held)
        .catch((error: unknown) => error as BusError);
    const agents = async () =>
      (await two().clusterd.call('records.changes', { kinds: ['agent'], after: basis })).changes;
    // Whichever node writes it: it stands behind all that was there, and is no record.
    for (const at of [one(), two(), three()]) {
      expect(await unchanged(at, basis))
        .to.be.a('number')
        .greaterThan(basis);
    }
    expect(await agents()).to.deep.equal([]);
    await takeNumber(three(), 'after');
    for (const at of [one(), two(), three()]) expect(await unchanged(at, basis)).to.include({ code: 'stale' });
  });

  it('goes on when the server that leads is killed, and loses nothing that was acknowledged', async () => {
    const before = await revision(one());
    const leader = await servers().leader();
    const working = Promise.all(homes.map((at) => Promise.all([takeNumber(at, 'k'), takeNumber(at, 'k')])));
    await leader?.kill();
    const taken = (await working).flat();
    expect(new Set(taken).size).to.equal(6);
    await leader?.start();
    await eventually('all have it', async () =>
      (await Promise.all(homes.map(revision))).every((at) => at >= before + 6),
    );
    const { changes } = await three().clusterd.call('records.changes', { kinds: ['agent'], after: 0 });
    for (const number of taken) expect(changes.some(({ key }) => key === `${number}`)).to.equal(true);
  });

  it('lets the lease go to another node when its holder stands still, and not back when that goes on', async () => {
    const check = (at: ClusterHome) => at.clusterd.call('lease.check', {}, { deadlineMs: 1000 }).catch(() => undefined);
    const holderOf = async () => {
      const checks = await Promise.all(homes.map(async (at) => ((await check(at))?.held === true ? at : undefined)));
      return checks.find((at) => at !== undefined);
    };
    const holder = await eventually('somebody holds it', holderOf);
    const { term } = await holder.clusterd.call('lease.check', {});
    holder.signal('SIGSTOP', 'svc-clusterd');
    let next: ClusterHome;
    try {
      next = await eventually('another holds it', holderOf, 60_000);
    } finally {
      holder.signal('SIGCONT', 'svc-clusterd');
    }
    // The first answer that it gives is no already: nothing is done by what it knew before.
    expect(await holder.clusterd.call('lease.check', {})).to.include({ held: false });
    expect(next.node).not.to.equal(holder.node);
    const now = await next.clusterd.call('lease.check', {});
    expect(now.held).to.equal(true);
    expect(now.term).to.be.greaterThan(term);
    await eventually('all know', async () =>
      (await Promise.all(homes.map((at) => at.clusterd.call('cluster.view', {})))).every(
        ({ master }) => master === next.node,
      ),
    );
  });

  it('has everything after kill -9, lives on its copy without NATS, and says what cannot be done', async () => {
    const agents = () => two().clusterd.call('records.changes', { kinds: ['agent'], after: 0 });
    const before = await agents();
    await two().stop('SIGKILL', 'svc-clusterd');
    await Promise.all(servers().servers.map((server) => server.kill()));
    await two().start('svc-clusterd');
    expect((await agents()).changes).to.deep.equal(before.changes);
    const changes = [{ kind: 'agent' as const, key: '999', value: agent('x') }];
    const refused = await two()
      .clusterd.call('records.commit', { basis: 10_000, kinds: ['agent'], changes })
      .catch((error: unknown) => error as BusError);
    expect(refused).to.include({ code: 'cluster_unavailable' });
    const unchanged = await two()
      .clusterd.call('records.commit', { basis: 10_000, kinds: ['agent'], changes: [] })
      .catch((error: unknown) => error as BusError);
    expect(unchanged).to.include({ code: 'cluster_unavailable' });
    const view = await two().clusterd.call('cluster.view', {});
    expect(view).to.include({ connected: false, writable: false, master: null });
    await Promise.all(servers().servers.map((server) => server.start()));
    await servers().ready();
    await eventually('it writes again', async () => (await two().clusterd.call('cluster.view', {})).writable, 60_000);
    expect(await takeNumber(two(), 'again')).to.be.greaterThan(0);
  });

  it('forgets a node that is away, and none that is there', async () => {
    const fourth = new ClusterHome('n4', servers());
    const names = async () => (await one().clusterd.call('cluster.view', {})).nodes.map(({ name }) => name);
    const forget = () =>
      one()
        .clusterd.call('nodes.forget', { node: 'n4' })
        .catch((error: unknown) => error as BusError);
    try {
      await fourth.start('svc-clusterd');
      await eventually('it has joined', async () => (await fourth.clusterd.call('cluster.view', {})).writable);
      expect(await forget()).to.include({ code: 'node_present' });
      await fourth.stop('SIGKILL', 'svc-clusterd');
      await eventually('it is forgotten', async () => !((await forget()) instanceof BusError));
      expect(await names()).to.deep.equal([...NAMES]);
      expect(await forget()).to.include({ code: 'unknown_node' });
    } finally {
      await fourth.close();
    }
  });

  it('refuses a second home of the same name', async () => {
    const twin = new ClusterHome('n3', servers());
    try {
      await twin.start('svc-clusterd');
      await eventually('it is told', () =>
        twin.daemon('svc-clusterd').output.includes("another manager calls itself 'n3'"),
      );
      const view = await twin.clusterd.call('cluster.view', {});
      expect(view.writable).to.equal(false);
    } finally {
      await twin.close();
    }
  });

  it('lets a home with another key neither read nor write, and says why', async () => {
    const stranger = new ClusterHome('n4', servers(), { key: 'z'.repeat(32) });
    try {
      await stranger.start('svc-clusterd');
      const view = await eventually('it is told', async () => {
        const seen = await stranger.clusterd.call('cluster.view', {});
        return seen.problem?.includes('another key') === true && seen;
      });
      expect(view).to.include({ writable: false, connected: true });
      const refused = await stranger.clusterd
        .call('records.changes', { kinds: ['agent'], after: 0 })
        .catch((error: unknown) => error as BusError);
      expect(refused).to.include({ code: 'cluster_unavailable' });
    } finally {
      await stranger.close();
    }
  });
});
