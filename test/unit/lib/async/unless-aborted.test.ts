import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { unlessAborted } from '../../../../lib/async/unless-aborted.js';

describe('a wait that an abort ends', () => {
  const never = new Promise<string>(() => {});

  it('gives what came, or undefined after the abort', async () => {
    const stop = new AbortController();
    expect(await unlessAborted(stop.signal, Promise.resolve('here'))).to.equal('here');
    const waiting = unlessAborted(stop.signal, never);
    stop.abort();
    expect(await waiting).to.equal(undefined);
    expect(await unlessAborted(stop.signal, never)).to.equal(undefined);
  });

  it('leaves nothing behind, whatever became of it', async () => {
    const { signal } = new AbortController();
    for (let count = 0; count < 20; count += 1) await unlessAborted(signal, Promise.resolve());
    const refused = await unlessAborted(signal, Promise.reject(new Error('no'))).catch(String);
    expect(refused).to.equal('Error: no');
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
  });
});
