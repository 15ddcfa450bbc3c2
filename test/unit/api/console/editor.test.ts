import { expect } from 'chai';
import { typed } from '../../../../api/console/browser/client/draft.js';
import { gutterOf } from '../../../../api/console/browser/parts/gutter.js';

describe('console: texts that are edited', () => {
  it('are compared with what was there when somebody began, whatever is stored since then', () => {
    const draft = typed(undefined, 'a', 'ab');
    expect(draft).to.deep.equal({ base: 'a', text: 'ab' });
    expect(typed(draft, 'of another', 'abc')).to.deep.equal({ base: 'a', text: 'abc' });
    expect(typed(draft, 'of another', 'a')).to.equal(undefined);
  });

  it('have numbers beside them in few pieces', () => {
    expect(gutterOf(5, new Set([0, 3]))).to.deep.equal([
      { text: '1\n2\n', isWrong: false },
      { text: '3\n', isWrong: true },
      { text: '4\n5\n', isWrong: false },
    ]);
    expect(gutterOf(100_000, new Set())).to.have.length(1);
    expect(gutterOf(2, new Set([1, 2])).map(({ isWrong }) => isWrong)).to.deep.equal([true, true]);
  });
});
