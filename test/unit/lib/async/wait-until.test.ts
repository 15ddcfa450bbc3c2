import { expect } from 'chai';
import { waitUntil } from '../../../../lib/async/wait-until.js';

describe('waiting until something is there', () => {
  it('looks at once, and gives what it finds', async () => {
    expect(await waitUntil(() => 0, { everyMs: 60_000, mostMs: 60_000 })).to.equal(0);
  });

  it('looks again while there is nothing', async () => {
    const looks: (string | false | undefined)[] = [undefined, false, 'found', 'too late'];
    expect(await waitUntil(() => Promise.resolve(looks.shift()), { everyMs: 1, mostMs: 60_000 })).to.equal('found');
    expect(looks).to.deep.equal(['too late']);
  });

  it('gives up with a last look', async () => {
    let looks = 0;
    const look = (): undefined => {
      looks += 1;
    };
    expect(await waitUntil(look, { everyMs: 1, mostMs: 0 })).to.equal(undefined);
    expect(looks).to.equal(1);
    expect(await waitUntil(look, { everyMs: 1, mostMs: 20 })).to.equal(undefined);
    expect(looks).to.be.greaterThan(2);
  });

  it('pauses longer and longer when asked to', async () => {
    let looks = 0;
    const look = (): boolean => {
      looks += 1;
      return looks > 4;
    };
    const begun = performance.now();
    await waitUntil(look, { everyMs: 2, longestMs: 8, mostMs: 60_000 });
    // 2 + 4 + 8 + 8, less what timers are early.
    expect(performance.now() - begun).to.be.greaterThan(17);
  });

  it('ends with what a look throws', async () => {
    const error = new Error('no way to look');
    const wait = waitUntil(() => Promise.reject(error), { everyMs: 1, mostMs: 60_000 });
    expect(await wait.catch((thrown: unknown) => thrown)).to.equal(error);
  });
});
