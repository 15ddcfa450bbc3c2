import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { KeyedLock } from '../../../../lib/async/keyed-lock.js';

describe('KeyedLock', () => {
  let lock: KeyedLock;
  let begun: string[];
  let ends: Map<string, () => void>;

  beforeEach(() => {
    lock = new KeyedLock();
    begun = [];
    ends = new Map();
  });

  const work = (name: string) => (): Promise<void> => {
    begun.push(name);
    return new Promise((resolve) => ends.set(name, resolve));
  };
  const end = async (name: string): Promise<void> => {
    ends.get(name)!();
    await turn();
  };

  it('runs what shares a key side by side, and what holds it alone by itself', async () => {
    const all = [
      lock.shared('a', work('s1')),
      lock.shared('a', work('s2')),
      lock.exclusive('a', work('e1')),
      lock.shared('a', work('s3')),
      lock.exclusive('b', work('other')),
    ];
    await turn();
    expect([...begun].sort()).to.deep.equal(['other', 's1', 's2']);
    await end('s1');
    expect(begun).to.have.length(3);
    await end('s2');
    expect(begun.slice(3)).to.deep.equal(['e1']);
    await end('e1');
    expect(begun.slice(4)).to.deep.equal(['s3']);
    for (const name of ['s3', 'other']) await end(name);
    await Promise.all(all);
  });

  it('goes on after work that fails', async () => {
    const failed = lock.exclusive('a', () => Promise.reject(new Error('no')));
    const next = lock.shared('a', () => Promise.resolve('yes'));
    const outcome: unknown = await failed.catch((error: unknown) => error);
    expect(outcome).to.be.instanceOf(Error).with.property('message', 'no');
    expect(await next).to.equal('yes');
  });

  it('takes several keys at once, in whatever order they are named', async () => {
    const first = await lock.take(['a', 'b', 'a']);
    const order: string[] = [];
    const second = lock.take(['b', 'c']).then((done) => (order.push('second'), done));
    const third = lock.take(['c', 'a']).then((done) => (order.push('third'), done));
    await turn();
    expect(order).to.deep.equal([]);
    first();
    (await second)();
    (await third)();
    expect(order).to.deep.equal(['second', 'third']);
  });
});
