import { expect } from 'chai';
import { ChangeQueue, type ChangeQueueParts } from '../../../../../daemons/syscheckd/realtime/change-queue.js';
import { eventually } from '../../../../support/eventually.js';

describe('queue of changes', () => {
  const looks: { readonly paths: readonly string[]; readonly done: () => void }[] = [];
  const failures: unknown[] = [];
  let overflows = 0;
  let queue: ChangeQueue;
  const start = (parts: Partial<ChangeQueueParts> = {}): void => {
    looks.length = 0;
    failures.length = 0;
    overflows = 0;
    queue = new ChangeQueue({
      delay: 1,
      most: 10_000,
      look: (paths) => new Promise((resolve) => looks.push({ paths, done: resolve })),
      overflowed: () => (overflows += 1),
      failed: (error) => failures.push(error),
      now: () => performance.now(),
      ...parts,
    });
  };

  it('hands on each path once, sorted by its bytes, and at most 2048 together', async () => {
    // What is told of within one delay is looked at together: the clock stands still meanwhile.
    let now = 0;
    start({ now: () => now });
    queue.add(['/b', '/a', '/b']);
    queue.add(['/a', '/\xff', '/C']);
    now += 1;
    await eventually('they are looked at', () => looks.length === 1);
    expect(looks[0]!.paths).to.deep.equal(['/C', '/a', '/b', '/\xff']);
    queue.add(Array.from({ length: 3000 }, (_, at) => `/many/${at}`));
    now += 1;
    await eventually('all are looked at', () => looks.length === 3);
    expect(looks.map(({ paths }) => paths.length)).to.deep.equal([4, 2048, 952]);
    for (const { done } of looks) done();
    await queue.idle();
    expect(queue.size).to.equal(0);
  });

  it('looks again at what changes while it is looked at, after that', async () => {
    start();
    queue.add(['/a', '/b']);
    await eventually('they are looked at', () => looks.length === 1);
    queue.add(['/a']);
    queue.add(['/c']);
    await eventually('the other one is looked at', () => looks.length === 2);
    expect(looks[1]!.paths).to.deep.equal(['/c']);
    looks[0]!.done();
    await eventually('it is looked at again', () => looks.length === 3);
    expect(looks[2]!.paths).to.deep.equal(['/a']);
    looks[1]!.done();
    looks[2]!.done();
    await queue.idle();
  });

  it('drops what is too much and says so', async () => {
    start({ most: 3 });
    queue.add(['/a', '/b', '/c']);
    expect(overflows).to.equal(0);
    queue.add(['/d']);
    expect(overflows).to.equal(1);
    expect(queue.size).to.equal(0);
    queue.add(['/e']);
    await eventually('it goes on', () => looks.length === 1);
    expect(looks[0]!.paths).to.deep.equal(['/e']);
    looks[0]!.done();
    await queue.idle();
  });

  it('looks at a path that changes all the time no more than some times a second, and does not hold up others', async () => {
    const looked: string[] = [];
    start({
      look: (paths) => {
        looked.push(...paths);
        return Promise.resolve();
      },
    });
    let changes = 0;
    const begun = performance.now();
    while (performance.now() - begun < 600) {
      queue.add(['/log', `/other/${++changes}`]);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    const passed = performance.now() - begun;
    queue.add(['/log']);
    await queue.idle();
    expect(looked.filter((path) => path !== '/log')).to.have.length(changes);
    // The first ones, ten for each second, and the last change.
    expect(looked.filter((path) => path === '/log').length).to.be.at.most(20 + passed / 100 + 2);
    expect(looked.at(-1)).to.equal('/log');
  });

  it('tells of a look that fails, and goes on', async () => {
    const error = new Error('broken');
    start({ look: () => Promise.reject(error) });
    queue.add(['/a']);
    await queue.idle();
    expect(failures).to.deep.equal([error]);
    expect(queue.size).to.equal(0);
  });

  it('forgets what waits when it is closed, and waits for what is under way', async () => {
    start();
    queue.add(['/a']);
    await eventually('it is looked at', () => looks.length === 1);
    queue.add(['/a', '/b']);
    let closed = false;
    const closing = queue.close().then(() => (closed = true));
    await Promise.resolve();
    expect(closed).to.equal(false);
    looks[0]!.done();
    await closing;
    queue.add(['/c']);
    expect(queue.size).to.equal(0);
    expect(looks).to.have.length(1);
  });
});
