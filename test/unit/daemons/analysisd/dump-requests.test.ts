import { expect } from 'chai';
import { DumpRequests, type DumpRequestsParts } from '../../../../daemons/analysisd/dump-requests.js';
import { BusError } from '../../../../lib/bus/bus-error.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

describe('requests for results of policies', () => {
  let sent: string[];
  let logger: RecordingLogger;
  let requests: DumpRequests;
  /** What a daemon answers instead of taking an order. */
  let failure: (daemon: 'remoted' | 'modulesd') => BusError | undefined;
  let away: readonly string[];

  const open = (options: Pick<DumpRequestsParts, 'quietMs'> = {}): DumpRequests => {
    const fail = (daemon: 'remoted' | 'modulesd'): void => {
      const error = failure(daemon);
      if (error !== undefined) throw error;
    };
    const remoted = {
      call: (_method: string, { ids, message }: { ids: readonly string[]; message: string }) => {
        fail('remoted');
        sent.push(`${ids.join(',')} ${message}`);
        const failed = ids.filter((id) => away.includes(id));
        const answer = failed.map((id) => ({ id, code: 'disconnected', message: 'it is not connected' }));
        return Promise.resolve({ sent: ids.length - failed.length, failed: answer });
      },
    };
    const modulesd = {
      call: (_method: string, { text }: { text: string }) => {
        fail('modulesd');
        sent.push(`manager ${text}`);
        return Promise.resolve({});
      },
    };
    const asAsync =
      <P extends readonly unknown[], R>(call: (...parameters: P) => Promise<R>) =>
      async (...parameters: P) =>
        call(...parameters);
    return new DumpRequests({
      remoted: { call: asAsync(remoted.call) as never },
      modulesd: { call: asAsync(modulesd.call) as never },
      logger,
      gatherMs: 5,
      retryMs: 5,
      ...options,
    });
  };

  beforeEach(() => {
    sent = [];
    away = [];
    failure = () => undefined;
    logger = new RecordingLogger();
    requests = open();
  });
  afterEach(() => requests.stop());

  const all = (count: number) => eventually(`${String(count)} orders went out`, () => sent.length >= count);

  it('go out once, whoever asks, agents with the same together', async () => {
    requests.ask('engine', '001', 'demo', true);
    requests.order({ agent: '001', text: 'sca-dump:demo:1' });
    requests.order({ agent: '002', text: 'sca-dump:demo:1' });
    requests.ask('engine', '002', 'a:b', false);
    requests.order({ agent: '002', text: 'sca-dump:a:b:0' });
    requests.order({ agent: '002', text: 'something else' });
    await all(2);
    expect(sent).to.have.members(['001,002 sca-dump:demo:1', '002 sca-dump:a:b:0']);
    requests.order({ agent: '001', text: 'sca-dump:demo:0' });
    requests.ask('engine', '001', 'demo', false);
    requests.ask('engine', '002', 'demo', true);
    requests.ask('engine', '002', 'other', false);
    await all(3);
    expect(sent[2], 'the others were asked just now').to.equal('002 sca-dump:other:0');
    expect(requests.counters).to.deep.equal({ sent: 4, merged: 5, failed: 0, dropped: 0 });
  });

  it('go out again when what is asked is more, or some time is over', async () => {
    requests.ask('engine', '001', 'demo', false);
    await all(1);
    requests.ask('engine', '001', 'demo', true);
    await all(2);
    expect(sent).to.deep.equal(['001 sca-dump:demo:0', '001 sca-dump:demo:1']);
    await requests.stop();
    requests = open({ quietMs: 0 });
    requests.ask('engine', '001', 'demo', true);
    await all(3);
    requests.ask('engine', '001', 'demo', true);
    await all(4);
  });

  it('wait when the same asks for the summary again, as it may have been told already', async () => {
    await requests.stop();
    requests = open({ quietMs: 200 });
    requests.ask('engine', '001', 'demo', true);
    await all(1);
    const at = performance.now();
    requests.ask('engine', '001', 'demo', true);
    requests.order({ agent: '001', text: 'sca-dump:demo:1' });
    await all(2);
    expect(performance.now() - at).to.be.within(150, 5000);
    expect(sent).to.deep.equal(['001 sca-dump:demo:1', '001 sca-dump:demo:1']);
    expect(requests.counters).to.include({ sent: 2, merged: 1 });
  });

  it('ask with the summary when one of those who ask at once wants it', async () => {
    requests.ask('engine', '001', 'demo', false);
    requests.ask('engine', '001', 'demo', true);
    await all(1);
    expect(sent).to.deep.equal(['001 sca-dump:demo:1']);
  });

  it('of the manager itself go to svc-modulesd, and wait for nobody', async () => {
    let refusals = 0;
    failure = (daemon) => {
      if (daemon === 'modulesd' || sent.length > 0) return undefined;
      refusals += 1;
      return new BusError('unavailable', 'svc-remoted is not there');
    };
    requests.ask('engine', '001', 'demo', true);
    await eventually('svc-remoted refuses', () => refusals > 0);
    requests.ask('engine', '000', 'd\u00e9mo', true);
    await all(2);
    expect(sent).to.deep.equal(['manager sca-dump:d\u00c3\u00a9mo:1', '001 sca-dump:demo:1']);
    expect(refusals, 'it was tried again').to.be.at.least(1);
  });

  it('that fail are counted and said once', async () => {
    away = ['002', '003'];
    for (const agent of ['001', '002', '003']) requests.ask('engine', agent, 'demo', true);
    await all(1);
    failure = () => new BusError('unavailable', 'it is not there');
    requests.ask('engine', '000', 'demo', true);
    requests.ask('engine', '004', 'demo', true);
    await eventually('both are given up', () => requests.counters.failed === 4);
    expect(requests.counters).to.deep.include({ sent: 1, failed: 4 });
    failure = () => new BusError('unrecognized', 'Unrecognized command');
    requests.ask('engine', '000', 'other', true);
    await eventually('it is given up at once', () => requests.counters.failed === 5);
    expect(logger.lines.filter((line) => line.includes('could not be asked for'))).to.deep.equal([
      "warn: Results of policies could not be asked for, which the next scans make up for: agent '002': it is not connected",
    ]);
  });

  it('are not made of ids that no policy has', async () => {
    for (const id of ['a\nb', 'x'.repeat(257), '\u0000']) requests.ask('engine', '001', id, true);
    requests.ask('engine', '001', 'x'.repeat(256), true);
    await all(1);
    expect(sent).to.deep.equal([`001 sca-dump:${'x'.repeat(256)}:1`]);
  });

  it('end with the daemon', async () => {
    requests.ask('engine', '001', 'demo', true);
    await requests.stop();
    requests.ask('engine', '002', 'demo', true);
    await requests.stop();
    expect(sent).to.be.empty;
  });
});
