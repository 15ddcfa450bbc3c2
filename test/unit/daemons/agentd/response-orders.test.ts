import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { OrderStore, type StoredOrder } from '../../../../daemons/agentd/order-store.js';
import { ResponseOrders } from '../../../../daemons/agentd/response-orders.js';
import { BusError } from '../../../../lib/bus/bus-error.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

describe('orders for svc-execd', () => {
  const logger = new RecordingLogger();
  const stopped = new AbortController();
  const taken: string[] = [];
  let answers: string[] = [];
  const stored = new Map<number, StoredOrder>();
  const orders = new ResponseOrders({
    store: {
      all: () => [...stored],
      add: (number, order) => Promise.resolve(void stored.set(number, order)),
      remove: (number) => Promise.resolve(void stored.delete(number)),
    },
    execd: {
      call: (method: string, params: unknown) => {
        const code = answers.shift();
        if (code !== undefined) return Promise.reject(new BusError(code, `it says ${code}`));
        if (method === 'config') return Promise.resolve({ 'active-response': { disabled: 'no' } });
        taken.push((params as { message: string }).message);
        return Promise.resolve({});
      },
    } as never,
    deadlineMs: 1000,
    pauseMs: 1,
    waitMs: 500,
    signal: stopped.signal,
    logger,
  });
  after(() => {
    stopped.abort();
  });

  it('are handed over once it is there, and not twice when nobody knows whether it has them', async () => {
    answers = ['unavailable', 'busy', 'too_many'];
    orders.take('{"command":"a0"}');
    await eventually('it is taken', () => taken.length === 1);
    answers = ['timeout'];
    orders.take('{"command":"b0"}');
    await eventually('it is lost', () => orders.counters.failed === 1);
    expect(taken).to.deep.equal(['{"command":"a0"}']);
    await eventually('nothing of them is kept', () => stored.size === 0);
    expect(logger.lines).to.deep.equal(['error: An order of the manager did not get to svc-execd: it says timeout']);
  });

  it('are given up after a while, and what it refuses at once', async () => {
    answers = Array.from({ length: 10_000 }, () => 'unavailable');
    orders.take('{"command":"c0"}');
    await eventually('it is given up', () => orders.counters.failed === 2);
    answers = ['unknown_command'];
    orders.take('{"command":"d0"}');
    await eventually('it is refused', () => orders.counters.refused === 1);
    expect([answers, taken.length]).to.deep.equal([[], 1]);
  });

  it('are dropped when there are too many, or too much of one', async () => {
    answers = ['unavailable'];
    for (let index = 0; index < 300; index += 1) orders.take(`{"command":"${String(index)}"}`);
    expect(orders.counters.dropped).to.equal(300 - 256);
    orders.take('x'.repeat(65_537));
    expect(orders.counters.refused).to.equal(2);
    await eventually('the others are taken', () => taken.length === 257);
    expect(taken.slice(1)).to.deep.equal(Array.from({ length: 256 }, (_, index) => `{"command":"${String(index)}"}`));
  });

  it('tell what is in force', async () => {
    expect(await orders.section('active-response')).to.equal('ok {"active-response":{"disabled":"no"}}');
    answers = ['unknown_section', 'unavailable'];
    expect(await orders.section('nosuch')).to.equal('err Could not get requested section');
    expect(await orders.section('active-response')).to.equal('err it says unavailable');
  });

  it('wait on the disk, in their order, for the next start', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'svc-orders-'));
    const texts: string[] = [];
    let isThere = false;
    const open = async () => {
      const store = await OrderStore.open(directory, logger);
      const ended = new AbortController();
      const waiting = new ResponseOrders({
        execd: {
          call: (_method: string, { message }: { message: string }) => {
            if (!isThere) return Promise.reject(new BusError('unavailable', 'it is away'));
            texts.push(message);
            return Promise.resolve({});
          },
        } as never,
        ...{ store, deadlineMs: 1000, pauseMs: 1, logger, signal: ended.signal },
      });
      waiting.start();
      return { store, waiting, ended };
    };
    const before = await open();
    for (const name of ['a', 'b', 'c']) before.waiting.take(name);
    await eventually('they are kept', () => before.store.all().length === 3);
    before.ended.abort();
    await before.store.close();
    isThere = true;
    const after = await open();
    await eventually('they are taken', () => texts.length === 3 && after.store.all().length === 0);
    expect(texts).to.deep.equal(['a', 'b', 'c']);
    after.waiting.take('d');
    await eventually('it is taken', () => texts.length === 4 && after.store.all().length === 0);
    after.ended.abort();
    await after.store.close();
    rmSync(directory, { recursive: true });
  });
});
