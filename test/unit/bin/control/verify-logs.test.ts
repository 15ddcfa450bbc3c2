import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { ControlOutput } from '../../../../bin/control/control-output.js';
import { verifyLogs } from '../../../../bin/control/verify-logs-command.js';
import { OutputSums } from '../../../../daemons/monitord/output-sums.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

const MONTH = 'logs/alerts/2026/Nov';

describe('svc-control verify-logs', () => {
  let home: TemporaryHome;

  beforeEach(async () => {
    home = new TemporaryHome();
    mkdirSync(home.path(MONTH), { recursive: true });
    const sums = new OutputSums(home, new AbortController().signal);
    for (const day of [18, 19, 20]) {
      for (const part of ['', '-001']) {
        writeFileSync(home.path(MONTH, `ossec-alerts-${String(day)}${part}.json`), `{"day":"${String(day)}${part}"}\n`);
      }
      await sums.closeDay({ year: 2026, month: 10, day }, day !== 20, true);
    }
  });
  afterEach(() => {
    home.remove();
  });

  async function verify(): Promise<string[]> {
    let said = '';
    const code = await verifyLogs({
      home,
      output: new ControlOutput(
        false,
        (text) => (said += text),
        () => {},
      ),
    });
    const lines = said.trimEnd().split('\n');
    expect(code).to.equal(lines.length === 1 ? 0 : 1);
    return lines;
  }

  it('finds everything as it was, compressed or not, and without the days that are gone', async () => {
    expect(readdirSync(home.path(MONTH)))
      .to.include('ossec-alerts-18.json.gz')
      .and.to.include('ossec-alerts-20.json');
    expect(await verify()).to.deep.equal(['3 sums: everything is as it was.']);
    for (const name of readdirSync(home.path(MONTH))) if (name.includes('-18')) rmSync(home.path(MONTH, name));
    expect(await verify()).to.deep.equal(['2 sums: everything is as it was.']);
  });

  it('names files that were changed or are gone', async () => {
    writeFileSync(home.path(MONTH, 'ossec-alerts-18-001.json.gz'), gzipSync('{"day":"other"}\n'));
    appendFileSync(home.path(MONTH, 'ossec-alerts-20.json'), '{}\n');
    for (const part of ['', '-001']) rmSync(home.path(MONTH, `ossec-alerts-19${part}.json.gz`));
    expect(await verify()).to.deep.equal([
      `${MONTH}/ossec-alerts-18.json.sum: its files were changed`,
      `${MONTH}/ossec-alerts-19.json.sum: its files are gone`,
      `${MONTH}/ossec-alerts-20.json.sum: its files were changed`,
      '3 sums, 3 problems.',
    ]);
  });

  it('names a sum that was written again to fit, by the one of the next day', async () => {
    const path = home.path(MONTH, 'ossec-alerts-19.json.sum');
    writeFileSync(path, readFileSync(path, 'utf8').replace(/(MD5 {2}\(.*\) = )\w/, '$1x'));
    expect(await verify()).to.deep.equal([
      `${MONTH}/ossec-alerts-20.json.sum: the sum before it was changed (${MONTH}/ossec-alerts-19.json.sum)`,
      '3 sums, 1 problems.',
    ]);
    writeFileSync(path, 'nonsense');
    expect((await verify())[0]).to.equal(`${MONTH}/ossec-alerts-19.json.sum: it is no file of sums`);
  });
});
