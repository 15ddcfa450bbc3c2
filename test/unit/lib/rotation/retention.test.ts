import { copyFileSync, linkSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { neededAlerts } from '../../../../daemons/monitord/outputs/needed-alerts.js';
import { loadInternalOptions } from '../../../../lib/config/internal-options.js';
import { productRoot } from '../../../../lib/product/product-root.js';
import { type NeededDays, Retention } from '../../../../lib/rotation/retention.js';
import { retentionRules } from '../../../../lib/rotation/rotation-settings.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

const TODAY = { year: 2026, month: 10, day: 21 };
const MEGABYTE = 1024 ** 2;

describe('how long logs are kept', () => {
  let home: TemporaryHome;
  let logger: RecordingLogger;

  beforeEach(() => {
    home = new TemporaryHome();
    copyFileSync(
      fileURLToPath(new URL('etc/internal_options.conf', productRoot())),
      home.path('etc/internal_options.conf'),
    );
    logger = new RecordingLogger();
  });
  afterEach(() => {
    home.remove();
  });

  function put(bytes: number, ...files: readonly string[]): void {
    for (const file of files) {
      const path = home.path('logs', file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, Buffer.alloc(bytes));
    }
  }
  const left = (kind: string) =>
    readdirSync(home.path('logs', kind), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.includes('.'))
      .sort();
  function apply(options = '', needed?: NeededDays): void {
    writeFileSync(home.path('etc/local_internal_options.conf'), options);
    new Retention(home, logger, () => retentionRules(loadInternalOptions(home, ['monitord'])), needed).apply(TODAY);
  }

  it('deletes old days of the manager log and empty folders, and nothing else, without being asked', () => {
    put(
      1,
      ...['2025/Dec/manager-31.log.gz', '2026/Oct/manager-19.log.gz', '2026/Oct/manager-20.log.gz'].map(
        (file) => `manager/${file}`,
      ),
      ...['2026/Sep/manager-01-003.json.gz', '2026/Sep/notes.txt', '2026/Xyz/manager-01.log'].map(
        (file) => `manager/${file}`,
      ),
      ...['alerts/2020/Jan/ossec-alerts-01.json.gz', 'api/2020/Jan/api.log-01.gz'],
    );
    apply();
    // 32 days before 21 November is 20 October.
    expect(readdirSync(home.path('logs/manager'), { recursive: true, encoding: 'utf8' }).sort()).to.deep.equal([
      ...['2026', '2026/Oct', '2026/Oct/manager-20.log.gz', '2026/Sep', '2026/Sep/notes.txt'],
      ...['2026/Xyz', '2026/Xyz/manager-01.log'],
    ]);
    expect(left('alerts')).to.have.length(1);
    expect(left('api')).to.have.length(1);
    expect(logger.lines).to.deep.equal(['info: Removed 3 files of logs/manager: older than 32 days.']);
  });

  it('goes by the days that are given for each kind', () => {
    put(1, 'alerts/2026/Nov/ossec-alerts-18.json.gz', 'alerts/2026/Nov/ossec-alerts-18.json.sum');
    put(1, 'alerts/2026/Nov/ossec-alerts-19-002.log', 'archives/2026/Nov/ossec-archive-18.json.gz');
    put(1, 'firewall/2026/Nov/ossec-firewall-01.log.gz', 'api/2026/Nov/api.json-01_3.gz');
    put(1, 'active-responses/2026/Nov/active-responses-01.log.gz');
    apply('monitord.keep_alert_days=2\nmonitord.keep_firewall_days=20\nmonitord.keep_other_log_days=5\n');
    expect(left('alerts')).to.deep.equal(['2026/Nov/ossec-alerts-19-002.log']);
    expect(left('archives')).to.have.length(1);
    expect(left('firewall')).to.have.length(1);
    expect(left('api')).to.deep.equal([]);
    expect(left('active-responses')).to.deep.equal([]);
  });

  it('makes room by the oldest days, but never of today or of what is written to', () => {
    put(MEGABYTE, 'alerts/2026/Oct/ossec-alerts-31.json.gz', 'alerts/2026/Nov/ossec-alerts-19.json.gz');
    put(MEGABYTE, 'alerts/2026/Nov/ossec-alerts-20.json', 'alerts/2026/Nov/ossec-alerts-21.json');
    linkSync(home.path('logs/alerts/2026/Nov/ossec-alerts-20.json'), home.path('logs/alerts/alerts.json'));
    apply('monitord.max_alert_size=3\n');
    expect(left('alerts')).to.deep.equal([
      ...['2026/Nov/ossec-alerts-19.json.gz', '2026/Nov/ossec-alerts-20.json', '2026/Nov/ossec-alerts-21.json'],
      'alerts.json',
    ]);
    expect(logger.lines).to.deep.equal(['info: Removed 1 files of logs/alerts: all take more than 3 MB.']);
    apply('monitord.max_alert_size=1\n');
    expect(left('alerts')).to.have.length(3);
    expect(logger.lines.at(-1)).to.equal(
      'warn: Files of logs/alerts take 2.0 MB, more than 1 MB: those of today, and those that outputs have yet to read, are kept.',
    );
  });

  it('keeps what somebody has yet to read', () => {
    const days = ['17', '18', '19'].map((day) => `alerts/2026/Nov/ossec-alerts-${day}.json.gz`);
    put(MEGABYTE, ...days);
    const options = 'monitord.keep_alert_days=1\nmonitord.max_alert_size=1\n';
    apply(options, () => 'all');
    expect(left('alerts')).to.have.length(3);
    apply(options, () => neededAlerts(['2026/Dec/ossec-alerts-02.json', '2026/Nov/ossec-alerts-18-002.json', '']));
    expect(left('alerts')).to.deep.equal(['2026/Nov/ossec-alerts-18.json.gz', '2026/Nov/ossec-alerts-19.json.gz']);
    apply(options, () => neededAlerts(['']));
    expect(left('alerts')).to.deep.equal([]);
  });

  it('counts all rotated logs together, the oldest first whatever it is', () => {
    put(MEGABYTE, 'manager/2026/Nov/manager-10.log.gz', 'api/2026/Nov/api.log-09.gz');
    put(MEGABYTE, 'integrations/2026/Nov/integrations-11.log.gz');
    apply('monitord.max_log_size=2\n');
    expect([left('manager').length, left('api').length, left('integrations').length]).to.deep.equal([1, 0, 1]);
  });
});
