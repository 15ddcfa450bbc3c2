import { expect } from 'chai';
import { changeLinks, changesOf, isBuiltIn, policiesOf } from '../../../../api/console/browser/pages/manager/access.js';
import {
  hourTimes,
  MOST_SAMPLES,
  ratesOf,
  readSample,
  type Sample,
  withSample,
} from '../../../../api/console/browser/pages/manager/samples.js';

const stats = (seconds: number, received: number) => [
  {
    name: 'svc-analysisd',
    timestamp: new Date(seconds * 1000).toISOString(),
    metrics: {
      events: { received, processed: received - 1, written_breakdown: { alerts: 2 } },
      queues: { others: { size: 100, usage: 0.25 }, alerts: { size: 100, usage: 0.5 } },
    },
  },
  {
    name: 'svc-remoted',
    timestamp: new Date(seconds * 1000).toISOString(),
    metrics: {
      messages: {
        received_breakdown: { event: 5, control: 2, control_breakdown: { keepalive: 2 } },
        sent_breakdown: {},
      },
      queues: { received: { size: 10, usage: 0.1 } },
      tcp_sessions: 3,
    },
  },
];

describe('the console: the manager', () => {
  it('reads samples of what daemons count', () => {
    expect(readSample([])).to.equal(undefined);
    expect(readSample(stats(1000, 9))).to.deep.equal({
      at: 1000,
      counters: { received: 9, processed: 8, alerts: 2, messagesIn: 7, messagesOut: 0 },
      gauges: { queue: 50, remotedQueue: 10, sessions: 3 },
    });
    expect(
      readSample([{ name: 'svc-analysisd', timestamp: '1970-01-01T00:00:01Z', metrics: null }])?.counters.alerts,
    ).to.equal(0);
  });

  it('makes rates of them, and none below zero where a daemon began anew', () => {
    let samples: readonly Sample[] = [];
    for (const [at, received] of [
      [1000, 0],
      [1010, 50],
      [1010, 50],
      [1020, 5],
    ] as const) {
      const sample = readSample(stats(at, received));
      if (sample !== undefined) samples = withSample(samples, sample);
    }
    expect(ratesOf(samples, 'received')).to.deep.equal([5, 0]);
    const sample = samples[0];
    if (sample === undefined) throw new Error('no sample');
    for (let at = 2000; at < 2000 + 2 * MOST_SAMPLES; at += 1) samples = withSample(samples, { ...sample, at });
    expect(samples).to.have.length(MOST_SAMPLES);
  });

  it('knows the hours of today, and of the week that began on Sunday', () => {
    const now = new Date(2026, 10, 25, 13, 5);
    expect(hourTimes(24, now)[1]).to.equal(new Date(2026, 10, 25, 1).getTime() / 1000);
    expect(hourTimes(168, now)[0]).to.equal(new Date(2026, 10, 22).getTime() / 1000);
  });

  it('knows the hours of days that have 23 or 25 of them', () => {
    const { TZ } = process.env;
    process.env['TZ'] = 'Europe/Berlin';
    try {
      const times = hourTimes(24, new Date(2026, 9, 25, 13));
      expect(times[23]).to.equal(new Date(2026, 9, 25, 23).getTime() / 1000);
    } finally {
      if (TZ === undefined) delete process.env['TZ'];
      else process.env['TZ'] = TZ;
    }
  });

  it('gives roles before it takes others, and goes on from there after a failure', async () => {
    const sent: string[] = [];
    let fails = true;
    const api = {
      send: (method: string, _path: string, { params = {} }: { params?: Record<string, unknown> } = {}) => {
        sent.push(`${method} ${String(params['role_ids'])}`);
        if (fails && method === 'DELETE') return Promise.reject(new Error('away'));
        return Promise.resolve({ failed_items: [] });
      },
    } as unknown as Parameters<typeof changeLinks>[0];
    const known = { current: [1, 2] };
    const change = () => changeLinks(api, ['/x', 'role_ids'], known, new Set([2, 3])).catch(String);
    expect(await change()).to.equal('Error: away');
    fails = false;
    await change();
    expect(sent).to.deep.equal(['POST 3', 'DELETE 1', 'DELETE 1']);
    expect(known.current).to.deep.equal([2, 3]);
  });

  it('knows what could not be given, and tells of it', async () => {
    const refused = { error: { code: 4002, message: 'it is not there' }, id: [4] };
    const api = {
      send: (method: string) => Promise.resolve({ failed_items: method === 'POST' ? [refused] : [] }),
    } as unknown as Parameters<typeof changeLinks>[0];
    const known = { current: [1] };
    const answers = await changeLinks(api, ['/x', 'role_ids'], known, new Set([3, 4]));
    expect(known.current).to.deep.equal([3]);
    expect(answers.flatMap(({ failed_items: failed }) => failed)).to.deep.equal([refused]);
  });

  it('says what a user may do: policies of its roles, in their order', () => {
    const policy = (id: number) => ({ id, name: `p${id}`, policy: { actions: [], resources: [], effect: 'allow' } });
    const role = (id: number, policies: number[]) => ({ id, name: `r${id}`, policies, users: [] });
    const found = policiesOf([101, 100, 999], [role(100, [1]), role(101, [2, 1, 9])], [policy(1), policy(2)]);
    expect(found.map(({ role: { id }, policy: { name } }) => `${id} ${name}`)).to.deep.equal([
      '101 p2',
      '101 p1',
      '100 p1',
    ]);
    expect(changesOf([1, 2], new Set([2, 3]))).to.deep.equal({ added: [3], removed: [1] });
    expect([isBuiltIn({ id: 99 }), isBuiltIn({ id: 100 })]).to.deep.equal([true, false]);
  });
});
