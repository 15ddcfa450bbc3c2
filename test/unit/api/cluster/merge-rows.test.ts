import { expect } from 'chai';
import fc from 'fast-check';
import { mergeRows, type RowSource } from '../../../../api/cluster/merge-rows.js';
import { compareRowKeys, type RowKey } from '../../../../lib/query/row-keys.js';

type Row = { readonly key: RowKey; readonly name: string };

/** A node that gives at most `most` rows at a time. */
class ListedRows implements RowSource {
  readonly asked: [from: number, limit: number, rows: string][] = [];

  constructor(
    readonly rows: readonly Row[],
    readonly most: number,
    readonly byAgent: boolean,
    readonly answers = Number.POSITIVE_INFINITY,
  ) {}

  page(from: number, limit: number, rows: 'whole' | 'keys') {
    this.asked.push([from, limit, rows]);
    if (this.asked.length > this.answers) return Promise.resolve(undefined);
    const total = this.rows.length;
    if (rows === 'keys' && this.byAgent) return Promise.resolve({ items: [], total, ...this.#runs() });
    const some = this.rows.slice(from, from + Math.min(limit, this.most));
    const items = rows === 'whole' ? some.map(({ name }) => name) : [];
    return Promise.resolve({ items, total, keys: some.map(({ key }) => key) });
  }

  #runs() {
    const keys: RowKey[] = [];
    const counts: number[] = [];
    for (const { key } of this.rows) {
      if (keys.at(-1)?.[0] === key[0]) {
        counts[counts.length - 1]! += 1;
      } else {
        keys.push(key);
        counts.push(1);
      }
    }
    return { keys, counts };
  }
}

/** Rows of agents, each on one of the nodes. */
const rowsOfAgents = fc.array(
  fc.record({
    agent: fc.integer({ min: 1, max: 12 }),
    value: fc.oneof(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 0, max: 3 }), fc.constant(null)),
  }),
  { maxLength: 60 },
);

describe('rows of several nodes', () => {
  it('come in the order and the pages in which one node would have them', async () => {
    await fc.assert(
      fc.asyncProperty(
        rowsOfAgents,
        fc.array(fc.nat(2), { minLength: 13, maxLength: 13 }),
        fc.boolean(),
        fc.boolean(),
        fc.record({ offset: fc.nat(70), limit: fc.integer({ min: 1, max: 30 }), most: fc.integer({ min: 1, max: 9 }) }),
        async (drawn, places, sorted, descending, { offset, limit, most }) => {
          const compare = compareRowKeys(descending);
          const all = drawn
            .map(({ agent, value }, index) => ({ key: sorted ? [value, agent] : [agent], name: `${index}` }))
            .sort((a, b) => compare(a.key, b.key));
          const sources = [0, 1, 2].map(
            (node) =>
              new ListedRows(
                all.filter(({ key }) => places[Number(key.at(-1))] === node),
                most,
                !sorted,
              ),
          );
          const page = await mergeRows(sources, { offset, limit, descending });
          expect(page.total).to.equal(all.length);
          expect(page.items).to.deep.equal(all.slice(offset, offset + limit).map(({ name }) => name));
        },
      ),
    );
  });

  it('pass over what is far in front of a page by its keys alone', async () => {
    for (const byAgent of [true, false]) {
      const all = Array.from({ length: 30_000 }, (_none, index) => ({
        key: byAgent ? [Math.floor(index / 100)] : [`name ${String(index).padStart(6, '0')}`, index % 300],
        name: `${index}`,
      }));
      const sources = [0, 1, 2].map(
        (node) =>
          new ListedRows(
            all.filter(({ key }) => Number(key.at(-1)) % 3 === node),
            8000,
            byAgent,
          ),
      );
      const page = await mergeRows(sources, { offset: 25_010, limit: 500, descending: false });
      expect(page.items).to.deep.equal(all.slice(25_010, 25_510).map(({ name }) => name));
      for (const { asked } of sources) {
        expect(asked.filter(([, , rows]) => rows === 'whole')).to.have.length(1);
        expect(asked.filter(([, limit, rows]) => rows === 'whole' && limit > 500)).to.deep.equal([]);
      }
    }
  });

  it('are none behind the last, and it is known how many there are', async () => {
    for (const byAgent of [true, false]) {
      const rows = Array.from({ length: 1500 }, (_none, at) => ({ key: byAgent ? [at] : ['a', at], name: `${at}` }));
      const sources = [
        new ListedRows(rows.slice(0, 700), 8000, byAgent),
        new ListedRows(rows.slice(700), 8000, byAgent),
      ];
      const page = await mergeRows(sources, { offset: 500_000, limit: 100_000, descending: false });
      expect(page).to.deep.equal({ items: [], total: 1500 });
      for (const { asked } of sources) expect(Math.max(...asked.map(([, limit]) => limit))).to.be.at.most(100_000);
    }
  });

  it('do without a node that does not answer any more', async () => {
    const rows = (from: number) =>
      Array.from({ length: 10 }, (_none, at) => ({ key: [from + at], name: `${from + at}` }));
    const sources = [new ListedRows(rows(1), 4, true), new ListedRows(rows(100), 4, true, 1)];
    const page = await mergeRows(sources, { offset: 0, limit: 50, descending: false });
    expect(page.items).to.deep.equal([...rows(1), ...rows(100).slice(0, 4)].map(({ name }) => name));
    expect(page.total).to.equal(20);
  });
});
