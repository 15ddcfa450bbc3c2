import { expect } from 'chai';
import { runControl } from '../../../../bin/control/control-command.js';
import { defineContract } from '../../../../lib/bus/contract.js';
import { commonHandlers, commonMethods } from '../../../../lib/bus/contracts/common.js';
import { RequestServer } from '../../../../lib/bus/request-server.js';
import type { DaemonName } from '../../../../lib/product/daemon-names.js';
import { testCatalogue } from '../../../support/daemon/test-catalogue.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

type Stats = Record<string, unknown>;

const ANALYSISD = {
  events: {
    received: 1_234_567,
    journaled: 1_234_560,
    analysed: 1_234_500,
    alerts: 2345,
    duplicates: 3,
    dropped: { filter: 12, empty: 0 },
    pending: 60,
    lag: { events: 60, seconds: 0.42 },
  },
  journal: {
    start: 0,
    end: 5,
    bytes: 1_288_490_189,
    segments: 20,
    sync: 10,
    blocked: null,
    checkpoint: { position: 5, age_seconds: 3.2 },
  },
};
const APID = {
  requests: { calls: 4 },
  events: {
    ...{ sent: 10, acknowledged: 8, pending: 2, window: 16_384, resent: 1, sentBack: 1, withdrawn: 0, refused: 0 },
    ...{ rejected: 0, connected: true },
  },
};

describe('svc-control stats', () => {
  let home: TemporaryHome;
  let servers: { stop: () => Promise<void> }[];
  let answers: Partial<Record<DaemonName, Stats | (() => Promise<Stats>)>>;

  beforeEach(() => {
    home = new TemporaryHome();
    servers = [];
    answers = { 'svc-analysisd': ANALYSISD, 'svc-apid': APID };
  });
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    home.remove();
  });

  async function serve(): Promise<void> {
    for (const daemon of Object.keys(answers) as DaemonName[]) {
      const server = new RequestServer({
        contract: defineContract(daemon, commonMethods),
        path: home.socket(daemon),
        logger: new RecordingLogger(),
        handlers: commonHandlers(daemon, {
          stats: () => {
            const answer = answers[daemon] ?? {};
            return typeof answer === 'function' ? answer() : answer;
          },
          sections: new Map(),
          reload: () => Promise.resolve([]),
        }),
      });
      await server.start();
      servers.push(server);
    }
  }

  async function stats(args: readonly string[] = [], signal?: AbortSignal): Promise<[number, string]> {
    let text = '';
    const code = await runControl(['stats', ...args, '--home', home.root], {
      catalogue: testCatalogue(['svc-apid', 'svc-analysisd']),
      write: (more) => (text += more),
      writeError: (more) => (text += more),
      terminal: false,
      ...(signal === undefined ? {} : { signal }),
    });
    return [code, text];
  }

  it('shows the way of events from producers to alerts', async () => {
    await serve();
    expect(await stats()).to.deep.equal([
      0,
      [
        'svc-analysisd',
        '  received         1,234,567',
        '  journaled        1,234,560',
        '  analysed         1,234,500',
        '  alerts               2,345',
        '  duplicates               3',
        '  dropped, filter         12',
        '  waiting                 60  0.4 s behind',
        '  journal: 1.2 GiB, 20 segments, sync every 10 ms, checkpoint 3 s ago',
        '',
        'PRODUCER  SENT  ACKNOWLEDGED      PENDING  RESENT  SENT BACK  WITHDRAWN  REFUSED',
        'svc-apid    10             8  2 of 16,384       1          1          0        0',
        '',
      ].join('\n'),
    ]);
  });

  it('shows what follows from alerts: outputs, and active responses', async () => {
    const syslog = { delivered: 12_034, failed: 3, rejected: 0, available: false, lag: { bytes: 1229, seconds: 34 } };
    const mail = {
      delivered: 7,
      mails: 2,
      failed: 0,
      rejected: 1,
      available: true,
      waiting: 5,
      lag: { bytes: 0, seconds: 0 },
    };
    answers = {
      'svc-monitord': { outputs: { 'syslog 10.0.0.1:514/tcp': syslog, mail } },
      'svc-execd': {
        responses: { accepted: 9, refused: 1, started: 14, failed: 2, runs: 1, scripts: 1, in_force: 4, undone: 5 },
        feed: {
          decisions: { here: 9, agents: 3, refused: 1, late: 2, unreadable: 0 },
          deliveries: { sent: 6, dropped: 1, waiting: 2 },
          position: { file: '', offset: 0 },
          lag_seconds: 0.25,
        },
      },
    };
    await serve();
    expect(await stats(['monitord', 'execd'])).to.satisfy(([code, text]: [number, string]) => {
      expect(code).to.equal(0);
      expect(text.split('\n\n').slice(0, 2)).to.deep.equal([
        [
          'OUTPUT                   DELIVERED  FAILED TRIES  REJECTED   WAITING  BEHIND',
          'syslog 10.0.0.1:514/tcp     12,034             3         0   1.2 KiB    34 s  AWAY',
          'mail                             7             0         1  5 alerts     0 s',
        ].join('\n'),
        [
          'RESPONSES  STARTED  RUNNING  FAILED  IN FORCE  UNDONE  NOT DONE  SENT TO AGENTS  WAITING  DROPPED  BEHIND',
          'svc-execd       14        1       2         4       5         3               6        2        1   0.3 s',
        ].join('\n'),
      ]);
      return true;
    });
  });

  it('shows the responses of an agent, which has nobody to send them to', async () => {
    answers = { 'svc-execd': { responses: { started: 1, failed: 0, runs: 0, in_force: 1, undone: 0 } } };
    await serve();
    const [, text] = await stats(['execd']);
    expect(text).to.match(
      /^RESPONSES {2}STARTED {2}RUNNING {2}FAILED {2}IN FORCE {2}UNDONE\nsvc-execd {8}1 {8}0 {7}0 {9}1 {7}0\n/,
    );
  });

  it('says what is blocked, what does not answer in time, and what does not run', async () => {
    answers = {
      'svc-analysisd': { ...ANALYSISD, journal: { ...ANALYSISD.journal, blocked: 'no space left', sync: 'batch' } },
      'svc-apid': { events: { ...APID.events, connected: false, refusal: 'no space left' } },
      'svc-logcollector': () => new Promise(() => undefined),
    };
    await serve();
    const [code, text] = await stats(['apid', 'analysisd', 'logcollector', 'db']);
    expect(code).to.equal(1);
    expect(text).to.include('sync of every batch').and.include('  EVENTS ARE REFUSED: no space left\n');
    expect(text).to.include('\nsvc-apid: its events are refused: no space left\n');
    expect(text).to.include('\nsvc-db: it does not run\n');
    expect(text).to.include('\nsvc-logcollector: ');
    // Named daemons are shown with everything they count.
    expect(text).to.match(/\n {2}events\.lag\.seconds {2}0\.4\n/);
  });

  it('gives what the daemons answered with -j', async () => {
    answers = { 'svc-apid': APID };
    await serve();
    const [code, text] = await stats(['-j']);
    expect(code).to.equal(1);
    expect(JSON.parse(text)).to.deep.equal({
      error: 1,
      data: [
        { daemon: 'svc-apid', state: 'stopped', stats: APID },
        { daemon: 'svc-analysisd', state: 'stopped', problem: 'it does not run' },
      ],
    });
  });

  it('goes on with --watch, with what came each second', async () => {
    await serve();
    const stop = new AbortController();
    let asked = 0;
    answers['svc-analysisd'] = () => {
      const received = 1000 * asked++;
      if (asked === 3) stop.abort();
      return Promise.resolve({ ...ANALYSISD, events: { ...ANALYSISD.events, received } });
    };
    const [code, text] = await stats(['--watch', '0.1'], stop.signal);
    expect(code).to.equal(0);
    expect(text.match(/^svc-analysisd$/gm)).to.have.length(3);
    expect(text).to.match(/ {2}received +2,000 +[\d,]+\/s\n/);
    const words = await stats(['--watch', 'often']);
    expect(words).to.deep.equal([1, 'svc-control: --watch often: seconds are a number from 0.1 to 3600\n']);
  });

  it('shows daemons that answer in other words, with what can be read', async () => {
    answers = { 'svc-analysisd': { events: { received: 'many' }, journal: { bytes: 1 } }, 'svc-apid': {} };
    await serve();
    expect(await stats()).to.deep.equal([0, 'svc-analysisd\n  journal: 1 B, no checkpoint yet\n']);
  });
});
