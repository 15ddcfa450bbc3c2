import { expect } from 'chai';
import { ExhaustedReport, overBudget } from '../../../../daemons/analysisd/exhausted-report.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

describe('ExhaustedReport', () => {
  it('says what ran out of steps since the last time, the worst first, and what to do', () => {
    const logger = new RecordingLogger();
    const report = new ExhaustedReport(logger);
    const counts = new Map([
      ['rule 100', 2],
      ['decoder kid', 7],
    ]);
    report.report(counts);
    report.report(counts);
    counts.set('rule 100', 3);
    report.report(counts);
    const said = logger.lines.filter((line) => line.includes('exceeded their budget'));
    expect(said).to.have.lengthOf(2);
    expect(said[0]).to.contain('decoder kid (7 times), rule 100 (2 times). Make them simpler: docs/guide/rules.md');
    expect(said[1]).to.contain('no match: rule 100 (1 times).');
  });

  it('names ten of many, in statistics too', () => {
    const counts = new Map(Array.from({ length: 15 }, (_, i) => [`rule ${String(i)}`, i + 1]));
    const logger = new RecordingLogger();
    new ExhaustedReport(logger).report(counts);
    expect(logger.lines.at(-1)).to.contain('rule 5 (6 times) and 5 more.');
    const { times, worst } = overBudget(counts);
    expect(times).to.equal(120);
    expect(Object.keys(worst)).to.have.lengthOf(10);
    expect(worst['rule 14']).to.equal(15);
  });
});
