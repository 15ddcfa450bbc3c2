import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { productRoot } from '../../../lib/product/product-root.js';
import { sampleAlert } from '../../support/monitord/alert-files.js';
import { reportAlert, textEntry } from '../../support/report-alerts.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const PROGRAM = fileURLToPath(new URL('bin/svc-report', productRoot()));
/** The alert of sampleAlert() as alerts.log has it, at the same time. */
const SAMPLE = reportAlert({ groups: 'sshd,auth,', log: sampleAlert()['full_log'] as string });

describe('svc-report', function () {
  this.timeout(60_000);
  let home: TemporaryHome;
  beforeEach(() => {
    home = new TemporaryHome();
  });
  afterEach(() => {
    home.remove();
  });

  /** In UTC, so that both forms have the same times. */
  const run = (args: readonly string[], input: string | Buffer = '') =>
    spawnSync(process.execPath, [PROGRAM, ...args], {
      input,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], TZ: 'UTC', SVC_HOME: home.root },
    });
  const json = (...changes: Record<string, unknown>[]) =>
    changes.map((change) => `${JSON.stringify(sampleAlert(change))}\n`).join('');
  function write(name: string, content: string | Buffer): void {
    mkdirSync(home.path('logs/alerts/2025/Jun'), { recursive: true });
    writeFileSync(home.path('logs/alerts/2025/Jun', name), content);
  }

  it('writes the same report about alerts.log and alerts.json, to the error output', () => {
    const args = ['-n', 'Daily', '-f', 'group', 'sshd', '-f', 'level', '10', '-r', 'user', 'srcip', '-s'];
    const other = { rule: { level: 3, id: '5715', description: 'ok', groups: ['sshd'] } };
    const ofJson = run(args, json({}, other, {}));
    expect([ofJson.status, ofJson.stdout]).to.deep.equal([0, '']);
    const low = { ...SAMPLE, level: 3, ruleId: '5715', description: 'ok', groups: 'sshd,' };
    const ofText = run(args, textEntry(SAMPLE) + textEntry(low) + textEntry(SAMPLE));
    expect(ofText.stderr).to.equal(ofJson.stderr);
    const lines = ofJson.stderr.split('\r\n');
    expect(lines.slice(0, 7)).to.deep.equal([
      ' ',
      "Report 'Daily' completed.",
      '-'.repeat(48),
      '->Processed alerts: 3',
      '->Post-filtering alerts: 2',
      '->First alert: 2025 Jun 05 10:11:23',
      '->Last alert: 2025 Jun 05 10:11:23',
    ]);
    expect(lines.slice(lines.indexOf("Related entries for 'Username':")).slice(2, 4)).to.deep.equal([
      `${'bob'.padEnd(78)}|2       |`,
      "   srcip: '203.0.113.9'",
    ]);
    expect(lines.slice(lines.indexOf('Log dump:')).slice(2, 5)).to.deep.equal([
      '2025 Jun 05 10:11:23 (web) 10.0.0.7->/var/log/auth.log',
      "Rule: 5712 (level 10) -> 'Many failures'",
      SAMPLE.log,
    ]);
  });

  it('reads a day of the home, compressed or not, in order', () => {
    const at = (time: string) => ({ timestamp: `2025-06-05T${time}.000+0000` });
    write('ossec-alerts-05.json.gz', gzipSync(json(at('01:00:00'))));
    write('ossec-alerts-05-001.json', json(at('02:00:00')));
    // A compression under way: both forms are whole.
    write('ossec-alerts-05-002.json', json(at('03:00:00')));
    write('ossec-alerts-05-002.json.gz', gzipSync(json(at('03:00:00'))));
    write('ossec-alerts-05.log', textEntry(SAMPLE).repeat(9));
    write('ossec-alerts-06.json', json({}, {}));
    const { status, stdout, stderr } = run(['--date', '2025-06-05', '--stdout', '-d']);
    expect([status, stderr]).to.deep.equal([0, 'svc-report: 3 alerts were read (json).\n']);
    expect(stdout.split('\r\n').slice(1, 7)).to.deep.equal([
      'Report completed. ==',
      '-'.repeat(48),
      '->Processed alerts: 3',
      '->Post-filtering alerts: 3',
      '->First alert: 2025 Jun 05 01:00:00',
      '->Last alert: 2025 Jun 05 03:00:00',
    ]);
    write('ossec-alerts-07.log.gz', gzipSync(textEntry(SAMPLE)));
    expect(run(['--date', '2025-06-07']).stderr).to.include('->Processed alerts: 1\r\n');
  });

  it('says what it could not read, and reports the rest', () => {
    const packed = gzipSync(json(...Array.from({ length: 2000 }, (_, i) => ({ id: String(i) }))));
    write('ossec-alerts-05.json.gz', packed.subarray(0, packed.length - 100));
    write('ossec-alerts-05-001.json', `${json({})}{"rule":\n`);
    writeFileSync(home.path('secret'), json({}));
    symlinkSync(home.path('secret'), home.path('logs/alerts/2025/Jun/ossec-alerts-05-002.json'));
    const { status, stderr } = run(['--date', '2025-06-05']);
    expect(status).to.equal(1);
    const [damaged, link, bad] = stderr.split('\n');
    expect(damaged).to.match(
      /^svc-report: '.*ossec-alerts-05\.json' cannot be read to its end: unexpected end of file$/,
    );
    expect(link).to.match(/^svc-report: '.*-05-002\.json' cannot be read to its end: '.*' is a link$/);
    expect(bad).to.match(/^svc-report: \d+ lines are no alerts and were left out\.$/);
    expect(stderr).to.match(/->Processed alerts: (1\d{3}|2000)\r\n/);
  });

  it('ends with one clear error where there is nothing to report', () => {
    const cases: (readonly [args: readonly string[], input: string, status: number, said: RegExp])[] = [
      [
        ['-n', 'Daily'],
        '',
        0,
        /^\d{4}\/.* svc-report: INFO: Report 'Daily' completed and zero alerts post-filter\.\n$/,
      ],
      [['-f', 'user', 'nobody'], json({}), 0, /svc-report: INFO: Report completed and zero alerts post-filter\.\n$/],
      [[], 'hello\n', 1, /^svc-report: The input is neither alerts\.json nor alerts\.log: it has no alert\.\n$/],
      [['-f', 'host', 'web'], '', 1, /^svc-report: .*There is no filter 'host': it is one of srcip, user, .*\.\n$/],
      [['-r', 'user', 'host'], '', 1, /^svc-report: .*There is no filter 'host': /],
      [['-f', 'level', 'high'], '', 1, /^svc-report: .*'high' is no level: a level is a number from 0 to 16\.\n$/],
      [['-f', 'level'], '', 1, /^svc-report: .*Two values are needed\.\n$/],
      [['--date', '2025-02-29'], '', 1, /^svc-report: .*A day is needed, such as /],
      [['--date', '2025-06-05'], '', 1, /^svc-report: There are no alerts of that day in '.*logs\/alerts'\.\n$/],
      [['--date', '2025-06-05', '--home', '/nonexistent'], '', 1, /^svc-report: '\/nonexistent' is not a home /],
    ];
    for (const [args, input, status, said] of cases) {
      const ended = run(args, input);
      expect(ended.stderr, args.join(' ')).to.match(said);
      expect([ended.status, ended.stdout], args.join(' ')).to.deep.equal([status, '']);
    }
  });
});
