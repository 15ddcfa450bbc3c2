import { expect } from 'chai';
import { Thread, type ThreadMemory } from '../../../../lib/thread/thread.js';
import type { TryingThread } from '../../../support/thread/trying-thread.js';

const MODULE = new URL('../../../support/thread/trying-thread.js', import.meta.url);

/** @returns what a promise is rejected with */
async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('thread', () => {
  let thread: Thread<TryingThread>;
  let failures: Error[];
  let news: number[];
  const hear = (number: number): void | Promise<void> => void news.push(number);
  const begin = (memory: ThreadMemory = {}, onNews = hear): void => {
    thread = new Thread(MODULE, {
      title: 'the thread of the test',
      data: { factor: 3 },
      memory,
      onNews,
      onFailure: (error) => failures.push(error),
    });
  };
  beforeEach(() => {
    failures = [];
    news = [];
  });
  afterEach(() => thread.close());

  it('answers by what it was begun with', async () => {
    begin();
    expect(await thread.call('times', [1, 2, 5])).to.deep.equal([3, 6, 15]);
  });

  it('answers in the order of the calls, also when one takes long', async () => {
    begin();
    const order: string[] = [];
    await Promise.all(
      [50, 0, 10].map(async (ms, index) => order.push(await thread.call('late', { ms, text: `call ${index}` }))),
    );
    expect(order).to.deep.equal(['call 0', 'call 1', 'call 2']);
  });

  it('fails every call with the message, name and code of what a handler threw', async () => {
    begin();
    const first = thread.call('fail', 'out of luck');
    const second = thread.call('times', [1]);
    for (const call of [first, second]) {
      const error = await failureOf(call);
      expect(error).to.be.instanceOf(Error).and.include({ message: 'out of luck', name: 'TryingError', code: 'tried' });
    }
    expect(failures).to.have.length(1);
    expect(thread.failure).to.equal(failures[0]);
    expect(await failureOf(thread.call('times', [1]))).to.equal(failures[0]);
  });

  it('fails with the exit code when the thread ends itself', async () => {
    begin();
    const error = await failureOf(thread.call('exit', 7));
    expect(error).to.include({ code: 'thread_ended', exitCode: 7, message: 'the thread of the test ended' });
    expect(failures).to.deep.equal([error]);
  });

  it('outlives a thread that takes more memory than it may', async () => {
    begin({ old: 16 });
    expect(await failureOf(thread.call('fill', undefined))).to.include({ code: 'ERR_WORKER_OUT_OF_MEMORY' });
    expect(failures).to.have.length(1);
  });

  it('ends one that is at work, and tells nobody of a failure', async () => {
    begin();
    await thread.call('times', [1]);
    const call = failureOf(thread.call('hang', undefined));
    await thread.close(new Error('enough'));
    expect(await call).to.have.property('message', 'enough');
    expect(await failureOf(thread.call('times', [1]))).to.have.property('message', 'enough');
    expect(failures).to.deep.equal([]);
  });

  it('hears news in their order, and the thread knows each as taken', async () => {
    const held: (() => void)[] = [];
    begin({}, (number) => {
      news.push(number);
      return new Promise<void>((resolve) => held.push(resolve));
    });
    const answer = thread.call('count', 3);
    for (let number = 1; number <= 3; number += 1) {
      while (news.length < number) await new Promise((resolve) => setImmediate(resolve));
      expect(news).to.have.length(number);
      held.shift()?.();
    }
    expect(await answer).to.deep.equal([1, 2, 3]);
    expect(news).to.deep.equal([1, 2, 3]);
  });

  it('is closed when news cannot be taken', async () => {
    begin({}, () => Promise.reject(new Error('no room')));
    expect(await failureOf(thread.call('count', 3))).to.have.property('message', 'no room');
    expect(failures).to.deep.equal([]);
  });

  it('says why it could not begin', async () => {
    thread = new Thread<TryingThread>(new URL('data:text/javascript,throw new Error("not today")'), {
      title: 'the thread of the test',
      data: { factor: 1 },
      onFailure: (error) => failures.push(error),
    });
    expect(await failureOf(thread.call('times', [1]))).to.have.property('message', 'not today');
    expect(failures).to.have.length(1);
  });
});
