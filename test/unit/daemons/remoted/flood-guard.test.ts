import { expect } from 'chai';
import { FloodGuard } from '../../../../daemons/remoted/flood-guard.js';
import { LOG_BURST_LINES, LOG_LINES_PER_SECOND } from '../../../../daemons/remoted/remoted-limits.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

describe('the guard of the log', () => {
  it('lets a burst through, then some lines a second, and counts the others', () => {
    const logger = new RecordingLogger();
    let now = 0;
    const guard = new FloodGuard(logger, () => now);
    for (let count = 0; count < 1000; count += 1) guard.log('warning', `noise ${String(count)}`);
    expect(logger.lines).to.have.length(LOG_BURST_LINES);
    now = 1000;
    for (let count = 0; count < 1000; count += 1) guard.log('error', `more noise ${String(count)}`);
    expect(logger.lines).to.have.length(LOG_BURST_LINES + 1 + LOG_LINES_PER_SECOND);
    expect(logger.lines[LOG_BURST_LINES]).to.equal(
      `warn: ${String(1000 - LOG_BURST_LINES)} messages about connections were left out of this log.`,
    );
    expect(logger.lines.at(-1)).to.equal(`error: more noise ${String(LOG_LINES_PER_SECOND - 1)}`);
  });

  it('says of an agent that goes on trying less and less often how often it did, and forgets one that gave up', () => {
    const logger = new RecordingLogger();
    let now = 0;
    const guard = new FloodGuard(logger, () => now);
    const removed = (id: string) => `(1408): Invalid ID ${id} for the source ip: '10.0.0.1' (name 'unknown').`;
    const hours = 24;
    for (; now < hours * 3_600_000; now += 10_000) guard.log('warning', removed('007'));
    const lines = logger.lines.splice(0);
    expect(lines.slice(0, 3)).to.deep.equal([
      `warn: ${removed('007')}`,
      `warn: ${removed('007')} (5 more since the last line)`,
      `warn: ${removed('007')} (11 more since the last line)`,
    ]);
    expect(lines.at(-1)).to.equal(`warn: ${removed('007')} (359 more since the last line)`);
    expect(lines).to.have.length(7 + hours - 2);
    guard.log('warning', removed('008'));
    expect(logger.lines.splice(0)).to.deep.equal([`warn: ${removed('008')}`]);
    now += 2 * 3_600_000;
    guard.log('warning', removed('007'));
    now += 60_000;
    guard.log('warning', removed('007'));
    expect(logger.lines).to.have.length(2);
  });

  it('writes a line that a flood of others kept out as soon as there is room', () => {
    const logger = new RecordingLogger();
    let now = 0;
    const guard = new FloodGuard(logger, () => now);
    for (let number = 0; number < LOG_BURST_LINES; number += 1) guard.log('warning', `made up ${String(number)}`);
    guard.log('error', 'agent 001');
    now += 1000;
    guard.log('error', 'agent 001');
    expect(logger.lines.slice(LOG_BURST_LINES)).to.deep.equal([
      'warn: 1 messages about connections were left out of this log.',
      'error: agent 001',
    ]);
  });
});
