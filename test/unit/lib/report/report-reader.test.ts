import { expect } from 'chai';
import fc from 'fast-check';
import type { ReportAlert } from '../../../../lib/report/report-alert.js';
import { ReportReader } from '../../../../lib/report/report-reader.js';
import { sampleAlert } from '../../../support/monitord/alert-files.js';
import { reportAlert, textEntry } from '../../../support/report-alerts.js';

type Read = { readonly alerts: ReportAlert[]; readonly badLines: number; readonly form: string | undefined };

/** @param sizes of the chunks that it comes in, again and again */
function read(text: string, sizes: readonly number[] = [1 << 20]): Read {
  const alerts: ReportAlert[] = [];
  const reader = new ReportReader(
    ({ date, location, groups, ruleId, level, description, srcip, user, filename, log }) =>
      alerts.push({ date, location, groups, ruleId, level, description, srcip, user, filename, log }),
  );
  const bytes = Buffer.from(text);
  for (let at = 0, i = 0; at < bytes.length; i += 1) {
    const size = sizes[i % sizes.length] ?? 1;
    reader.push(bytes.subarray(at, at + size));
    at += size;
  }
  reader.end();
  return { alerts, badLines: reader.badLines, form: reader.form };
}

/** A text without line ends; anything else a field may have. */
const word = (minLength = 0) =>
  fc.string({ unit: 'grapheme', minLength, maxLength: 20 }).map((text) => text.replace(/[\r\n]/g, '_'));
/** A line of a log that cannot be taken for another part of an alert. */
const logLine = word(1).map((text) => `log ${text}`);

const anyAlert = fc
  .record({
    ruleId: fc.nat(999_999).map(String),
    level: fc.nat(16),
    description: word(),
    groups: fc
      .array(fc.stringMatching(/^[a-z_0-9.]{1,10}$/), { maxLength: 4 })
      .map((names) => names.map((n) => `${n},`).join('')),
    location: word(1),
    srcip: word(),
    user: word(),
    log: fc
      .tuple(
        logLine,
        fc.array(fc.oneof(logLine, fc.constant(''), fc.constant("Rule: 1 (level 2) -> 'x'")), { maxLength: 4 }),
      )
      .map(([first, more]) => [first, ...more, 'log end'].join('\n')),
  })
  .map((changes) => reportAlert(changes));
const labels = fc.array(
  word(1).map((text) => `label: ${text}`),
  { maxLength: 2 },
);

describe('reading alerts for a report', () => {
  it('takes the same alerts out of alerts.log however its bytes come', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(anyAlert, labels, fc.boolean()), { maxLength: 6 }),
        fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 4 }),
        (entries, sizes) => {
          const { alerts, badLines } = read(entries.map((entry) => textEntry(...entry)).join(''), sizes);
          expect(alerts).to.deep.equal(entries.map(([alert]) => alert));
          expect(badLines).to.equal(0);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('finds the alerts behind whatever is broken, and counts the lines', () => {
    fc.assert(
      fc.property(fc.array(anyAlert, { minLength: 2, maxLength: 4 }), fc.nat(), fc.nat(), (all, at, cut) => {
        const entries = all.map((alert) => textEntry(alert));
        const broken = at % (all.length - 1);
        const text = entries[broken] ?? '';
        // It is cut somewhere behind its header and before its rule, as by a full disk, and the next alert follows.
        const header = text.indexOf('\n') + 1;
        const end = header + (cut % (text.indexOf('\nRule: ') - header));
        entries[broken] = `${text.slice(0, end)}\n`;
        const { alerts, badLines } = read(`** Alert \n${entries.join('')}`);
        expect(alerts).to.deep.equal(all.filter((_, i) => i !== broken));
        expect(badLines).to.be.at.least(2);
      }),
      { numRuns: 200 },
    );
  });

  it('reads the example of the specification', () => {
    const text = [
      '** Alert 1741083330.48211: mail  - local,widget,authentication_failures,pci_dss_10.2.4,',
      '2025 Mar 04 10:15:30 (web-02) 10.0.0.24->/var/log/widget.log',
      'site.floor: 2',
      "Rule: 100210 (level 10) -> 'Widget login storm from 203.0.113.9.'",
      'Src IP: 203.0.113.9',
      'Src Port: 4123',
      'User: bob',
      'Mar  4 10:15:30 web-02 widget[7]: denied bob from 203.0.113.9',
      'widget.build: 77',
      'Mar  4 10:15:29 web-02 widget[7]: denied bob from 203.0.113.9',
      '',
      '** Alert 1741083331.48400: - ossec,syscheck,',
      '2025 Mar 04 10:15:31 mgr->syscheck',
      "Rule: 550 (level 7) -> 'Integrity checksum changed.'",
      "File '/etc/it's here' modified",
      'Mode: realtime',
      '',
      'Attributes:',
      ' - Size: 7',
      '',
      'What changed:',
      '1c1',
      '',
      '',
    ].join('\n');
    const { alerts, badLines, form } = read(text);
    expect([form, badLines]).to.deep.equal(['text', 0]);
    expect(alerts).to.deep.equal([
      {
        date: '2025 Mar 04 10:15:30',
        location: '(web-02) 10.0.0.24->/var/log/widget.log',
        groups: 'local,widget,authentication_failures,pci_dss_10.2.4,',
        ruleId: '100210',
        level: 10,
        description: 'Widget login storm from 203.0.113.9.',
        srcip: '203.0.113.9',
        user: 'bob',
        filename: '',
        log: 'Mar  4 10:15:30 web-02 widget[7]: denied bob from 203.0.113.9\nwidget.build: 77\nMar  4 10:15:29 web-02 widget[7]: denied bob from 203.0.113.9',
      },
      {
        date: '2025 Mar 04 10:15:31',
        location: 'mgr->syscheck',
        groups: 'ossec,syscheck,',
        ruleId: '550',
        level: 7,
        description: 'Integrity checksum changed.',
        srcip: '',
        user: '',
        filename: "/etc/it's here",
        log: "File '/etc/it's here' modified\nMode: realtime\n\nAttributes:\n - Size: 7\n\nWhat changed:\n1c1",
      },
    ]);
  });

  it('takes details in their order and once, and line ends of another system', () => {
    const alert = reportAlert({ srcip: '', user: 'bob', log: 'Src IP: 192.0.2.1\nUser: eve' });
    const text = textEntry(alert);
    expect(read(text).alerts).to.deep.equal([alert]);
    expect(read(text.replaceAll('\n', '\r\n'))).to.deep.equal(read(text));
  });

  it('reads alerts.json, and counts what is no alert', () => {
    const alert = sampleAlert({
      rule: {
        level: 7,
        id: '550',
        description: 'd',
        groups: ['ossec', 'syscheck'],
        gdpr: ['II_5.1.f'],
        pci_dss: ['11.5'],
      },
      syscheck: { path: '/etc/hosts' },
    });
    const text = `${JSON.stringify(alert)}\r\n\n{"rule":\n[]\n${JSON.stringify(alert)}`;
    const { alerts, badLines, form } = read(text, [7]);
    expect([form, badLines, alerts.length]).to.deep.equal(['json', 2, 2]);
    const at = new Date(Date.parse('2025-06-05T10:11:23Z'));
    expect(alerts[0]).to.deep.equal({
      date: `2025 Jun ${String(at.getDate()).padStart(2, '0')} ${at.toTimeString().slice(0, 8)}`,
      location: '(web) 10.0.0.7->/var/log/auth.log',
      groups: 'ossec,syscheck,pci_dss_11.5,gdpr_II_5.1.f,',
      ruleId: '550',
      level: 7,
      description: 'd',
      srcip: '203.0.113.9',
      user: 'bob',
      filename: '/etc/hosts',
      log: 'Jun  5 10:11:23 web sshd[7]: Failed password for bob from 203.0.113.9 port 4123 ssh2',
    });
    expect(alerts[1]).to.deep.equal(alerts[0]);
  });

  it('is not filled by a line without an end, and goes on behind it', () => {
    const reader = new ReportReader(() => (count += 1));
    let count = 0;
    const piece = Buffer.alloc(1 << 20, 'x');
    const before = process.memoryUsage().arrayBuffers;
    for (let i = 0; i < 40; i += 1) reader.push(Buffer.from(piece));
    reader.push(Buffer.from(`\n${JSON.stringify(sampleAlert())}\n`));
    reader.end();
    expect([count, reader.badLines]).to.deep.equal([1, 1]);
    expect(process.memoryUsage().arrayBuffers - before).to.be.below(64 << 20);
  });

  it('says of an input of another kind that it has no form', () => {
    expect(read('<xml>\nhello\n')).to.deep.equal({ alerts: [], badLines: 2, form: undefined });
    expect(read('')).to.deep.equal({ alerts: [], badLines: 0, form: undefined });
  });
});
