import { expect } from 'chai';
import { UpgradeReports } from '../../../../daemons/remoted/upgrade-reports.js';
import { MAX_REPORT_BYTES, MAX_REPORTS_PER_CALL } from '../../../../lib/bus/contracts/modulesd.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

type Call = { reports: readonly { agent: string; message: Uint8Array }[] };

describe('what agents tell of their upgrades', () => {
  const calls: Call[] = [];
  let answer: () => Promise<object>;
  let logger: RecordingLogger;
  let reports: UpgradeReports;

  beforeEach(() => {
    calls.length = 0;
    answer = () => Promise.resolve({});
    logger = new RecordingLogger();
    const call = (_method: unknown, params: Call) => {
      calls.push(params);
      return answer();
    };
    reports = new UpgradeReports({ modulesd: { call: call as never }, logger });
  });

  const take = (id: string, text: string) => {
    reports.take({ id } as never, Buffer.from(text));
  };

  it('goes to svc-modulesd, what waits together and the last of each agent', async () => {
    let release: (value: object) => void = () => {};
    answer = () => new Promise((resolve) => (release = resolve));
    take('001', 'one');
    for (let id = 0; id <= MAX_REPORTS_PER_CALL; id += 1) take(`2${String(id).padStart(3, '0')}`, 'x');
    take('2000', 'y');
    expect(reports.waiting).to.equal(MAX_REPORTS_PER_CALL + 1);
    answer = () => Promise.resolve({});
    release({});
    await eventually('all went', () => calls.length === 3);
    expect(calls.map((call) => call.reports.length)).to.deep.equal([1, MAX_REPORTS_PER_CALL, 1]);
    const [first] = calls[1]!.reports;
    expect(`${first!.agent} ${Buffer.from(first!.message).toString()}`).to.equal('2000 y');
  });

  it('is dropped and counted when svc-modulesd does not take it, or it is too long', async () => {
    answer = () => Promise.reject(new Error('svc-modulesd is not available'));
    take('001', 'one');
    await eventually('it was dropped', () => reports.counters.dropped === 1);
    take('002', 'x'.repeat(MAX_REPORT_BYTES + 1));
    expect(reports.counters).to.deep.equal({ received: 2, dropped: 2 });
    expect(logger.lines[0]).to.match(/^warn: What agents tell .* is not taken: svc-modulesd is not available/);
    reports.close();
    take('003', 'x');
    expect(calls).to.have.length(1);
  });
});
