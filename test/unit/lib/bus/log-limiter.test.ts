import { expect } from 'chai';
import { LogLimiter } from '../../../../lib/bus/log-limiter.js';

describe('LogLimiter', () => {
  it('writes the first line at once and then one a minute, with what it held back', () => {
    const lines: string[] = [];
    let now = 0;
    const limiter = new LogLimiter(
      (line) => lines.push(line),
      () => now,
    );
    for (now = 0; now < 60_000; now += 10_000) limiter.log(`at ${now}`);
    now = 60_000;
    limiter.log('again');
    now = 130_000;
    limiter.log('later');
    expect(lines).to.deep.equal(['at 0', 'again (5 more since the last line)', 'later']);
  });
});
