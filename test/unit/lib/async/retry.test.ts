import { expect } from 'chai';
import { pause } from '../../../../lib/async/pause.js';
import { retry } from '../../../../lib/async/retry.js';

/** Longer than any test may take. */
const FOR_EVER_MS = 3_600_000;

describe('retry', () => {
  it('goes on until the work succeeds, and tells of each failure', async () => {
    const told: unknown[] = [];
    let tries = 0;
    const found = await retry(
      () => {
        tries += 1;
        if (tries < 3) throw new Error(`try ${String(tries)}`);
        return tries;
      },
      {
        pauseMs: 1,
        signal: new AbortController().signal,
        onFailure: (error) => {
          told.push((error as Error).message);
        },
      },
    );
    expect(found).to.equal(3);
    expect(told).to.deep.equal(['try 1', 'try 2']);
  });

  it('ends by the signal, before the next try', async () => {
    const stop = new AbortController();
    let tries = 0;
    const ended = retry(
      () => {
        tries += 1;
        return Promise.reject(new Error('refused'));
      },
      { pauseMs: FOR_EVER_MS, signal: stop.signal, onFailure: () => stop.abort(new Error('stopped')) },
    );
    expect(await ended.catch((error: unknown) => (error as Error).message)).to.equal('stopped');
    expect(tries).to.equal(1);
  });

  it('ends by what is thrown for a failure', async () => {
    const ended = retry(() => Promise.reject(new Error('refused')), {
      pauseMs: FOR_EVER_MS,
      signal: new AbortController().signal,
      onFailure: (error) => {
        throw error;
      },
    });
    expect(await ended.catch((error: unknown) => (error as Error).message)).to.equal('refused');
  });
});

describe('pause', () => {
  it('lasts as long as was said', async () => {
    const begun = performance.now();
    await pause(20);
    // The timer counts whole milliseconds.
    expect(performance.now() - begun).to.be.at.least(19);
  });

  it('ends with the signal, without an error, also one that came before', async () => {
    const stop = new AbortController();
    const paused = pause(FOR_EVER_MS, stop.signal);
    stop.abort(new Error('stopped'));
    await paused;
    await pause(FOR_EVER_MS, stop.signal);
  });
});
