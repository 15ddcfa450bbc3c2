import { expect } from 'chai';
import { EventDiagnostics } from '../../../../daemons/analysisd/engine-diagnostics.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

describe('diagnostics about events', () => {
  it('logs 60 lines a minute and says how many more there were', () => {
    const logger = new RecordingLogger();
    let now = 5000;
    const diagnostics = new EventDiagnostics(logger, () => now);
    for (let n = 0; n < 500; n += 1) diagnostics.error(`bad ${String(n)}`);
    diagnostics.warn('odd', { file: 'etc/rules/a.xml', line: 3 });
    expect(logger.lines).to.have.length(60);
    expect(logger.lines[0]).to.equal('error: bad 0');
    now += 60_000;
    diagnostics.flush();
    expect(logger.lines.at(-1)).to.equal('warn: 441 more messages about events were not logged within a minute.');
    diagnostics.flush();
    diagnostics.warn('odd', { file: 'etc/rules/a.xml', line: 3 });
    expect(logger.lines.slice(61)).to.deep.equal(['warn: odd (etc/rules/a.xml:3)']);
  });
});
