import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { Limiter, LimiterFullError } from '../../../../lib/async/limiter.js';

describe('Limiter', () => {
  const never = new AbortController().signal;

  /** Tasks that run until they are told to end; `begun` has those that have begun. */
  function tasks(slots: Limiter) {
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const run = (name: string, server: string, signal = never): Promise<void> =>
      slots.run(
        () => {
          begun.push(name);
          return new Promise<void>((resolve) => ends.set(name, resolve));
        },
        { key: server, signal },
      );
    return { begun, run, end: (name: string) => ends.get(name)!() };
  }

  it('gives a key its share, and others the rest', async () => {
    const slots = new Limiter({ atOnce: 3, atOncePerKey: 2 });
    const { begun, run, end } = tasks(slots);
    const all = ['a1', 'a2', 'a3', 'b1', 'b2'].map((name) => run(name, name.slice(0, 1)));
    await turn();
    expect(begun).to.deep.equal(['a1', 'a2', 'b1']);
    expect([slots.active, slots.waiting]).to.deep.equal([3, 2]);
    end('b1');
    await all[3];
    await turn();
    // a3 waits longer, yet its key has its share.
    expect(begun).to.deep.equal(['a1', 'a2', 'b1', 'b2']);
    end('a1');
    await all[0];
    await turn();
    expect(begun.at(-1)).to.equal('a3');
    for (const name of ['a2', 'a3', 'b2']) end(name);
    await Promise.all(all);
    expect([slots.active, slots.waiting]).to.deep.equal([0, 0]);
  });

  it('gives the place of a task that fails to the next', async () => {
    const slots = new Limiter({ atOnce: 1, atOncePerKey: 1 });
    const failed = slots.run(() => Promise.reject(new Error('no')));
    const next = slots.run(() => 'yes');
    const outcome: unknown = await failed.catch((error: unknown) => error);
    expect(outcome).to.be.instanceOf(Error).with.property('message', 'no');
    expect(await next).to.equal('yes');
  });

  it('lets go of one that is cancelled while it waits', async () => {
    const slots = new Limiter({ atOnce: 1, atOncePerKey: 1 });
    const { begun, run, end } = tasks(slots);
    const stop = new AbortController();
    const first = run('a', 'a');
    const second = run('b', 'b', stop.signal);
    const reason = new Error('cancelled');
    stop.abort(reason);
    const third = run('c', 'c', stop.signal);
    for (const outcome of await Promise.allSettled([second, third])) {
      expect(outcome).to.have.property('reason', reason);
    }
    end('a');
    await first;
    expect(begun).to.deep.equal(['a']);
    expect([slots.active, slots.waiting]).to.deep.equal([0, 0]);
  });

  it('refuses what finds too many waiting, and has room again afterwards', async () => {
    const slots = new Limiter({ atOnce: 1, mostWaiting: 1 });
    const { begun, run, end } = tasks(slots);
    const first = run('a', 'a');
    const second = run('b', 'b');
    const refused: unknown = await run('c', 'c').catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(LimiterFullError);
    end('a');
    await first;
    await turn();
    const third = run('d', 'd');
    end('b');
    await second;
    await turn();
    end('d');
    await third;
    expect(begun).to.deep.equal(['a', 'b', 'd']);
  });

  it('gives a place that is handed on to nobody who comes in between', async () => {
    const slots = new Limiter({ atOnce: 1 });
    const order: string[] = [];
    const first = slots.run(async () => {
      await turn();
      order.push('first');
    });
    const second = slots.run(() => void order.push('second'));
    const late = first.then(() => slots.run(() => void order.push('late')));
    await Promise.all([second, late]);
    expect(order).to.deep.equal(['first', 'second', 'late']);
  });
});
