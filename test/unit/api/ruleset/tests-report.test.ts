import { expect } from 'chai';
import { ReportedTests } from '../../../../api/ruleset/tests/tests-report.js';
import type { RuleTestResult } from '../../../../lib/ruleset/tests/run-rule-test.js';

const result = (status: RuleTestResult['status'], text: string): RuleTestResult => ({
  test: {
    name: text,
    file: 'etc/tests/a.yml',
    line: 1,
    at: 0,
    events: [],
    expect: {},
    expectNot: { rules: [], through: [] },
  },
  status,
  problems: [{ what: 'skip', text }],
  explanation: [text],
  decoder: undefined,
  duration: 0,
});

describe('what is answered of tests', () => {
  it('has those that failed first, and a thousand at most', () => {
    const reported = new ReportedTests();
    for (let index = 0; index < 1500; index += 1) reported.add(result('passed', 'p'));
    reported.add(result('skipped', 's'));
    reported.add(result('failed', 'f'));
    const report = reported.report([], true);
    expect(report).to.include({ total: 1502, passed: 1500, skipped: 1, failed: 1, left_out: 502 });
    expect(report.results.slice(0, 3).map(({ status }) => status)).to.deep.equal(['failed', 'skipped', 'passed']);
    expect(report.results).to.have.length(1000);
  });

  it('is bounded, however long texts are', () => {
    const reported = new ReportedTests();
    const long = '\u20ac'.repeat(4_000_000);
    for (let index = 0; index < 1000; index += 1) reported.add(result('skipped', long));
    const report = reported.report([], true);
    expect(report.total).to.equal(1000);
    expect(report.left_out)
      .to.equal(1000 - report.results.length)
      .and.to.be.above(0);
    expect(Buffer.byteLength(JSON.stringify(report))).to.be.within(3_000_000, 4.1 * 1024 * 1024);
  });
});
