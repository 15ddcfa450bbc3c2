import { expect } from 'chai';
import { ReplacementGuard } from '../../../../daemons/authd/replacement-guard.js';

describe('ReplacementGuard', () => {
  let now = 0;
  let guard: ReplacementGuard;

  beforeEach(() => {
    now = 1_800_000_000_000;
    guard = new ReplacementGuard(() => now);
  });

  /** One host takes the name if it may. */
  function take(source: string, oldKey: string, sentKey?: string): boolean {
    if (guard.holds('twin', source, sentKey)) return false;
    guard.replaced('twin', oldKey, source);
    now += 60_000;
    return true;
  }

  it('lets one host enrol anew as often as it needs', () => {
    for (let count = 0; count < 9; count += 1) expect(take('192.0.2.1', `key${count}`), String(count)).to.equal(true);
    expect(guard.conflicts()[0]?.sources).to.deep.equal(['192.0.2.1']);
  });

  it('stops at ten changes of hands, whoever asks, until an hour has passed', () => {
    for (let count = 0; count < 10; count += 1) take('192.0.2.1', `key${count}`);
    expect(take('192.0.2.1', 'key10')).to.equal(false);
    now += 3_600_000;
    expect(take('192.0.2.1', 'key10')).to.equal(true);
  });

  it('knows an earlier owner by the key it lost', () => {
    expect(take('192.0.2.1', 'a')).to.equal(true);
    expect(take('192.0.2.1', 'b', 'a')).to.equal(true);
    expect(take('192.0.2.1', 'c', 'b')).to.equal(false);
    expect(guard.holds('other', '192.0.2.1', 'b')).to.equal(false);
  });

  it('knows an earlier owner by its address', () => {
    expect(take('192.0.2.1', 'a')).to.equal(true);
    expect(take('192.0.2.2', 'b')).to.equal(true);
    expect(take('192.0.2.1', 'c')).to.equal(false);
    // The present owner may come again: it is not the one that comes back.
    expect(take('192.0.2.2', 'c')).to.equal(true);
    expect(guard.conflicts()).to.deep.equal([
      {
        name: 'twin',
        sources: ['192.0.2.2', '192.0.2.1'],
        replacements: 3,
        refused: 1,
        last: 1_800_000_120_000,
      },
    ]);
    guard.forget('twin');
    expect(guard.conflicts()).to.deep.equal([]);
  });
});
