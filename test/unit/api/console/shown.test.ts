import { expect } from 'chai';
import { shownTime } from '../../../../api/console/browser/client/shown.js';

describe('console: times as they are shown', () => {
  it('have the year, or not', () => {
    const ms = new Date(2026, 4, 1, 10, 0, 7).getTime();
    expect(shownTime(ms)).to.include('26');
    expect(shownTime(ms, true)).not.to.include('26');
  });

  it('are none where there is no time', () => {
    for (const none of [Number.NaN, Number.POSITIVE_INFINITY, Date.parse('yesterday'), 9e15]) {
      expect(shownTime(none)).to.equal('–');
      expect(shownTime(none, true)).to.equal('–');
    }
  });
});
