import { expect } from 'chai';
import { FairQueue } from '../../../../api/auth/fair-queue.js';

describe('FairQueue', () => {
  /** In the order in which they were decided: 'a1' may run, '-a1' was refused. */
  let told: string[];

  beforeEach(() => (told = []));

  const settled = () => new Promise((resolve) => setImmediate(resolve));
  async function enter(queue: FairQueue, ...names: string[]): Promise<void> {
    for (const name of names) {
      void queue.enter(`192.0.2.${String(name.charCodeAt(0))}`).then((may) => told.push(may ? name : `-${name}`));
      await settled();
    }
  }
  async function leave(queue: FairQueue, times = 1): Promise<void> {
    for (let count = 0; count < times; count += 1) {
      queue.leave();
      await settled();
    }
  }

  it('lets its number run, and the others as places are given back', async () => {
    const queue = new FairQueue(2, 10);
    await enter(queue, 'a1', 'a2', 'a3', 'a4');
    expect(told).to.deep.equal(['a1', 'a2']);
    await leave(queue);
    expect(told).to.deep.equal(['a1', 'a2', 'a3']);
    await leave(queue, 3);
    expect(told).to.deep.equal(['a1', 'a2', 'a3', 'a4']);
    // All places are free again, and not one more.
    await enter(queue, 'b1', 'b2', 'b3');
    expect(told.slice(4)).to.deep.equal(['b1', 'b2']);
  });

  it('gives turns to addresses, and within one in order', async () => {
    const queue = new FairQueue(1, 10);
    await enter(queue, 'x', 'a1', 'a2', 'a3', 'b1', 'c1', 'b2');
    await leave(queue, 6);
    expect(told).to.deep.equal(['x', 'a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  it('refuses the latest of whoever has most waiting, when too many wait', async () => {
    const queue = new FairQueue(1, 3);
    await enter(queue, 'x', 'a1', 'a2', 'a3');
    expect(told).to.deep.equal(['x']);
    await enter(queue, 'a4');
    expect(told, 'of the same address').to.deep.equal(['x', '-a4']);
    await enter(queue, 'b1');
    expect(told.slice(2), 'for another one').to.deep.equal(['-a3']);
    await enter(queue, 'c1');
    expect(told.slice(3)).to.deep.equal(['-a2']);
    await enter(queue, 'd1');
    expect(told.slice(4), 'nobody has more than this one would have').to.deep.equal(['-d1']);
    await leave(queue, 3);
    expect(told.slice(5)).to.deep.equal(['a1', 'b1', 'c1']);
    // Room was counted rightly all the time.
    await enter(queue, 'e1', 'e2', 'e3', 'e4');
    expect(told.slice(8)).to.deep.equal(['-e4']);
  });

  it('takes an IPv6 network of /64 for one address', async () => {
    const queue = new FairQueue(1, 10);
    const enterFrom = async (address: string) => {
      void queue.enter(address).then(() => told.push(address));
      await settled();
    };
    for (const address of ['192.0.2.1', '2001:db8::1', '2001:db8::2', '2001:db8:0:1::1']) await enterFrom(address);
    await leave(queue, 3);
    expect(told).to.deep.equal(['192.0.2.1', '2001:db8::1', '2001:db8:0:1::1', '2001:db8::2']);
  });
});
