import { createHash } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { OutputSums } from '../../../../daemons/monitord/output-sums.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

const DAY = { year: 2026, month: 10, day: 20 };
const ALERTS = 'logs/alerts/2026/Nov';

const digest = (algorithm: string, content: string | Buffer) => createHash(algorithm).update(content).digest('hex');

describe('sums of outputs', () => {
  let home: TemporaryHome;
  let sums: OutputSums;

  beforeEach(() => {
    home = new TemporaryHome();
    sums = new OutputSums(home, new AbortController().signal);
  });

  afterEach(() => {
    home.remove();
  });

  function write(file: string, content: string): void {
    mkdirSync(dirname(home.path(file)), { recursive: true });
    writeFileSync(home.path(file), content);
  }

  it('cover base and parts, and are chained to the day before', async () => {
    write(`${ALERTS}/ossec-alerts-19.log.sum`, 'yesterday');
    write(`${ALERTS}/ossec-alerts-20.log`, 'one\n');
    write(`${ALERTS}/ossec-alerts-20-002.log`, 'three\n');
    write(`${ALERTS}/ossec-alerts-20-001.log`, 'two\n');
    const { written, postponed } = await sums.closeDay(DAY, true);
    expect(postponed).to.deep.equal([]);
    expect(written).to.have.length(5);
    const all = 'one\ntwo\nthree\n';
    expect(readFileSync(home.path(`${ALERTS}/ossec-alerts-20.log.sum`), 'utf8')).to.equal(
      [
        'Current checksum:',
        `MD5  (${ALERTS}/ossec-alerts-20) = ${digest('md5', all)}`,
        `SHA1 (${ALERTS}/ossec-alerts-20) = ${digest('sha1', all)}`,
        `SHA256 (${ALERTS}/ossec-alerts-20) = ${digest('sha256', all)}`,
        '',
        'Chained checksum:',
        `MD5  (${ALERTS}/ossec-alerts-19.log.sum) = ${digest('md5', 'yesterday')}`,
        `SHA1 (${ALERTS}/ossec-alerts-19.log.sum) = ${digest('sha1', 'yesterday')}`,
        `SHA256 (${ALERTS}/ossec-alerts-19.log.sum) = ${digest('sha256', 'yesterday')}`,
        '',
        '',
      ].join('\n'),
    );
    expect(readdirSync(home.path(ALERTS)).sort()).to.deep.equal([
      'ossec-alerts-19.log.sum',
      'ossec-alerts-20-001.log.gz',
      'ossec-alerts-20-002.log.gz',
      'ossec-alerts-20.json.sum',
      'ossec-alerts-20.log.gz',
      'ossec-alerts-20.log.sum',
    ]);
    expect(gunzipSync(readFileSync(home.path(`${ALERTS}/ossec-alerts-20-001.log.gz`))).toString()).to.equal('two\n');
  });

  it('say none where there is nothing', async () => {
    await sums.closeDay({ year: 2026, month: 0, day: 1 }, true);
    const text = readFileSync(home.path('logs/firewall/2026/Jan/ossec-firewall-01.log.sum'), 'utf8');
    expect(text).to.contain('MD5  (logs/firewall/2026/Jan/ossec-firewall-01) = none\n');
    expect(text).to.contain('SHA256 (logs/firewall/2025/Dec/ossec-firewall-31.log.sum) = none\n');
  });

  it('wait for a file that is still the live one', async () => {
    write(`${ALERTS}/ossec-alerts-20.json`, '{}\n');
    linkSync(home.path(`${ALERTS}/ossec-alerts-20.json`), home.path('logs/alerts/alerts.json'));
    expect((await sums.closeDay(DAY, true)).postponed).to.deep.equal([`${ALERTS}/ossec-alerts-20.json`]);
    expect(existsSync(home.path(`${ALERTS}/ossec-alerts-20.json`))).to.equal(true);
    expect(existsSync(home.path(`${ALERTS}/ossec-alerts-20.json.sum`))).to.equal(false);
    rmSync(home.path('logs/alerts/alerts.json'));
    const later = await sums.closeDay(DAY, true, true);
    expect(later).to.deep.equal({ written: [`${ALERTS}/ossec-alerts-20.json.sum`], postponed: [] });
    expect(existsSync(home.path(`${ALERTS}/ossec-alerts-20.json.gz`))).to.equal(true);
  });

  it('stay as they are once written', async () => {
    write(`${ALERTS}/ossec-alerts-20.log`, 'one\n');
    await sums.closeDay(DAY, true);
    const before = readFileSync(home.path(`${ALERTS}/ossec-alerts-20.log.sum`), 'utf8');
    expect((await sums.closeDay(DAY, true)).written).to.deep.equal([]);
    expect(readFileSync(home.path(`${ALERTS}/ossec-alerts-20.log.sum`), 'utf8')).to.equal(before);
  });
});
