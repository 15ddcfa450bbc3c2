import { expect } from 'chai';
import { FloodGuard } from '../../../../daemons/remoted/flood-guard.js';
import { LOG_BURST_LINES, LOG_LINES_PER_SECOND } from '../../../../daemons/remoted/remoted-limits.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

describe('the guard of the log', () => {
  it('lets a burst through, then some lines a second, and counts the others', () => {
    const logger = new RecordingLogger();
    let now = 0;
    const guard = new FloodGuard(logger, () => now);
    for (let count = 0; count < 1000; count += 1) guard.log('warning', 'noise');
    expect(logger.lines).to.have.length(LOG_BURST_LINES);
    now = 1000;
    for (let count = 0; count < 1000; count += 1) guard.log('error', 'more noise');
    expect(logger.lines).to.have.length(LOG_BURST_LINES + 1 + LOG_LINES_PER_SECOND);
    expect(logger.lines[LOG_BURST_LINES]).to.equal(
      `warn: ${String(1000 - LOG_BURST_LINES)} messages about agents' connections were left out of this log.`,
    );
    expect(logger.lines.at(-1)).to.equal('error: more noise');
  });
});
