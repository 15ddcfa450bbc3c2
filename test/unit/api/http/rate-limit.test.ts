import { expect } from 'chai';
import { RateLimit } from '../../../../api/http/rate-limit.js';

const WINDOW_MS = 60_000;

describe('RateLimit', () => {
  let now: number;
  const make = (limit: number) => new RateLimit(limit, () => now);
  const admitted = (limit: RateLimit, requests: number) =>
    Array.from({ length: requests }, () => limit.admit()).filter(Boolean).length;

  beforeEach(() => (now = 5_000_000));

  it('admits its number in the first window, and one more in later ones', () => {
    const limit = make(3);
    expect(admitted(limit, 10)).to.equal(3);
    now += WINDOW_MS + 1;
    expect(admitted(limit, 10)).to.equal(4);
  });

  it('has a window that ends after its last millisecond', () => {
    const limit = make(2);
    expect(admitted(limit, 3)).to.equal(2);
    now += WINDOW_MS;
    expect([limit.full, limit.admit()]).to.deep.equal([true, false]);
    now += 1;
    expect([limit.full, limit.admit()]).to.deep.equal([false, true]);
  });

  it('says when it is full, which a look does not change', () => {
    const limit = make(2);
    expect(limit.full, 'before the first request').to.equal(false);
    limit.admit();
    expect(limit.full).to.equal(false);
    limit.admit();
    expect([limit.full, limit.full]).to.deep.equal([true, true]);
  });

  it('of one request is full after it', () => {
    const limit = make(1);
    limit.admit();
    expect(limit.full).to.equal(true);
  });

  it('admits everything without a limit', () => {
    const limit = make(0);
    expect(admitted(limit, 1000)).to.equal(1000);
    expect(limit.full).to.equal(false);
    expect(limit.retryAfter()).to.equal(1);
  });

  it('tells the seconds that are left, and never less than one', () => {
    const limit = make(1);
    expect(limit.retryAfter(), 'before the first request').to.equal(1);
    limit.admit();
    expect(limit.retryAfter()).to.equal(60);
    now += 1;
    expect(limit.retryAfter()).to.equal(60);
    now += 999;
    expect(limit.retryAfter()).to.equal(59);
    now += WINDOW_MS - 1500;
    expect(limit.retryAfter()).to.equal(1);
    now += 10_000;
    expect(limit.retryAfter()).to.equal(1);
  });
});
