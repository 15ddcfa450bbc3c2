import { expect } from 'chai';
import { listRows, type RowList, type RowPage } from '../../../../../daemons/db/rows/list-rows.js';

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
      read: (row) => ({ candidate: row, bytes: 8 }),
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
});
