import { expect } from 'chai';
import { History } from '../../cluster-story/history.js';

describe('the history of a cluster', () => {
  let time = 0;
  let history: History;
  beforeEach(() => {
    time = 0;
    history = new History(() => (time += 1));
  });

  const agent = (id: string, name: string, ...groups: string[]) => ({
    id,
    name,
    groups: groups.length > 0 ? groups : ['default'],
  });

  it('finds nothing wrong with what can have come of what was asked', () => {
    history.enrol('a')('done', '001');
    history.enrol('b')('unknown');
    history.enrol('c')('refused');
    history.makeGroup('web')('done');
    history.setGroups('001', ['web'])('done');
    expect(history.breaches([agent('001', 'a', 'web')], ['default', 'web'])).to.deep.equal([]);
    expect(history.breaches([agent('001', 'a', 'web'), agent('002', 'b')], ['default', 'web'])).to.deep.equal([]);
    expect(history.counts()).to.deep.equal({ done: 3, refused: 1, unknown: 1 });
  });

  it('finds what was lost, given twice, or made though it was refused', () => {
    history.enrol('a')('done', '001');
    history.enrol('b')('done', '001');
    history.enrol('c')('refused', undefined, '400/1726 no');
    history.makeGroup('web')('done');
    history.makeGroup('db')('refused', '400/1711');
    expect(history.breaches([agent('001', 'a'), agent('001', 'c')], ['default', 'db'])).to.deep.equal([
      'id 001 is there twice',
      'id given 001 is there twice',
      "agent 001 'b' was enrolled, and is lost",
      "'c' was refused (400/1726 no), and is there",
      "group 'web' was made, and is lost",
      "group 'db' was refused (400/1711), and is there",
    ]);
    expect(history.answers).to.deep.equal(['1 refused: 400/1726 no', '1 refused: 400/1711']);
    expect(history.breaches([agent('007', 'a'), agent('008', 'b')], ['default', 'web'])).to.include(
      "'a' was given id 001, and has 007",
    );
  });

  it('knows which of several changes can be the last', () => {
    history.enrol('a')('done', '001');
    history.setGroups('001', ['old'])('done');
    const [first, second] = [history.setGroups('001', ['one']), history.setGroups('001', ['two'])];
    first('done');
    second('done');
    const late = history.setGroups('001', ['maybe']);
    late('unknown');
    history.setGroups('001', ['never'])('refused');
    const groups = ['default', 'old', 'one', 'two', 'maybe', 'never'];
    const wrong = (group: string) => history.breaches([agent('001', 'a', group)], groups).length;
    expect(groups.map(wrong)).to.deep.equal([1, 1, 0, 0, 0, 1]);
    expect(history.breaches([agent('001', 'a', 'never')], groups)).to.deep.equal([
      "agent 001 is in 'never', and can only be in 'one' or 'two' or 'maybe'; it was asked: 'old' from 3 to 4 ms, done (); " +
        "'one' from 5 to 7 ms, done (); 'two' from 6 to 8 ms, done (); 'maybe' from 9 to 10 ms, unknown (); " +
        "'never' from 11 to 12 ms, refused ()",
    ]);
    expect(history.breaches([agent('001', 'a', 'one')], ['default'])).to.deep.equal([
      "agent 001 is in group 'one', which is not there",
    ]);
  });
});
