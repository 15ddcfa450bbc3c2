import { expect } from 'chai';
import fc from 'fast-check';
import { RecordCopy } from '../../../../daemons/clusterd/records/record-copy.js';
import type { SharedRecord } from '../../../../lib/cluster/shared-records.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

const KINDS = ['agent', 'member', 'group'] as const;

describe('RecordCopy', () => {
  let home: TemporaryHome;
  beforeEach(() => {
    home = new TemporaryHome();
  });
  afterEach(() => {
    home.remove();
  });

  it('gives each record as it is now, in the order of revisions, page by page, also after it was opened anew', async () => {
    const change = fc.record({
      kind: fc.constantFrom(...KINDS),
      key: fc.constantFrom('1', '2', '3', 'ä b', '.*>'),
      value: fc.option(fc.record({ n: fc.nat(9) })),
    });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(change, { maxLength: 6 }), { maxLength: 6 }),
        fc.integer({ min: 1, max: 4 }),
        async (batches, limit) => {
          run += 1;
          const directory = home.path('queue', `cluster${run}`);
          let copy = await RecordCopy.open(directory, 'home', 'prod');
          const latest = new Map<string, SharedRecord>();
          let revision = 0;
          for (const batch of batches) {
            const changes = batch.map((one) => ({ ...one, revision: (revision += 1) }));
            for (const one of changes) latest.set(`${one.kind} ${one.key}`, one);
            await copy.apply(changes, revision);
          }
          await copy.close();
          copy = await RecordCopy.open(directory, 'another', 'prod');
          const wanted = [...latest.values()].sort((one, other) => one.revision - other.revision);
          for (const kinds of [[...KINDS], ['member' as const]]) {
            for (let after = 0; after <= revision; after += 1) {
              const mine = wanted.filter(
                (one) => kinds.includes(one.kind as never) && one.revision > after && (after > 0 || one.value !== null),
              );
              expect(all(copy, kinds, after, limit)).to.deep.equal(mine);
            }
            expect(copy.latest(kinds)).to.equal(
              Math.max(0, ...wanted.filter(({ kind }) => kinds.includes(kind as never)).map((one) => one.revision)),
            );
          }
          expect(copy.revision).to.equal(revision);
          expect(copy.newest(limit)).to.deep.equal([...wanted].reverse().slice(0, limit));
          await copy.close();
        },
      ),
      { numRuns: 30 },
    );
  });

  it('cuts a page behind some megabytes', async () => {
    const copy = await RecordCopy.open(home.path('queue', 'cluster'), 'home', 'prod');
    const big = 'x'.repeat(250_000);
    const changes = Array.from({ length: 60 }, (_, at) => ({
      kind: 'files' as const,
      key: `${at}`,
      revision: at + 1,
      value: big,
    }));
    await copy.apply(changes, 60);
    const page = copy.changes(['files'], 0, 5000);
    expect(page.more).to.equal(true);
    expect(page.changes.length).to.be.within(20, 40);
    expect(all(copy, ['files'], 0, 5000)).to.have.length(60);
    await copy.close();
  });

  it('keeps what was noted, and the first name of the home', async () => {
    let copy = await RecordCopy.open(home.path('queue', 'cluster'), 'first', 'prod');
    await copy.note({ instance: copy.state.instance, seeded: ['svc-db'], whole: true });
    await copy.close();
    copy = await RecordCopy.open(home.path('queue', 'cluster'), 'second', 'prod');
    expect(copy.state).to.deep.include({ instance: 'first', seeded: ['svc-db'], whole: true });
    await copy.close();
  });

  it('has nothing of another cluster', async () => {
    const directory = home.path('queue', 'cluster');
    let copy = await RecordCopy.open(directory, 'first', 'prod');
    await copy.apply([{ kind: 'group', key: 'web', revision: 5, value: { dateAdd: 1 } }], 5);
    await copy.note({ seeded: ['svc-db'], whole: true });
    await copy.close();
    copy = await RecordCopy.open(directory, 'second', 'test');
    expect(copy.state).to.deep.equal({ revision: 0, whole: false, seeded: [], instance: 'second', cluster: 'test' });
    expect(all(copy, ['group'], 0, 10)).to.deep.equal([]);
    await copy.close();
  });
});

function all(
  copy: RecordCopy,
  kinds: readonly (typeof KINDS)[number][] | readonly ['files'],
  from: number,
  limit: number,
): SharedRecord[] {
  const found: SharedRecord[] = [];
  let after = from;
  for (;;) {
    const page = copy.changes(kinds, after, limit);
    // A first page from 0 leaves removed ones out, those behind it do not: they are left out here as a reader would.
    found.push(...page.changes.filter(({ value }) => from > 0 || value !== null));
    after = page.through;
    if (!page.more) return found;
  }
}
