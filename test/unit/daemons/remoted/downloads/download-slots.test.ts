import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { DownloadError } from '../../../../../daemons/remoted/downloads/download-error.js';
import { DownloadSlots } from '../../../../../daemons/remoted/downloads/download-slots.js';

describe('DownloadSlots', () => {
  const never = new AbortController().signal;

  /** Tasks that run until they are told to end; `begun` has those that have begun. */
  function tasks(slots: DownloadSlots) {
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const run = (name: string, server: string, signal = never): Promise<void> =>
      slots.run(server, signal, () => {
        begun.push(name);
        return new Promise((resolve) => ends.set(name, resolve));
      });
    return { begun, run, end: (name: string) => ends.get(name)!() };
  }

  it('gives a server its share, and others the rest', async () => {
    const slots = new DownloadSlots(3, 2);
    const { begun, run, end } = tasks(slots);
    const all = ['a1', 'a2', 'a3', 'b1', 'b2'].map((name) => run(name, name.slice(0, 1)));
    await turn();
    expect(begun).to.deep.equal(['a1', 'a2', 'b1']);
    expect([slots.active, slots.waiting]).to.deep.equal([3, 2]);
    end('b1');
    await all[3];
    await turn();
    // a3 waits longer, yet its server has its share.
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
    const slots = new DownloadSlots(1, 1);
    const failed = slots.run('a', never, () => Promise.reject(new Error('no')));
    const next = slots.run('a', never, () => Promise.resolve('yes'));
    const outcome: unknown = await failed.catch((error: unknown) => error);
    expect(outcome).to.be.instanceOf(Error).with.property('message', 'no');
    expect(await next).to.equal('yes');
  });

  it('lets go of one that is cancelled while it waits', async () => {
    const slots = new DownloadSlots(1, 1);
    const { begun, run, end } = tasks(slots);
    const stop = new AbortController();
    const first = run('a', 'a');
    const second = run('b', 'b', stop.signal);
    stop.abort();
    const third = run('c', 'c', stop.signal);
    for (const outcome of await Promise.allSettled([second, third])) {
      expect(outcome).to.have.property('reason').that.is.instanceOf(DownloadError).and.includes({ code: 'cancelled' });
    }
    end('a');
    await first;
    expect(begun).to.deep.equal(['a']);
    expect([slots.active, slots.waiting]).to.deep.equal([0, 0]);
  });
});
