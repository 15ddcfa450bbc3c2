import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { BusError } from '../../../lib/bus/bus-error.js';
import { JOINED_FILE } from '../../../lib/cluster/left-cluster.js';
import { ClusterHome } from '../../support/cluster/cluster-homes.js';
import { eventually } from '../../support/eventually.js';
import { natsServers } from '../../support/nats/nats-servers.js';

describe('a manager that its cluster has forgotten', function () {
  this.timeout(180_000);
  const servers = natsServers({ servers: 1, managers: ['n2', 'n3'] });
  const homes: ClusterHome[] = [];
  let one: ClusterHome;

  const made = (name: string): ClusterHome => {
    const home = new ClusterHome(name, servers());
    homes.push(home);
    return home;
  };
  const view = (home: ClusterHome) => home.clusterd.call('cluster.view', {});
  const names = async (home: ClusterHome) => (await view(home)).nodes.map(({ name }) => name);
  const refusal = <T>(call: Promise<T>) => call.catch((error: unknown) => error as BusError);
  const changes = (home: ClusterHome) => home.clusterd.call('records.changes', { kinds: ['agent'], after: 0 });
  const ask = (from: ClusterHome, node: string) =>
    from.clusterd.call('nodes.ask', { node, daemon: 'svc-apid', method: 'api.run', deadlineMs: 3000 });
  const joined = async (home: ClusterHome) => {
    await home.start('svc-clusterd');
    await eventually('it has joined', async () => (await view(home)).writable);
    await eventually('the first one hears it', async () => (await names(one)).includes(home.node));
  };
  const forgotten = async (node: string) => {
    await eventually(
      'it is forgotten',
      async () => !((await refusal(one.clusterd.call('nodes.forget', { node }))) instanceof BusError),
      60_000,
    );
  };
  /** What it says and does not do, and what the other one has of it. */
  const isOut = async (home: ClusterHome) => {
    await eventually('it says so', () => home.daemon('svc-clusterd').output.includes('This is no node of the cluster'));
    const { problem, writable } = await eventually('it has a connection', async () => {
      const seen = await view(home);
      return seen.connected && seen;
    });
    expect(writable).to.equal(false);
    expect(problem).to.match(/^the cluster has forgotten this manager .*'svc-control cluster join FOLDER'/);
    expect(await refusal(changes(home))).to.include({ code: 'cluster_unavailable', message: problem });
    const commit = { basis: 0, kinds: ['node' as const], changes: [{ kind: 'node' as const, key: home.node }] };
    expect(await refusal(home.clusterd.call('records.commit', commit))).to.include({ code: 'cluster_unavailable' });
    expect(await refusal(ask(home, 'n1'))).to.include({ code: 'cluster_unavailable', message: problem });
    expect(await refusal(ask(one, home.node))).to.include({ code: 'unknown_node' });
    expect(await names(one)).not.to.include(home.node);
    expect(await home.clusterd.call('lease.check', {})).to.include({ held: false });
  };

  beforeEach(async () => {
    one = made('n1');
    await one.start('svc-clusterd');
    await eventually('there is a cluster', async () => (await view(one)).writable);
  });
  afterEach(async () => {
    await Promise.all(homes.splice(0).map((home) => home.close()));
  });

  it('is none of it when it comes back, and comes back in by joining', async () => {
    const other = made('n2');
    await joined(other);
    await other.stop('SIGKILL', 'svc-clusterd');
    await forgotten('n2');
    await other.start('svc-clusterd');
    await isOut(other);

    await other.stop('SIGTERM', 'svc-clusterd');
    await other.start('svc-clusterd');
    await isOut(other);

    await other.stop('SIGTERM', 'svc-clusterd');
    writeFileSync(other.home.path(JOINED_FILE), 'anew\n');
    await joined(other);
    expect((await view(other)).problem).to.equal(null);
    expect(await changes(other)).to.have.property('changes');
    await other.stop('SIGTERM', 'svc-clusterd');
    await joined(other);
  });

  it('is none of it when it was cut off and goes on, and another home may have its name', async () => {
    const other = made('n3');
    await joined(other);
    other.signal('SIGSTOP', 'svc-clusterd');
    try {
      await forgotten('n3');
    } finally {
      other.signal('SIGCONT', 'svc-clusterd');
    }
    await isOut(other);
    const next = made('n3');
    await joined(next);
    // The other one has seen by now that the name is another home's, and says nothing in it.
    await eventually('it stays forgotten', async () =>
      (await view(other)).problem?.startsWith('the cluster has forgotten'),
    );
    expect(await view(other)).to.include({ writable: false });
    expect(await view(next)).to.include({ writable: true, problem: null });
  });
});
