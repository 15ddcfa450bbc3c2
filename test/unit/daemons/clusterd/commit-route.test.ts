import { expect } from 'chai';
import { CommitRoute } from '../../../../daemons/clusterd/records/commit-route.js';
import type { Commit } from '../../../../daemons/clusterd/records/record-commits.js';
import { BusError } from '../../../../lib/bus/bus-error.js';
import { staleError } from '../../../../lib/cluster/stale-error.js';

const COMMIT: Commit = { basis: 7, kinds: ['group'], changes: [{ kind: 'group', key: 'web', value: null }] };

describe('the way of a change into the records', () => {
  let holder: string | undefined;
  let time: number;
  let answer: () => Promise<unknown>;
  let hindrance: string | undefined;
  let own: () => Promise<number>;
  let made: number | undefined;
  /** The last change of the kinds that is known at this node. */
  let latest: number;
  let did: string[];
  let route: CommitRoute;

  beforeEach(() => {
    holder = 'n2';
    time = latest = 0;
    did = [];
    answer = () => Promise.resolve({ revision: 8 });
    own = () => Promise.resolve(9);
    hindrance = made = undefined;
    route = new CommitRoute({
      self: 'n1',
      hindrance: () => hindrance,
      holder: () => holder,
      now: () => time,
      asks: {
        ask: ({ node, daemon, method, params }) => {
          expect(daemon).to.equal('svc-clusterd');
          expect((params as { readonly node: string }).node).to.equal('n1');
          if (method === 'records.give') {
            did.push(`ask ${node} for a turn`);
            return answer();
          }
          expect(method).to.equal('records.write');
          did.push(`ask ${node} ${(params as Commit).basis}`);
          return answer();
        },
      },
      commits: {
        commit: ({ basis }) => {
          did.push(`commit ${basis}`);
          return own();
        },
        follow: (revision) => {
          did.push(`follow ${revision}`);
          return Promise.resolve();
        },
        overtook: () => did.push('overtook'),
        leaveOthers: () => {
          did.push('leave others');
          return Promise.resolve();
        },
        requireLatest: ({ basis }) => {
          if (basis < latest) throw staleError(latest);
        },
        madeAt: () => made,
        turn: (kinds) => {
          did.push(`turn ${kinds.join()}`);
          return Promise.resolve(7);
        },
      },
    });
  });

  const failing = (code: string) => {
    answer = () => Promise.reject(new BusError(code, code));
  };

  it('leads over the holder, too, where nothing is to change, and is its own where the holder does not answer', async () => {
    const nothing = { ...COMMIT, changes: [] };
    expect(await route.commit(nothing)).to.equal(8);
    failing('node_timeout');
    expect(await route.commit(nothing)).to.equal(9);
    // What the holder has held is nothing that is to be in force here.
    expect(did).to.deep.equal(['ask n2 7', 'ask n2 7', 'commit 7', 'leave others']);
  });

  it('leads over the holder of the lease, and is at its end when this node has it, too', async () => {
    expect(await route.commit(COMMIT)).to.equal(8);
    expect(did).to.deep.equal(['ask n2 7', 'follow 8']);
    expect(route.counters).to.deep.equal({ handed: 1, unheard: 0, stale: 0 });
  });

  it('is a short one where this node holds the lease, or nobody is known to', async () => {
    holder = 'n1';
    expect(await route.commit(COMMIT)).to.equal(9);
    expect(did).to.deep.equal(['commit 7']);
    holder = undefined;
    expect(await route.commit(COMMIT)).to.equal(9);
    // Nobody sees to whose turn it is.
    expect(did).to.deep.equal(['commit 7', 'commit 7', 'leave others']);
  });

  it('is a short one for what is held against nothing that it changes', async () => {
    expect(await route.commit({ ...COMMIT, kinds: ['agent'] })).to.equal(9);
    expect(did).to.deep.equal(['commit 7', 'leave others']);
  });

  it('ends where others were quicker at the holder', async () => {
    failing('stale');
    const error = await route.commit(COMMIT).catch((reason: unknown) => reason);
    expect((error as BusError).code).to.equal('stale');
    expect(did).to.deep.equal(['ask n2 7']);
    expect(route.counters).to.deep.equal({ handed: 0, unheard: 0, stale: 1 });
  });

  it('ends at this node where it is known here that others were quicker', async () => {
    latest = 8;
    const error = await route.commit(COMMIT).catch((reason: unknown) => reason);
    expect((error as BusError).code).to.equal('stale');
    expect(did).to.deep.equal([]);
  });

  it('leaves others time where it was overtaken by one that writes itself, too', async () => {
    holder = undefined;
    own = () => Promise.reject(staleError(8));
    await route.commit(COMMIT).catch(() => {});
    expect(did).to.deep.equal(['commit 7', 'overtook']);
  });

  it('is not that over the holder for a node that may change nothing', async () => {
    hindrance = 'the records of NATS are others';
    own = () => Promise.reject(new BusError('cluster_unavailable', hindrance ?? ''));
    const error = await route.commit(COMMIT).catch((reason: unknown) => reason);
    expect(error).to.include({ code: 'cluster_unavailable', message: hindrance });
    expect(did).to.deep.equal(['commit 7']);
  });

  it('says that a change may have been made when the holder may have made it', async () => {
    own = () => Promise.reject(new BusError('cluster_unavailable', 'Nothing can be changed'));
    const messageAfter = async (code: string) => {
      time += 10_000;
      failing(code);
      return ((await route.commit(COMMIT).catch((reason: unknown) => reason)) as BusError).message;
    };
    expect(await messageAfter('node_timeout')).to.equal('Nothing can be changed; it is not known what was made');
    expect(await messageAfter('cluster_unavailable')).to.include('it is not known');
    for (const code of ['node_away', 'unknown_node', 'not_askable', 'too_large', 'bad_record']) {
      expect(await messageAfter(code), code).to.equal('Nothing can be changed');
    }
  });

  it('finds in the records what the holder has made without an answer', async () => {
    failing('node_timeout');
    own = () => Promise.reject(new BusError('stale', 'something was changed'));
    made = 8;
    expect(await route.commit(COMMIT)).to.equal(8);
    made = undefined;
    time += 10_000;
    const error = await route.commit(COMMIT).catch((reason: unknown) => reason);
    expect((error as BusError).code).to.equal('stale');
  });

  it('waits for its turn at the holder, and for what is decided on then', async () => {
    expect(await route.turn(['agent'])).to.equal(8);
    expect(did).to.deep.equal(['ask n2 for a turn', 'follow 8']);
    holder = 'n1';
    expect(await route.turn(['agent', 'group'])).to.equal(7);
    expect(did.at(-1)).to.equal('turn agent,group');
  });

  it('waits for no turn where nobody gives any', async () => {
    for (const code of ['not_askable', 'node_timeout', 'cluster_unavailable']) {
      failing(code);
      expect(await route.turn(['agent'])).to.equal(0);
    }
    holder = undefined;
    expect(await route.turn(['agent'])).to.equal(0);
    holder = 'n2';
    hindrance = 'the records of NATS are others';
    expect(await route.turn(['agent'])).to.equal(0);
    expect(did).to.deep.equal(Array.from({ length: 3 }, () => 'ask n2 for a turn'));
  });

  it('goes round a holder that is not heard, and looks for it later or elsewhere', async () => {
    for (const code of ['node_away', 'node_timeout', 'cluster_unavailable']) {
      did = [];
      failing(code);
      expect(await route.commit(COMMIT)).to.equal(9);
      expect(await route.commit(COMMIT)).to.equal(9);
      holder = 'n3';
      expect(await route.commit(COMMIT)).to.equal(9);
      holder = 'n2';
      time += 10_000;
      expect(did.filter((what) => what !== 'leave others')).to.deep.equal([
        'ask n2 7',
        'commit 7',
        'commit 7',
        'ask n3 7',
        'commit 7',
      ]);
    }
    answer = () => Promise.resolve({ revision: 8 });
    expect(await route.commit(COMMIT)).to.equal(8);
    expect(route.counters).to.deep.equal({ handed: 1, unheard: 6, stale: 0 });
  });
});
