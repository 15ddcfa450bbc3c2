import { expect } from 'chai';
import type { ReceivedEvent } from '../../../lib/bus/bus-event.js';
import { analysisdContract } from '../../../lib/bus/contracts/analysisd.js';
import { EventSink } from '../../../lib/bus/event-sink.js';
import { RequestServer } from '../../../lib/bus/request-server.js';
import { MemoryStreamPositions } from '../../../lib/bus/stream-positions.js';
import { ResponseChecker } from '../../support/api/response-checker.js';
import { TestApi } from '../../support/api/test-api.js';
import { eventually } from '../../support/eventually.js';

type List = {
  data: {
    affected_items: unknown[];
    total_affected_items: number;
    total_failed_items: number;
    failed_items: unknown[];
  };
  message: string;
  error: number;
};

describe('events and logtest over the API', () => {
  const checker = new ResponseChecker();
  let api: TestApi;
  let sink: EventSink | undefined;
  let server: RequestServer<typeof analysisdContract> | undefined;
  let received: ReceivedEvent[];
  let accept: () => Promise<void>;

  beforeEach(async () => {
    received = [];
    accept = () => Promise.resolve();
    api = await new TestApi().start({ access: { maxLoginAttempts: 99, blockSeconds: 1, maxRequestsPerMinute: 0 } });
  });
  afterEach(async () => {
    await api.remove();
    await sink?.stop();
    await server?.stop();
    sink = undefined;
    server = undefined;
  });

  const startSink = async () => {
    sink = new EventSink({
      path: api.home.eventsSocket(),
      onBatch: async ({ events }) => {
        await accept();
        // Messages may share memory with their batch.
        received.push(...events.map((event) => ({ ...event, message: Buffer.from(event.message) })));
      },
      positions: new MemoryStreamPositions(),
      logger: api.logger,
    });
    await sink.start();
    await eventually('events are taken', async () => (await post(['hello'])).status === 200);
    received.length = 0;
  };
  const post = async (events: unknown, headers: Record<string, string> = {}) => {
    const answer = await api.call('POST', '/events', { events }, headers);
    checker.check('POST', '/events', answer);
    return answer;
  };
  const texts = () => received.map(({ message }) => message.toString());

  it('are answered after they were acknowledged', async () => {
    await startSink();
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    let arrived = () => {};
    const arrival = new Promise<void>((resolve) => (arrived = resolve));
    accept = () => {
      arrived();
      return held;
    };
    let answered = false;
    const pending = post(['one', '{"two": 2}', 'three\nlines', 'ünï']).then((answer) => {
      answered = true;
      return answer;
    });
    await arrival;
    // An answer would be there before that of a later request.
    await api.call('GET', '/');
    expect(answered).to.equal(false);
    release();
    const answer = await pending;
    expect(answer.text).to.equal(
      '{"data": {"affected_items": [], "total_affected_items": 4, "total_failed_items": 0, "failed_items": []}, ' +
        '"message": "All events were forwarded to analisysd", "error": 0}',
    );
    expect(texts()).to.deep.equal(['one', '{"two": 2}', 'three\nlines', 'ünï']);
    expect(received[0]).to.deep.include({ queue: '1', location: 'API-Webhook', receivedAt: api.now });
    expect(received[0]?.agent).to.equal(undefined);
  });

  it('may be none, but not more than 100', async () => {
    await startSink();
    const none = (await post([])).json() as List;
    expect([none.error, none.message]).to.deep.equal([0, 'No events were forwarded to analisysd']);
    expect(((await post(Array(100).fill('x'))).json() as List).data.total_affected_items).to.equal(100);
    const many = await post(Array(101).fill('x'));
    expect(many.status).to.equal(400);
    expect(many.json()).to.deep.equal({
      title: 'Events bulk size exceeded',
      detail: 'The size of the events bulk is exceeding the limit',
    });
  });

  it('fail one by one when they are too large', async () => {
    await startSink();
    const large = 'x'.repeat(65_521);
    const some = (await post(['ok', large, 'y'.repeat(65_520)])).json() as List;
    expect([some.error, some.message]).to.deep.equal([2, 'Some events were forwarded to analisysd']);
    expect(some.data).to.deep.include({ affected_items: [], total_affected_items: 2, total_failed_items: 1 });
    expect(some.data.failed_items).to.deep.equal([
      {
        error: {
          code: 1012,
          message: 'Invalid message to queue: The event is too large to be sent to analysisd (maximum is 65535B)',
        },
        id: [large],
      },
    ]);
    const none = (await post(['ü'.repeat(32_761)])).json() as List;
    expect([none.error, none.message]).to.deep.equal([1, 'No events were forwarded to analisysd']);
  });

  it('are not analysed twice with an Idempotency-Key', async () => {
    await startSink();
    const key = { 'idempotency-key': 'batch-1' };
    const [first, same] = await Promise.all([post(['a', 'b'], key), post(['a', 'b'], key)]);
    expect(same?.text).to.equal(first?.text);
    expect(texts()).to.deep.equal(['a', 'b']);
    expect(received.map(({ idempotency }) => idempotency?.index)).to.deep.equal([0, 1]);
    expect(received[0]?.idempotency?.key)
      .to.equal(received[1]?.idempotency?.key)
      .and.match(/^[\w-]{43}$/);
    api.elapsed += 599_000;
    await post(['a', 'b'], key);
    expect(received).to.have.length(2);
    const other = await post(['c'], key);
    expect(other.status).to.equal(400);
    expect((other.json() as { detail: string }).detail).to.equal('The Idempotency-Key was used for another request');
    api.elapsed += 2000;
    await post(['c'], key);
    expect(texts()).to.deep.equal(['a', 'b', 'c']);
    const bad = await post(['d'], { 'idempotency-key': 'x'.repeat(65) });
    expect((bad.json() as { detail: string }).detail).to.match(/is too long\. /);
    expect((await post(['d'], { 'idempotency-key': 'two words' })).status).to.equal(400);
  });

  it('are refused at once, and not analysed later, when they cannot be kept', async () => {
    await startSink();
    accept = () => Promise.reject(new Error('no space left on device'));
    const refused = await post(['one', 'two'], { 'idempotency-key': 'batch-1' });
    expect([refused.status, refused.headers['retry-after']]).to.deep.equal([503, '5']);
    expect(refused.json()).to.deep.equal({
      title: 'Service Unavailable',
      detail: 'svc-analysisd takes no events for the moment. None of these will be analysed; send them again.',
    });
    const again = await post(['three']);
    expect(again.status).to.equal(503);
    accept = () => Promise.resolve();
    await eventually('events are taken', async () => (await post(['four'])).status === 200);
    expect((await post(['one', 'two'], { 'idempotency-key': 'batch-1' })).status).to.equal(200);
    expect(texts()).to.deep.equal(['four', 'one', 'two']);
  });

  it('name svc-analysisd when it does not run', async () => {
    const answer = await post(['x']);
    expect([answer.status, answer.headers['retry-after']]).to.deep.equal([503, '5']);
    const detail = 'Some Wazuh daemons are not ready yet in node "node01" (svc-analysisd->stopped)';
    expect(answer.json()).to.deep.equal({
      title: 'Service Unavailable',
      detail,
      dapi_errors: { node01: { error: detail } },
      error: 1017,
    });
    const logtest = await api.call('PUT', '/logtest', { event: 'x', log_format: 'syslog', location: 'y' });
    expect(logtest.status).to.equal(500);
    expect(logtest.json()).to.deep.include({ error: 1017, detail });
  });

  const startServer = async (
    run: (params: Record<string, unknown>) => { error: number; message?: string; data: object },
  ) => {
    const refuse = () => Promise.reject(new Error('not asked'));
    server = new RequestServer({
      contract: analysisdContract,
      handlers: {
        ping: refuse,
        stats: refuse,
        config: refuse,
        reload: refuse,
        'rules.list': refuse,
        'ruleset.check': refuse,
        'ruleset.switch': refuse,
        'ruleset.reload': refuse,
        'statistics.read': refuse,
        'statistics.agents': refuse,
        'alerts.read': refuse,
        'responses.read': refuse,
        'logtest.run': (params) => ({ ...run(params), data: { ...run(params).data } }),
        'logtest.close': (params) => ({ ...run(params), data: { ...run(params).data } }),
      },
      path: api.home.socket('svc-analysisd'),
      logger: api.logger,
    });
    await server.start();
  };

  it('logtest hands the line to the engine and its answer back', async () => {
    const seen: unknown[] = [];
    const data = {
      token: '8cd2d6d1',
      messages: ["INFO: (7202): Session initialized with token '8cd2d6d1'"],
      alert: false,
      codemsg: 0,
    };
    let reply: object = data;
    await startServer((params) => {
      seen.push(params);
      return { error: 0, data: reply };
    });
    const body = { event: 'x', log_format: 'syslog', location: 'a->b', token: '8cd2d6d1' };
    const answer = await api.call('PUT', '/logtest', body);
    checker.check('PUT', '/logtest', answer);
    expect(answer.json()).to.deep.equal({ error: 0, data });
    expect(seen[0]).to.deep.equal(body);
    const { messages, ...rest } = data;
    expect(messages).to.have.length(1);
    reply = rest;
    const again = await api.call('PUT', '/logtest', body);
    checker.check('PUT', '/logtest', again);
    expect(again.text, 'nothing to say').to.match(/^\{"data": \{"messages": \[\], "token"/);
    const closed = await api.call('DELETE', '/logtest/sessions/8cd2d6d1');
    checker.check('DELETE', '/logtest/sessions/{token}', closed);
    expect(seen.at(-1)).to.deep.equal({ token: '8cd2d6d1' });
  });

  it('logtest asks for what the options say, and hands it back', async () => {
    const search = { counted: 1, needed: 8, timeframe: 120, of: 'rule 1', same: [], different: [], skipped: 0 };
    const failed = { condition: 'frequency', wants: '8 events', note: 'too few', search };
    const explain = {
      predecoding: { format: 'syslog', hostname: 'host', log: 'x' },
      decoding: { roots: 'without program_name', steps: [], category: 'syslog', fields: [{ name: 'id', value: '1' }] },
      rules: [{ id: 1, level: 3, depth: 0, result: 'failed', failed }],
      result: { ancestors: [], alert: false, text: 'No rule took the event.' },
    };
    const why = { rule: 1, fired: false, answer: 'Rule 1 counts 1 of 8.', details: ['It is at a.xml:3.'] };
    const seen: unknown[] = [];
    await startServer((params) => {
      seen.push(params);
      return { error: 0, data: { messages: [], codemsg: 0, explain, why } };
    });
    const body = { event: 'x', log_format: 'syslog', location: 'a->b', options: { explain: true, why: 1 } };
    const answer = await api.call('PUT', '/logtest', body);
    checker.check('PUT', '/logtest', answer);
    expect(seen[0]).to.deep.equal(body);
    expect(answer.json()).to.have.property('data').that.deep.includes({ explain, why });
    const unknown = await api.call('PUT', '/logtest', { ...body, options: { exlpain: true } });
    expect(unknown.status).to.equal(400);
    expect(unknown.text).to.include('exlpain');
  });

  it("logtest shows the engine's refusal", async () => {
    await startServer(() => ({
      error: 2,
      message: "(7308): 'location' JSON field is required and must be a string",
      data: {},
    }));
    const answer = await api.call('PUT', '/logtest', { event: 'x', log_format: 'syslog', location: '' });
    expect(answer.status).to.equal(400);
    expect(answer.json()).to.deep.include({
      error: 7000,
      detail:
        "Error trying to get logtest response: ERROR: (7308): 'location' JSON field is required and must be a string",
    });
  });
});
