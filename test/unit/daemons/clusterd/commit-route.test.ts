import { expect } from 'chai';
import { CommitRoute } from '../../../../daemons/clusterd/records/commit-route.js';
import type { Commit } from '../../../../daemons/clusterd/records/record-commits.js';
import { BusError } from '../../../../lib/bus/bus-error.js';

const COMMIT: Commit = { basis: 7, kinds: ['group'], changes: [{ kind: 'group', key: 'web', value: null }] };

describe('the way of a change into the records', () => {
  let holder: string | undefined;
  let time: number;
  let answer: () => Promise<unknown>;
  let did: string[];
  let route: CommitRoute;

  beforeEach(() => {
    holder = 'n2';
    time = 0;
    did = [];
    answer = () => Promise.resolve({ revision: 8 });
    route = new CommitRoute({
      self: 'n1',
      holder: () => holder,
      now: () => time,
      asks: {
        ask: ({ node, daemon, method, params }) => {
          expect([daemon, method]).to.deep.equal(['svc-clusterd', 'records.write']);
          did.push(`ask ${node} ${(params as Commit).basis}`);
          return answer();
        },
      },
      commits: {
        commit: ({ basis }) => {
          did.push(`commit ${basis}`);
          return Promise.resolve(9);
        },
        follow: (revision) => {
          did.push(`follow ${revision}`);
          return Promise.resolve();
        },
        overtook: () => did.push('overtook'),
      },
    });
  });

  const failing = (code: string) => {
    answer = () => Promise.reject(new BusError(code, code));
  };

  it('leads over the holder of the lease, and is at its end when this node has it, too', async () => {
    expect(await route.commit(COMMIT)).to.equal(8);
    expect(did).to.deep.equal(['ask n2 7', 'follow 8']);
    expect(route.counters).to.deep.equal({ handed: 1, unheard: 0 });
  });

  it('is a short one where this node holds the lease, or nobody is known to', async () => {
    for (const known of ['n1', undefined]) {
      holder = known;
      expect(await route.commit(COMMIT)).to.equal(9);
    }
    expect(did).to.deep.equal(['commit 7', 'commit 7']);
  });

  it('is a short one for what is held against nothing that it changes', async () => {
    expect(await route.commit({ ...COMMIT, kinds: ['agent'] })).to.equal(9);
    expect(did).to.deep.equal(['commit 7']);
  });

  it('ends where the holder refuses what this node would refuse', async () => {
    for (const code of ['stale', 'too_large', 'bad_record']) {
      failing(code);
      const error = await route.commit(COMMIT).catch((reason: unknown) => reason);
      expect((error as BusError).code).to.equal(code);
    }
    expect(did).to.deep.equal(['ask n2 7', 'overtook', 'ask n2 7', 'ask n2 7']);
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
      expect(did).to.deep.equal(['ask n2 7', 'commit 7', 'commit 7', 'ask n3 7', 'commit 7']);
    }
    answer = () => Promise.resolve({ revision: 8 });
    expect(await route.commit(COMMIT)).to.equal(8);
    expect(route.counters).to.deep.equal({ handed: 1, unheard: 6 });
  });
});
