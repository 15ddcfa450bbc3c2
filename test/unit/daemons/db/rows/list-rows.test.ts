import { expect } from 'chai';
import { listDistinctRows, listRows, type RowList, type RowPage } from '../../../../../daemons/db/rows/list-rows.js';

describe('Pages of very long lists', () => {
  const MANY = 1_000_001;
  const page = (offset: number, isSorted: boolean): Promise<RowPage> => {
    const list: RowList<number, number> = {
      ...{ offset, limit: 2, descending: false, sortKeys: isSorted ? [(row) => MANY - row] : [] },
      test: () => true,
      visit: (each) => {
        for (let row = 0; row < MANY; row += 1) each(row, row);
        return Promise.resolve();
      },
      read: (row) => row,
      bytes: () => 8,
      item: (row) => ({ row }),
    };
    return listRows(list);
  };

  it('are refused far behind in a sorted one: all in front of them would be kept in memory', async () => {
    const error = await page(2_000_000, true).catch((reason: unknown) => reason);
    expect(error).to.include({ code: 'too_many' });
    expect((await page(1, true)).items).to.deep.equal([{ row: MANY - 2 }, { row: MANY - 3 }]);
  });

  it('lie anywhere in one that is not sorted', async () => {
    expect(await page(MANY - 1, false)).to.deep.equal({ items: [{ row: MANY - 1 }], total: MANY });
    expect(await page(2_000_000, false)).to.deep.equal({ items: [], total: MANY });
  });

  it('are cut where an answer would become too large, be they sorted or not, and count on', async () => {
    for (const isSorted of [false, true]) {
      const { items, total } = await listRows<number, number>({
        ...{ offset: 1, limit: 50, descending: false, sortKeys: isSorted ? [(row) => row] : [], test: () => true },
        visit: (each) => {
          for (let row = 0; row < 100; row += 1) each(row, row);
          return Promise.resolve();
        },
        read: (row) => row,
        bytes: () => 1024 * 1024,
        item: (row) => ({ row }),
      });
      expect({ items, total }).to.deep.equal({ items: [{ row: 1 }, { row: 2 }, { row: 3 }], total: 100 });
    }
  });

  it('of different rows are refused when there is too much text in them', async () => {
    const distinct = (length: number): Promise<RowPage> =>
      listDistinctRows<string, string>(
        {
          ...{ offset: 0, limit: 1, descending: false, sortKeys: [], test: () => true },
          visit: (each) => {
            for (let row = 0; row < 1100; row += 1) each(`${String(row)} ${'x'.repeat(length)}`, '');
            return Promise.resolve();
          },
          item: (row) => ({ row }),
        },
        [(row) => row],
      );
    expect(await distinct(65_000).catch((reason: unknown) => reason)).to.include({ code: 'too_many' });
    expect(await distinct(10)).to.include({ total: 1100 });
  });
});
