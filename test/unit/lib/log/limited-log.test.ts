import { expect } from 'chai';
import { LimitedLog } from '../../../../lib/log/limited-log.js';

describe('LimitedLog', () => {
  it('writes the first line at once and then one a minute, with what it held back', () => {
    const lines: string[] = [];
    let now = 0;
    const limiter = new LimitedLog(
      (level, line) => lines.push(`${level}: ${line}`),
      () => now,
    );
    for (now = 0; now < 60_000; now += 10_000) limiter.warn(`at ${now}`);
    now = 60_000;
    limiter.warn('again');
    now = 130_000;
    limiter.warn('later');
    expect(lines).to.deep.equal(['warn: at 0', 'warn: again (5 more since the last line)', 'warn: later']);
  });
});
