import { expect } from 'chai';
import { AlertReport, type ReportOptions } from '../../../../lib/report/alert-report.js';
import type { ReportAlert } from '../../../../lib/report/report-alert.js';
import { filterProblem, REPORT_FIELDS } from '../../../../lib/report/report-fields.js';
import { reportAlert } from '../../../support/report-alerts.js';

function report(alerts: readonly ReportAlert[], options: Partial<ReportOptions> = {}): AlertReport {
  const made = new AlertReport({ filters: [], relations: [], showLogs: false, ...options });
  for (const alert of alerts) made.add(alert);
  return made;
}

/** Lines of a report, held against their form on the way: every one ends with CRLF. */
function lines(made: AlertReport): string[] {
  const text = made.text();
  expect(text.replaceAll('\r\n', '')).not.to.match(/[\r\n]/);
  expect(text.endsWith('\r\n')).to.equal(true);
  return text.slice(0, -2).split('\r\n');
}

const RULER = '------------------------------------------------';
const THREE = [
  reportAlert(),
  reportAlert({
    date: '2025 Jun 05 11:00:00',
    srcip: '',
    user: '',
    groups: 'ossec,syscheck,',
    ruleId: '550',
    level: 7,
    description: 'Integrity checksum changed.',
    location: 'mgr->syscheck',
    filename: '/etc/passwd',
    log: "File '/etc/passwd' modified\nMode: realtime\n",
  }),
  reportAlert({ date: '2025 Jun 05 23:50:44', user: 'root', log: 'a log\tof its own' }),
];

describe('a report about alerts', () => {
  it('has the sections of the reference, byte for byte', () => {
    // Made by hand from daemons-and-config.md 8.4: the column of values is 78 wide, that of counts 8.
    const expected = [
      ' ',
      "Report 'Daily' completed.",
      RULER,
      '->Processed alerts: 3',
      '->Post-filtering alerts: 3',
      '->First alert: 2025 Jun 05 10:11:23',
      '->Last alert: 2025 Jun 05 23:50:44',
      ' ',
      ' ',
      "Top entries for 'Source ip':",
      RULER,
      '203.0.113.9                                                                   |2       |',
      ' ',
      ' ',
      "Top entries for 'Username':",
      RULER,
      'bob                                                                           |1       |',
      'root                                                                          |1       |',
      ' ',
      ' ',
      "Top entries for 'Level':",
      RULER,
      'Severity 10                                                                   |2       |',
      'Severity 7                                                                    |1       |',
      ' ',
      ' ',
      "Top entries for 'Group':",
      RULER,
      'syslog                                                                        |2       |',
      'sshd                                                                          |2       |',
      'ossec                                                                         |1       |',
      'syscheck                                                                      |1       |',
      ' ',
      ' ',
      "Top entries for 'Location':",
      RULER,
      '(web) 10.0.0.7->/var/log/auth.log                                             |2       |',
      'mgr->syscheck                                                                 |1       |',
      ' ',
      ' ',
      "Top entries for 'Rule':",
      RULER,
      '5712 - Many failures                                                          |2       |',
      '550 - Integrity checksum changed.                                             |1       |',
      ' ',
      ' ',
      "Top entries for 'Filenames':",
      RULER,
      '/etc/passwd                                                                   |1       |',
      ' ',
      ' ',
    ];
    expect(lines(report(THREE, { name: 'Daily' }))).to.deep.equal(expected);
  });

  it('has another heading without a name, and no section without a row', () => {
    const made = lines(report([reportAlert({ srcip: '(none)', user: '' })]));
    expect(made.slice(0, 2)).to.deep.equal([' ', 'Report completed. ==']);
    expect(made.filter((line) => line.startsWith('Top entries'))).to.deep.equal(
      ['Level', 'Group', 'Location', 'Rule'].map((name) => `Top entries for '${name}':`),
    );
  });

  it('shows what stands beside a value, each once', () => {
    const alerts = [...THREE, reportAlert({ srcip: '198.51.100.4', user: 'bob' }), reportAlert({ user: 'bob' })];
    const made = lines(
      report(alerts, {
        relations: [
          { field: 'user', by: 'srcip' },
          { field: 'user', by: 'level' },
        ],
      }),
    );
    const at = made.indexOf("Related entries for 'Username':");
    expect(made.slice(at)).to.deep.equal([
      "Related entries for 'Username':",
      RULER,
      'bob                                                                           |3       |',
      "   srcip: '203.0.113.9'",
      "   srcip: '198.51.100.4'",
      "   level: '10'",
      'root                                                                          |1       |',
      "   srcip: '203.0.113.9'",
      "   level: '10'",
      ' ',
      ' ',
    ]);
  });

  it('dumps the alerts when it is asked for', () => {
    const made = lines(report(THREE, { showLogs: true }));
    expect(made.slice(made.indexOf('Log dump:'))).to.deep.equal([
      'Log dump:',
      RULER,
      '2025 Jun 05 10:11:23 (web) 10.0.0.7->/var/log/auth.log',
      "Rule: 5712 (level 10) -> 'Many failures'",
      'Jun  5 10:11:23 web sshd[7]: Failed password for bob from 203.0.113.9',
      '',
      '2025 Jun 05 11:00:00 mgr->syscheck',
      "Rule: 550 (level 7) -> 'Integrity checksum changed.'",
      "File '/etc/passwd' modified",
      'Mode: realtime',
      '',
      '',
      '2025 Jun 05 23:50:44 (web) 10.0.0.7->/var/log/auth.log',
      "Rule: 5712 (level 10) -> 'Many failures'",
      'a log\tof its own',
      '',
    ]);
  });

  it('takes the alerts of which all filters hold', () => {
    const taken = (...filters: ReportOptions['filters']): number[] =>
      THREE.flatMap((alert, i) => (report([alert], { filters }).matched === 1 ? [i] : []));
    expect(taken({ field: 'group', value: 'sys' })).to.deep.equal([0, 1, 2]);
    expect(taken({ field: 'group', value: 'syscheck' })).to.deep.equal([1]);
    expect(taken({ field: 'rule', value: '550' })).to.deep.equal([1]);
    expect(taken({ field: 'rule', value: '55, 05712' })).to.deep.equal([0, 2]);
    expect(taken({ field: 'level', value: '8' })).to.deep.equal([0, 2]);
    expect(taken({ field: 'level', value: '7' })).to.deep.equal([0, 1, 2]);
    expect(taken({ field: 'location', value: 'web' })).to.deep.equal([0, 2]);
    expect(taken({ field: 'user', value: 'bo' })).to.deep.equal([0]);
    expect(taken({ field: 'srcip', value: '203.0.113' })).to.deep.equal([0, 2]);
    expect(taken({ field: 'filename', value: '/etc' })).to.deep.equal([1]);
    expect(taken({ field: 'srcip', value: '203.0.113' }, { field: 'user', value: 'root' })).to.deep.equal([2]);
    expect(taken({ field: 'srcip', value: '203.0.113' }, { field: 'group', value: 'ossec' })).to.deep.equal([]);
  });

  it('knows which filters are none', () => {
    const bad = REPORT_FIELDS.filter((field) => filterProblem({ field, value: 'x' }) !== undefined);
    expect(bad).to.deep.equal(['level', 'rule']);
    expect(filterProblem({ field: 'user', value: '' })).to.equal('it is empty');
    expect(filterProblem({ field: 'level', value: '17' })).to.equal('a level is a number from 0 to 16');
    for (const value of ['1,', ',1', '1;2', '1 or 2', '-1']) {
      expect(filterProblem({ field: 'rule', value }), value).to.equal('rules are ids, separated by commas');
    }
    for (const value of ['1', '1,2', '1 2', '1, 2 ,3']) {
      expect(filterProblem({ field: 'rule', value }), value).to.equal(undefined);
    }
  });

  it('is empty when no alert is left', () => {
    const filters = [{ field: 'user', value: 'nobody' }] as const;
    const named = report(THREE, { name: 'Daily', filters });
    expect([named.processed, named.matched, named.text()]).to.deep.equal([3, 0, '']);
    expect(named.nothingLeft).to.equal("Report 'Daily' completed and zero alerts post-filter.");
    expect(report([]).nothingLeft).to.equal('Report completed and zero alerts post-filter.');
  });

  it('cuts rules at 75 characters and lets nothing act on a terminal or end a line', () => {
    const made = lines(
      report([reportAlert({ description: 'd'.repeat(100), user: 'a\r\nFrom: x\u001b[2J', location: 'l'.repeat(90) })], {
        name: 'a\r\nb',
      }),
    );
    expect(made[1]).to.equal("Report 'a  b' completed.");
    expect(made).to.include(`${`5712 - ${'d'.repeat(68)}`.padEnd(78)}|1       |`);
    expect(made).to.include(`${'a  From: x [2J'.padEnd(78)}|1       |`);
    expect(made).to.include(`${'l'.repeat(90)}|1       |`);
  });

  it('has an end, and says what was left out', () => {
    const made = report([], { showLogs: true, relations: [{ field: 'srcip', by: 'user' }] });
    for (let i = 0; i < 6000; i += 1) made.add(reportAlert({ user: `user${String(i)}`, log: 'x'.repeat(3000) }));
    for (let i = 0; i < 3; i += 1) made.add(reportAlert({ user: 'user17' }));
    const text = lines(made);
    expect(text[text.indexOf("Top entries for 'Username':") + 2]).to.equal(`${'user17'.padEnd(78)}|4       |`);
    expect(text).to.include('(4000 less frequent values, counted 4000 times, are left out)');
    expect(text).to.include('(values that came when 5000 were known are left out, 1000 times)');
    expect(text).to.include('   user: ... (others are left out)');
    expect(text.filter((line) => line.startsWith("   user: '"))).to.have.length(100);
    expect(text).to.include(`${'x'.repeat(2048)}...`);
    expect(text.find((line) => line.endsWith('later alerts are left out)'))).to.match(/^\(5\d{3} later/);
    expect(made.text().length).to.be.below(1_300_000);
  });
});
