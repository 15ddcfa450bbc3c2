import { expect } from 'chai';
import { BusError } from '../../../../lib/bus/bus-error.js';
import {
  type RecordChange,
  type RecordsOwner,
  type SharedRecord,
  SharedRecords,
} from '../../../../lib/cluster/shared-records.js';
import { FakeCluster } from '../../../support/cluster/fake-cluster.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

/** Has groups in force, and owns some of its own before it joins. */
class Groups implements RecordsOwner {
  readonly names = new Set<string>();

  constructor(own: readonly string[] = []) {
    for (const name of own) this.names.add(name);
  }

  seed(records: readonly SharedRecord[]): readonly RecordChange[] {
    const known = new Set(records.map(({ key }) => key));
    return [...this.names].filter((name) => !known.has(name)).map(group);
  }

  async load(records: readonly SharedRecord[]): Promise<void> {
    this.names.clear();
    await this.apply(records);
  }

  apply(changes: readonly SharedRecord[]): Promise<void> {
    for (const { key, value } of changes) {
      if (value === null) this.names.delete(key);
      else this.names.add(key);
    }
    return Promise.resolve();
  }
}

const group = (key: string): RecordChange => ({ kind: 'group', key, value: { dateAdd: 1 } });

describe('SharedRecords', () => {
  let cluster: FakeCluster;
  let open: SharedRecords[];

  beforeEach(() => {
    cluster = new FakeCluster();
    open = [];
  });
  afterEach(() => Promise.all(open.map((records) => records.close())));

  function node(name: string, own: readonly string[] = [], seeded: readonly string[] = []) {
    const owner = new Groups(own);
    const logger = new RecordingLogger();
    const client = cluster.client(name, seeded);
    const records = new SharedRecords({ client, daemon: 'svc-db', kinds: ['group'], owner, logger });
    open.push(records);
    records.start();
    return { owner, records, logger };
  }

  it('brings what nodes had, and all nodes have all of it', async () => {
    const [one, two] = [node('n1', ['web', 'db']), node('n2', ['web', 'mail'])];
    const all = ({ owner }: typeof one) => [...owner.names].sort().join() === 'db,mail,web';
    await eventually('both have all', () => all(one) && all(two));
  });

  it('takes away what nobody has any more after a node was away', async () => {
    cluster.commit([group('web')]);
    const { owner } = node('n1', ['web', 'gone'], ['svc-db']);
    await eventually('the other is gone', () => [...owner.names].join() === 'web');
  });

  it('decides anew where another node was quicker, so that of two the second sees the first', async () => {
    const [one, two] = [node('n1'), node('n2')];
    await eventually('both follow', () => one.records.loaded && two.records.loaded);
    const take = ({ owner, records }: typeof one, count: number) =>
      Promise.all(
        Array.from({ length: count }, () =>
          records.change(() => {
            const name = `g${owner.names.size}`;
            return { changes: [group(name)], result: name };
          }),
        ),
      );
    const names = (await Promise.all([take(one, 20), take(two, 20)])).flat();
    expect(new Set(names).size).to.equal(40);
  });

  it('asks for its turn before the next decision where others were quicker, and decides by what there is then', async () => {
    const { owner, records } = node('n1');
    await eventually('it follows', () => records.loaded);
    const count = () => records.change(() => ({ changes: [group(`g${owner.names.size}`)], result: owner.names.size }));
    expect([await count(), cluster.turns]).to.deep.equal([0, 0]);
    let others = 1;
    cluster.interrupt = () => {
      if (others === 0) return undefined;
      others -= 1;
      cluster.commit([group('of another')]);
      return 0;
    };
    // Whoever was overtaken has the next turn without asking.
    expect([await count(), cluster.turns]).to.deep.equal([2, 0]);
    expect([await count(), cluster.turns]).to.deep.equal([3, 1]);
  });

  it('makes many changes in pieces, and decides anew what is left where another comes between two', async () => {
    const { owner, records } = node('n1');
    await eventually('it follows', () => records.loaded);
    const sizes: number[] = [];
    cluster.committed = ({ changes }) => {
      sizes.push(changes.length);
      if (sizes.length === 1) cluster.commit([group('of another')]);
    };
    const wanted = Array.from({ length: 4500 }, (_none, index) => `g${index}`);
    const made = await records.change(() => {
      const missing = wanted.filter((name) => !owner.names.has(name));
      return { changes: missing.map(group), result: missing.length };
    });
    expect([made, sizes]).to.deep.equal([2500, [2000, 2000, 500]]);
    expect(owner.names.size).to.equal(4501);
  });

  it('refuses changes while nothing can be known, and says once why', async () => {
    cluster.unavailable = 'no quorum';
    const { records, logger } = node('n1');
    await eventually('it is said', () =>
      logger.lines.some((line) => line.startsWith('warn') && line.includes('no quorum')),
    );
    const refusal = await records.change(() => ({ changes: [group('x')], result: 1 })).catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(BusError);
    expect((refusal as BusError).code).to.equal('cluster_unavailable');
    expect((refusal as BusError).message).to.contain('no quorum');
  });

  const failure = (work: Promise<unknown>): Promise<BusError> =>
    work.then(
      () => expect.fail('it was made'),
      (error: unknown) => error as BusError,
    );

  describe('when nothing is to change', () => {
    async function follower() {
      cluster.commit([group('web')]);
      const made = node('n1', ['web'], ['svc-db']);
      await eventually('it follows', () => made.records.loaded);
      const have = (isUnbinding = false) =>
        made.records.change(() => {
          const isThere = made.owner.names.has('web');
          const changes = isThere ? [] : [group('web')];
          return { changes, result: isThere ? 'there already' : 'made', isUnbinding };
        });
      return { ...made, have };
    }

    it('says so where it is so by what all nodes have', async () => {
      const { have } = await follower();
      expect([await have(), cluster.revision]).to.deep.equal(['there already', 1]);
    });

    it('decides anew where others have changed what this node has not heard of', async () => {
      const { have } = await follower();
      cluster.hold('n1');
      cluster.commit([{ kind: 'group', key: 'web', value: null }]);
      const decided = have();
      cluster.release('n1');
      expect(await decided).to.equal('made');
      expect(cluster.value('group', 'web')).to.deep.equal({ dateAdd: 1 });
    });

    it('promises nothing while that cannot be known', async () => {
      const { have } = await follower();
      cluster.unwritable = 'no quorum';
      expect(await failure(have())).to.include({ code: 'cluster_unavailable', message: 'no quorum' });
    });

    it('does not know what was made where it was overtaken before', async () => {
      const { records, owner } = await follower();
      cluster.interrupt = (changes) => {
        cluster.interrupt = () => undefined;
        cluster.commit([group('of another')]);
        cluster.unwritable = 'no quorum';
        return changes.length;
      };
      const made = records.change(() => ({ changes: owner.names.has('x') ? [] : [group('x')], result: 1 }));
      const message = 'no quorum; it is not known what was made';
      expect(await failure(made)).to.include({ code: 'cluster_unavailable', message });
    });

    it('asks nobody where nobody relies on it', async () => {
      const { have } = await follower();
      cluster.unwritable = 'no quorum';
      expect(await have(true)).to.equal('there already');
    });
  });

  it('decides no more once nobody waits, whether it is the turn of a change or others were quicker', async () => {
    const { records } = node('n1');
    await eventually('it follows', () => records.loaded);
    let [wanted, decided] = [true, 0];
    const change = () =>
      records.change(
        () => {
          decided += 1;
          return { changes: [group(`g${decided}`)], result: decided };
        },
        () => wanted,
      );
    cluster.interrupt = () => {
      cluster.commit([group('of another')]);
      wanted = false;
      return 0;
    };
    const [overtaken, waiting] = await Promise.all([failure(change()), failure(change())]);
    expect(overtaken).to.include({
      code: 'cluster_unavailable',
      message: 'Nobody waits for the change any more; it is not known what was made',
    });
    expect(waiting).to.include({ code: 'cluster_unavailable', message: 'Nobody waits for the change any more' });
    expect([decided, [...cluster.records.keys()]]).to.deep.equal([1, ['group of another']]);
  });

  describe('when svc-clusterd is lost while it makes a change', () => {
    async function lost(error: BusError): Promise<BusError> {
      const { records } = node('n1');
      await eventually('it follows', () => records.loaded);
      cluster.committed = () => {
        throw error;
      };
      return failure(records.change(() => ({ changes: [group('x')], result: 1 })));
    }

    it('says that it is not known what was made, and does not look away itself', async () => {
      const gone = await lost(new BusError('unavailable', 'svc-clusterd went away', { isUnclear: true }));
      expect(gone).to.include({
        code: 'cluster_unavailable',
        message: 'svc-clusterd went away; it is not known what was made',
      });
    });

    it('says nothing of it where nothing can have been made', async () => {
      const away = await lost(new BusError('unavailable', 'svc-clusterd is not available'));
      expect(away).to.include({ code: 'cluster_unavailable', message: 'svc-clusterd is not available' });
    });

    it('says so, too, where the first of several pieces is made', async () => {
      const { records } = node('n1');
      await eventually('it follows', () => records.loaded);
      cluster.committed = () => {
        cluster.unwritable = 'no quorum';
      };
      const changes = Array.from({ length: 2001 }, (_none, index) => group(`g${index}`));
      const error = await failure(records.change(() => ({ changes, result: 1 })));
      expect(error).to.include({
        code: 'cluster_unavailable',
        message: 'no quorum; it is not known what was made',
      });
    });
  });
});
