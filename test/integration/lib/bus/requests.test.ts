import { existsSync, statSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { BusError } from '../../../../lib/bus/bus-error.js';
import { MAX_CALLS_RUNNING, MAX_CALLS_WAITING, MAX_MESSAGE_BYTES } from '../../../../lib/bus/bus-limits.js';
import { RequestClient } from '../../../../lib/bus/request-client.js';
import { RequestServer } from '../../../../lib/bus/request-server.js';
import { SILENCE_MS } from '../../../../lib/bus/silence-watch.js';
import { sampleContract, sampleHandlers } from '../../../support/bus/sample-contract.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

/** What a promise rejects with; fails when it does not. */
async function rejection(promise: Promise<unknown>): Promise<BusError> {
  try {
    await promise;
  } catch (error) {
    expect(error).to.be.instanceOf(BusError);
    return error as BusError;
  }
  throw new Error('resolved');
}

describe('requests over the bus', () => {
  let home: TemporaryHome;
  let path: string;
  let logger: RecordingLogger;
  let server: RequestServer<typeof sampleContract>;
  let client: RequestClient<typeof sampleContract>;
  let wanted: boolean[];

  const makeServer = (): RequestServer<typeof sampleContract> =>
    new RequestServer({ contract: sampleContract, handlers: sampleHandlers(wanted), path, logger });

  beforeEach(async () => {
    home = new TemporaryHome();
    path = home.socket('svc-db');
    logger = new RecordingLogger();
    wanted = [];
    server = makeServer();
    await server.start();
    client = new RequestClient({ contract: sampleContract, path });
  });
  afterEach(async () => {
    client.close();
    await server.stop(0);
    home.remove();
  });

  it('answer typed results, with defaults of the contract filled in', async () => {
    expect(await client.call('add', { a: 2, b: 3 })).to.equal(5);
    expect(await client.call('add', { a: 2 })).to.equal(3);
    expect(server.counters).to.include({ received: 2, answered: 2, failed: 0 });
  });

  describe('to a daemon that says nothing', () => {
    let there: boolean;
    let asked: number;
    let watched: RequestClient<typeof sampleContract>;
    beforeEach(() => {
      there = true;
      asked = 0;
      const isThere = (): Promise<boolean> => {
        asked += 1;
        return Promise.resolve(there);
      };
      watched = new RequestClient({ contract: sampleContract, path, isThere });
    });
    afterEach(() => {
      watched.close();
    });

    it('wait as long as it is there', async () => {
      const began = performance.now();
      await watched.call('wait', { ms: 2 * SILENCE_MS + 100 });
      expect(performance.now() - began).to.be.above(2 * SILENCE_MS);
      expect(asked).to.be.within(1, 2);
    });

    it('fail all when it is not there any more, and the next is tried again', async () => {
      there = false;
      const calls = [1, 2].map(() => rejection(watched.call('wait', { ms: 4000 })));
      for (const error of await Promise.all(calls)) expect(error.code).to.equal('unresponsive');
      expect(asked).to.equal(1);
      expect(await watched.call('add', { a: 2, b: 3 })).to.equal(5);
    });
  });

  it('answer the methods every daemon has', async () => {
    expect(await client.call('ping', {})).to.include({ daemon: 'svc-db', pid: process.pid });
    expect(await client.call('stats', {})).to.deep.equal({ tables: { agents: 3 } });
    expect(await client.call('config', { section: 'wdb' })).to.deep.equal({ backup: [] });
    expect(await client.call('reload', {})).to.deep.equal({ restartNeeded: ['wdb'] });
    const error = await rejection(client.call('config', { section: 'nope' }));
    expect(error).to.include({ code: 'unknown_section', message: `svc-db has no configuration section 'nope'` });
  });

  it('name the field of bad parameters', async () => {
    const error = await rejection(client.call('add', { a: 'two' } as unknown as { a: number }));
    expect(error.code).to.equal('bad_params');
    expect(error.message).to.match(/^svc-db add: params\.a: /);
  });

  it('refuse unknown methods on both sides', async () => {
    const wrong = new RequestClient({
      contract: { ...sampleContract, methods: { ...sampleContract.methods, nope: sampleContract.methods.ping } },
      path,
    });
    expect(await rejection(wrong.call('nope', {}))).to.include({
      code: 'unknown_method',
      message: `svc-db has no method 'nope'`,
    });
    expect(await rejection(wrong.call('toString' as 'nope', {}))).to.include({ code: 'unknown_method' });
    expect(await rejection(wrong.call('__proto__' as 'nope', {}))).to.include({ code: 'unknown_method' });
    wrong.close();
  });

  it('pass errors meant for the caller on, and keep the others in the log', async () => {
    expect(await rejection(client.call('fail', { code: 'agent_not_found' }))).to.include({
      code: 'agent_not_found',
      message: 'as asked',
    });
    const error = await rejection(client.call('fail', {}));
    expect(error.code).to.equal('internal');
    expect(error.message).not.to.contain('secret');
    expect(logger.lines).to.deep.equal([`error: Method 'fail' failed: secret detail`]);
  });

  it('check answers against the contract', async () => {
    const error = await rejection(client.call('broken', {}));
    expect(error.code).to.equal('internal');
    expect(error.message).to.match(/^svc-db answered 'broken' against its contract: result\.count: /);
  });

  it('refuse what is too large, both ways', async () => {
    const bytes = MAX_MESSAGE_BYTES + 1;
    expect((await rejection(client.call('echo', Buffer.alloc(bytes)))).code).to.equal('too_large');
    expect(server.counters.received).to.equal(0);
    expect((await rejection(client.call('blob', { bytes }))).code).to.equal('too_large');
    expect(await client.call('blob', { bytes: 8_000_000 })).to.have.length(8_000_000);
  });

  it('refuse parameters that do not travel', async () => {
    const error = await rejection(client.call('echo', { at: new Date(0) }));
    expect(error.code).to.equal('bad_params');
  });

  it('run side by side on one client, each to its own answer', async () => {
    const calls = Array.from({ length: 3000 }, (_, index) => client.call('add', { a: index, b: index }));
    expect(await Promise.all(calls)).to.deep.equal(calls.map((_, index) => 2 * index));
    expect(client.counters.connections).to.equal(1);
    expect(server.counters.undelivered).to.equal(0);
  });

  it('overlap: a slow method does not hold up a quick one', async () => {
    const order: string[] = [];
    const slow = client.call('wait', { ms: 200 }).then(() => order.push('slow'));
    await client.call('add', { a: 1 });
    order.push('quick');
    await slow;
    expect(order).to.deep.equal(['quick', 'slow']);
  });

  it('answer busy beyond the calls a server runs and keeps waiting', async () => {
    const clients = Array.from({ length: 12 }, () => new RequestClient({ contract: sampleContract, path }));
    // Longer than a slow machine takes to bring them all: none is done when the last one comes.
    const calls = clients.flatMap((one) => Array.from({ length: 256 }, () => one.call('wait', { ms: 5000 })));
    const settled = Promise.allSettled(calls);
    await eventually('all are there', () => server.counters.received === calls.length);
    expect(server.counters.refused).to.equal(calls.length - MAX_CALLS_RUNNING - MAX_CALLS_WAITING);
    for (const one of clients) one.close();
    const codes = (await settled).map((result) =>
      result.status === 'rejected' ? (result.reason as BusError).code : 'ok',
    );
    expect(new Set(codes)).to.deep.equal(new Set(['closed', 'busy']));
  });

  it('say of a call that was sent before its client is closed that it may be carried out', async () => {
    const one = new RequestClient({ contract: sampleContract, path });
    const { received } = server.counters;
    const sent = rejection(one.call('wait', { ms: 5000 }));
    await eventually('it is there', () => server.counters.received > received);
    one.close();
    expect(await sent).to.include({ code: 'closed', isUnclear: true });
    const other = new RequestClient({ contract: sampleContract, path });
    const unsent = rejection(other.call('wait', { ms: 5000 }));
    other.close();
    expect(await unsent).to.include({ code: 'closed', isUnclear: false });
  });

  it('keep their deadline', async () => {
    const error = await rejection(client.call('wait', { ms: 5000 }, { deadlineMs: 100 }));
    expect(error).to.include({
      code: 'timeout',
      isUnclear: true,
      message: `svc-db did not answer 'wait' within 100 ms`,
    });
  });

  it('are not carried out once their caller has given up', async () => {
    const blockers = Array.from({ length: MAX_CALLS_RUNNING }, () => client.call('wait', { ms: 300 }));
    await rejection(client.call('add', { a: 1 }, { deadlineMs: 50 }));
    await Promise.all(blockers);
    await eventually('the late call was dropped', () => server.counters.expired === 1);
    expect(server.counters.answered).to.equal(MAX_CALLS_RUNNING);
  });

  it('tell whoever answers them whether somebody still waits', async () => {
    expect(await client.call('wanted', { ms: 0 }, { deadlineMs: 600_000 })).to.equal(true);
    await rejection(client.call('wanted', { ms: 300 }, { deadlineMs: 50 }));
    await eventually('the second is answered', () => wanted.length === 2);
    expect(wanted).to.deep.equal([true, false]);
  });

  it('are answered at once when they ask whether it is there', async () => {
    const blockers = Array.from({ length: MAX_CALLS_RUNNING }, () => client.call('wait', { ms: 1000 }));
    const began = performance.now();
    await client.call('ping', {});
    expect(performance.now() - began).to.be.below(900);
    await Promise.all(blockers);
  });

  it('end when aborted or closed', async () => {
    const abort = new AbortController();
    const aborted = client.call('wait', { ms: 5000 }, { signal: abort.signal });
    const closed = rejection(client.call('wait', { ms: 5000 }));
    await eventually('both are running', () => server.counters.received === 2);
    abort.abort(new BusError('gone', 'no more interest'));
    expect(await rejection(aborted)).to.include({ code: 'gone' });
    client.close();
    expect((await closed).code).to.equal('closed');
    expect((await rejection(client.call('ping', {}))).code).to.equal('closed');
  });

  it('fail at once when there is no socket, or nobody behind it', async () => {
    await server.stop();
    const patient = { deadlineMs: 600_000 };
    let error = await rejection(client.call('ping', {}, patient));
    expect(error.isUnclear).to.equal(false);
    expect(error).to.include({ code: 'unavailable', message: `svc-db is not available: '${path}' does not exist` });
    writeFileSync(path, '');
    error = await rejection(client.call('ping', {}, patient));
    expect(error.message).to.contain('nobody listens on');
    const long = new RequestClient({ contract: sampleContract, path: `/${'x'.repeat(107)}` });
    expect((await rejection(long.call('ping', {}, patient))).code).to.equal('bad_path');
    const relative = new RequestClient({ contract: sampleContract, path: 'db.sock' });
    expect((await rejection(relative.call('ping', {}, patient))).code).to.equal('bad_path');
  });

  it('fail when the server stops under them, and work again after it is back, without help', async () => {
    const lost = rejection(client.call('wait', { ms: 5000 }));
    await eventually('it runs', () => server.counters.received === 1);
    await server.stop(50);
    expect(await lost).to.include({ code: 'unavailable', isUnclear: true });
    expect(await rejection(client.call('ping', {}))).to.include({ code: 'unavailable', isUnclear: false });
    server = makeServer();
    await server.start();
    expect(await client.call('add', { a: 1 })).to.equal(2);
    expect(client.counters.connections).to.equal(2);
  });

  it('are answered before the server stops, and refused while it does', async () => {
    const running = client.call('wait', { ms: 200 });
    await eventually('it runs', () => server.counters.received === 1);
    const stopped = server.stop();
    const late = rejection(client.call('add', { a: 1 }));
    expect(await running).to.equal('done');
    expect((await late).message).to.equal('svc-db is stopping');
    await stopped;
    expect(existsSync(path)).to.equal(false);
  });

  it('have a socket for user and group only', () => {
    expect(statSync(path).mode & 0o777).to.equal(0o660);
  });
});
