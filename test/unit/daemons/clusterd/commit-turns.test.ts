import { expect } from 'chai';
import { CommitTurns } from '../../../../daemons/clusterd/records/commit-turns.js';
import type { BusError } from '../../../../lib/bus/bus-error.js';
import type { RecordKind } from '../../../../lib/bus/contracts/clusterd.js';
import { staleError } from '../../../../lib/cluster/stale-error.js';

describe('whose turn it is to write records', () => {
  let turns: CommitTurns;
  let began: string[];
  /** By node: what its commit comes to, once it is to. */
  let ends: Map<string, (outcome?: Error) => void>;

  beforeEach(() => {
    turns = new CommitTurns();
    began = [];
    ends = new Map();
  });

  /** Resolves with the code that it ends with, if any. */
  const commit = (node: string, kind: RecordKind = 'agent', basis: readonly RecordKind[] = [kind]) =>
    turns
      .run({ node, kinds: basis, changes: [kind] }, () => {
        began.push(`${node} ${kind}`);
        return new Promise<void>((resolve, reject) => {
          ends.set(node, (outcome) => {
            if (outcome === undefined) resolve();
            else reject(outcome);
          });
        });
      })
      .then(
        () => undefined,
        (error: unknown) => (error as BusError).code,
      );
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  it('comes one after the other, in the order in which they were asked for', async () => {
    const all = [commit('n1'), commit('n2'), commit('n3')];
    await turn();
    expect(began).to.deep.equal(['n1 agent']);
    ends.get('n1')?.(new Error('no quorum'));
    await turn();
    ends.get('n2')?.();
    await turn();
    expect(began).to.deep.equal(['n1 agent', 'n2 agent', 'n3 agent']);
    ends.get('n3')?.();
    await Promise.all(all);
    expect(turns.waiting).to.equal(0);
  });

  it('is kept for one that decides anew, before those that wait', async () => {
    const first = commit('n1');
    const second = commit('n2');
    await turn();
    ends.get('n1')?.(staleError(9));
    expect(await first).to.equal('stale');
    await turn();
    expect(began).to.deep.equal(['n1 agent']);
    const again = commit('n1');
    await turn();
    expect(began).to.deep.equal(['n1 agent', 'n1 agent']);
    ends.get('n1')?.();
    await again;
    await turn();
    expect(began.at(-1)).to.equal('n2 agent');
    ends.get('n2')?.();
    await second;
  });

  it('is not kept from what changes nothing of what is decided anew', async () => {
    const first = commit('n1', 'agent', ['agent', 'group']);
    await turn();
    ends.get('n1')?.(staleError(9));
    await first;
    const group = commit('n2', 'group');
    const access = commit('n3', 'access');
    await turn();
    expect(began).to.deep.equal(['n1 agent', 'n3 access']);
    ends.get('n3')?.();
    await access;
    const again = commit('n1', 'agent', ['agent', 'group']);
    await turn();
    ends.get('n1')?.();
    await again;
    await turn();
    ends.get('n2')?.();
    await group;
    expect(began.slice(2)).to.deep.equal(['n1 agent', 'n2 group']);
  });

  it('is given to one that decides then, before those that came later', async () => {
    const first = commit('n1');
    let given = false;
    const giving = turns.give({ node: 'n2', kinds: ['agent'], changes: ['agent'] }).then(() => (given = true));
    const third = commit('n3');
    await turn();
    expect(given).to.equal(false);
    ends.get('n1')?.();
    await Promise.all([first, giving]);
    await turn();
    const second = commit('n2');
    await turn();
    expect(began).to.deep.equal(['n1 agent', 'n2 agent']);
    ends.get('n2')?.();
    await second;
    await turn();
    ends.get('n3')?.();
    await third;
  });

  it('goes on without one that does not come again', async () => {
    const first = commit('n1');
    await turn();
    ends.get('n1')?.(staleError(9));
    await first;
    const second = commit('n2');
    while (!ends.has('n2')) await turn();
    ends.get('n2')?.();
    expect(await second).to.equal(undefined);
  });

  it('is the next one’s where whoever has it waits no longer', async () => {
    const late = turns
      .give({ node: 'n1', kinds: ['agent'], changes: ['agent'] }, () => true)
      .catch((error: unknown) => error);
    const second = commit('n2');
    expect(await late).to.include({ code: 'busy' });
    await turn();
    expect(began).to.deep.equal(['n2 agent']);
    ends.get('n2')?.();
    await second;
  });

  it('is nobody’s once it is stopped, and what was begun is ended', async () => {
    const first = commit('n1');
    const second = commit('n2');
    await turn();
    let stopped = false;
    const stopping = turns.stop().then(() => (stopped = true));
    expect(await second).to.equal('cluster_unavailable');
    await turn();
    expect(stopped).to.equal(false);
    ends.get('n1')?.();
    await Promise.all([first, stopping]);
    expect(began).to.deep.equal(['n1 agent']);
    expect(await commit('n3')).to.equal('cluster_unavailable');
  });
});
