import { expect } from 'chai';
import { itemList } from '../../../../../lib/bus/contracts/item-list.js';

describe('items of an answer', () => {
  it('are objects, whatever is in them', () => {
    const items = [{}, { id: '001', scan: { id: 0 }, tags: ['a'] }];
    expect(itemList.parse(items)).to.deep.equal(items);
    for (const bad of [null, 'text', 7, [], Buffer.from('bytes')]) {
      const { error } = itemList.safeParse([{}, bad]);
      expect(error?.issues).to.have.length(1);
      expect(error?.issues[0]).to.include({ message: 'is no object' });
      expect(error?.issues[0]?.path).to.deep.equal([1]);
    }
    expect(itemList.safeParse({}).success).to.equal(false);
  });
});
