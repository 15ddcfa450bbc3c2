import { expect } from 'chai';
import { ChangeBatches } from '../../../../daemons/clusterd/records/change-batches.js';
import { eventually } from '../../../support/eventually.js';

type Message = { readonly seq: number };

describe('changes of records as they come', () => {
  function made({ awaited = () => 0, take }: { awaited?: () => number; take?: () => Promise<void> } = {}) {
    const taken: number[][] = [];
    const failures: unknown[] = [];
    const batches = new ChangeBatches<Message>({
      take: async (batch) => {
        taken.push(batch.map(({ seq }) => seq));
        await take?.();
      },
      awaited,
      failed: (error) => failures.push(error),
    });
    return { taken, failures, batches };
  }

  it('are taken over together, and at once where somebody waits for them', async () => {
    let awaited = 0;
    const { taken, batches } = made({ awaited: () => awaited });
    for (const seq of [1, 2, 3]) await batches.add({ seq }, true);
    expect(taken).to.deep.equal([]);
    await eventually('they are taken over', () => taken.length === 1);
    awaited = 6;
    for (const seq of [4, 5]) await batches.add({ seq }, true);
    const before = taken.length;
    await batches.add({ seq: 6 }, true);
    expect(taken.slice(before).at(-1)?.at(-1)).to.equal(6);
    expect(taken.flat()).to.deep.equal([1, 2, 3, 4, 5, 6]);
  });

  it('are taken over with those behind them that are there already', async () => {
    const { taken, batches } = made({ awaited: () => 2 });
    await batches.add({ seq: 1 }, false);
    await batches.add({ seq: 2 }, false);
    await batches.add({ seq: 3 }, true);
    expect(taken).to.deep.equal([[1, 2, 3]]);
  });

  it('gather while others are taken over, and wait when they are many', async () => {
    let release = (): void => {};
    const { taken, batches } = made({ awaited: () => 1, take: () => new Promise((resolve) => (release = resolve)) });
    await batches.add({ seq: 1 }, true);
    expect(taken).to.deep.equal([[1]]);
    for (let seq = 2; seq <= 2000; seq += 1) await batches.add({ seq }, false);
    let isIn = false;
    const last = batches.add({ seq: 2001 }, false).then(() => (isIn = true));
    await Promise.resolve();
    expect([taken.length, isIn]).to.deep.equal([1, false]);
    release();
    await eventually('they are taken over', () => taken.length === 2);
    expect(taken[1]).to.have.length(2000);
    release();
    await last;
  });

  it('end with the first that cannot be taken over', async () => {
    const { taken, failures, batches } = made({ awaited: () => 1, take: () => Promise.reject(new Error('full')) });
    await batches.add({ seq: 1 }, true);
    await eventually('it is told', () => failures.length === 1);
    await batches.add({ seq: 2 }, true);
    batches.end();
    expect(taken).to.deep.equal([[1]]);
  });
});
