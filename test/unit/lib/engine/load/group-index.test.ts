import { expect } from 'chai';
import fc from 'fast-check';
import { GroupIndex } from '../../../../../lib/engine/load/group-index.js';

describe('group index', () => {
  it('finds what looking at every member finds, whatever is added and moved in between', () => {
    const groups = fc.constantFrom('', 'a,', 'a,b,', 'b,', 'A,', 'abc,', 'c,');
    const step = fc.oneof(
      fc.record({ kind: fc.constant('put' as const), member: fc.nat(6), groups }),
      fc.record({ kind: fc.constant('find' as const), text: fc.constantFrom('a', 'b', 'c', ',', 'x') }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const index = new GroupIndex<number>();
        const all = new Map<number, string>();
        for (const each of steps) {
          if (each.kind === 'put') {
            const before = all.get(each.member);
            if (before !== undefined) index.remove(before, each.member);
            index.add(each.groups, each.member);
            all.set(each.member, each.groups);
          } else {
            const expected = [...all].filter(([, text]) => text.includes(each.text)).map(([member]) => member);
            const found = index.find(each.text, () => (text) => text.includes(each.text));
            expect(found.sort()).to.deep.equal(expected.sort());
          }
        }
      }),
    );
  });

  it('tests each group string once for each question', () => {
    const index = new GroupIndex<number>();
    const tested: string[] = [];
    const find = (): number[] =>
      index.find('all', () => (groups) => {
        tested.push(groups);
        return true;
      });
    for (let member = 0; member < 10; member += 1) {
      index.add(member % 2 === 0 ? 'even,' : 'odd,', member);
      find();
    }
    expect(find()).to.have.members([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(tested).to.deep.equal(['even,', 'odd,']);
  });
});
