import { expect } from 'chai';
import fc from 'fast-check';
import { collectedState } from '../../../../api/agents/collected-state.js';
import { parseAnswer } from '../../../../api/daemons/agent-answer.js';
import { StatePages } from '../../../../daemons/agentd/state-pages.js';
import type { CollectedSpan } from '../../../../lib/bus/contracts/logcollector.js';

const MAX_PAYLOAD_BYTES = 65_408;

/** A span of so many files whose names have so many characters. */
function span(files: number, length: number): CollectedSpan {
  return {
    start: '2026-11-21 00:42:57',
    end: '2026-11-21 00:43:57',
    files: Array.from({ length: files }, (_, index) => ({
      location: `/srv/${String(index)}${'ä'.repeat(length)}`,
      events: index,
      bytes: 10 * index,
      targets: [{ name: 'agent', drops: 0 }],
    })),
  };
}

describe('the state of svc-logcollector in pages', () => {
  it('is one answer as long as it fits', () => {
    const state = { global: span(3, 4), interval: span(0, 0) };
    const pages = new StatePages();
    expect(JSON.parse(pages.first(state))).to.deep.equal({ error: 0, data: state });
    expect(pages.next()).to.equal(undefined);
    const none = { global: span(0, 0), interval: span(0, 0) };
    expect(JSON.parse(pages.first(none))).to.deep.equal({ error: 0, data: none });
  });

  it('comes to the API as it is, whatever its size, in answers that a message carries', async () => {
    const sizes = fc.record({ files: fc.nat(2000), recent: fc.nat(2000), length: fc.nat(120) });
    await fc.assert(
      fc.asyncProperty(sizes, async ({ files, recent, length }) => {
        const state = { global: span(files, length), interval: span(recent, length) };
        const pages = new StatePages();
        const got = await collectedState((command) => {
          const text = command === 'getstate' ? pages.first(state) : (pages.next() ?? 'err There is no next page');
          expect(Buffer.byteLength(text)).to.be.below(MAX_PAYLOAD_BYTES - 100);
          return Promise.resolve(parseAnswer(text));
        });
        expect(got).to.deep.equal(state);
      }),
      { numRuns: 25 },
    );
  });

  it('forgets pages of an earlier state', () => {
    const pages = new StatePages();
    pages.first({ global: span(2000, 10), interval: span(0, 0) });
    pages.first({ global: span(1, 10), interval: span(0, 0) });
    expect(pages.next()).to.equal(undefined);
  });
});
