import { expect } from 'chai';
import type { Agent } from '../../../../daemons/remoted/agent-link.js';
import {
  MAX_SYNC_CALL_BYTES,
  MAX_SYNC_CALL_MESSAGES,
  MAX_SYNC_CALLS,
  MAX_SYNC_CALLS_PER_AGENT,
  MAX_SYNC_MESSAGES_PER_AGENT,
} from '../../../../daemons/remoted/remoted-limits.js';
import { SyncRelay } from '../../../../daemons/remoted/sync-relay.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

type Asked = {
  readonly method: string;
  readonly agent: string;
  readonly texts: readonly string[];
  readonly answer: (orders?: readonly string[], failed?: number) => void;
  readonly fail: () => void;
};

const agent = (id: string): Agent => ({ id }) as Agent;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('relay of the synchronisation', () => {
  let asked: Asked[];
  let sent: string[];
  let relay: SyncRelay;
  let logger: RecordingLogger;

  beforeEach(() => {
    asked = [];
    sent = [];
    logger = new RecordingLogger();
    relay = new SyncRelay({
      call: (method, { agent: id, messages }) =>
        new Promise((resolve, reject) => {
          asked.push({
            method,
            agent: id,
            texts: messages.map((message) => Buffer.from(message).toString()),
            answer: (orders = [], failed = 0) => {
              const answers = orders.map((order) => Buffer.from(order));
              resolve({
                orders: answers,
                failed,
                ...(failed > 0 && { reason: 'dbsync: Invalid component specified.' }),
              });
            },
            fail: () => {
              reject(new Error('svc-db is not there'));
            },
          });
        }),
      send: ({ id }, payload) => sent.push(`${id} ${payload.toString()}`),
      logger,
    });
  });

  it('asks in order, what waits together, and takes the answers back', async () => {
    const one = agent('001');
    const names = Array.from({ length: MAX_SYNC_CALL_MESSAGES + 40 }, (_none, index) => `m${index}`);
    for (const name of names) relay.take(one, 'fim_file', Buffer.from(name));
    expect(asked.map(({ texts }) => texts)).to.deep.equal([['m0'], ['m1']]);
    for (let index = 0; index < 4; index += 1) {
      asked[index]?.answer(index === 2 ? ['fim_file dbsync no_data {"id":1}', 'fim_file dbsync checksum_fail {}'] : []);
      await turn();
    }
    expect(asked.map(({ texts }) => texts.length)).to.deep.equal([1, 1, MAX_SYNC_CALL_MESSAGES, 38]);
    expect(asked.flatMap(({ texts }) => texts)).to.deep.equal(names);
    expect(sent).to.deep.equal(['001 #!-fim_file dbsync no_data {"id":1}', '001 #!-fim_file dbsync checksum_fail {}']);
    expect(relay.waiting).to.equal(0);
    const received = names.length;
    expect(relay.counters).to.deep.equal({ received, answered: 2, dropped: 0, failed: 0 });
  });

  it('asks the store of inventories about those, beside that of files', async () => {
    const one = agent('001');
    for (let index = 0; index < 10; index += 1) relay.take(one, 'fim_file', Buffer.from('file'));
    relay.take(one, 'syscollector', Buffer.from('package'));
    expect(asked.at(-1)).to.deep.include({ method: 'inventory.sync_all', texts: ['package'] });
    asked.at(-1)?.answer(['syscollector_packages dbsync no_data {"id":1}']);
    await turn();
    expect(sent).to.deep.equal(['001 #!-syscollector_packages dbsync no_data {"id":1}']);
  });

  it('does not make a call too large', async () => {
    const one = agent('001');
    const message = Buffer.alloc(60_000, 'x');
    for (let index = 0; index < 2 + 20; index += 1) relay.take(one, 'fim_file', message);
    asked[0]?.answer();
    await turn();
    expect(asked[2]?.texts).to.have.length(Math.ceil(MAX_SYNC_CALL_BYTES / message.length));
  });

  it('gives agents their turns, and keeps to the number of calls', async () => {
    const agents = Array.from({ length: 20 }, (_none, index) => agent(String(index).padStart(3, '0')));
    for (const each of agents) {
      for (let index = 0; index < 30; index += 1) relay.take(each, 'fim_file', Buffer.from('x'));
    }
    expect(asked).to.have.length(MAX_SYNC_CALLS);
    expect(new Set(asked.map(({ agent: id }) => id)).size).to.equal(MAX_SYNC_CALLS / MAX_SYNC_CALLS_PER_AGENT);
    for (let index = 0; index < 8; index += 1) {
      asked[index]?.answer();
      await turn();
    }
    const later = asked.slice(MAX_SYNC_CALLS);
    expect(later).to.have.length(8);
    expect(later.filter(({ agent: id }) => id >= '016').length).to.be.greaterThan(3);
  });

  it('drops what finds no room, and what is not answered, and counts both', async () => {
    const one = agent('001');
    const all = MAX_SYNC_MESSAGES_PER_AGENT + MAX_SYNC_CALLS_PER_AGENT;
    for (let index = 0; index < all + 3; index += 1) relay.take(one, 'fim_file', Buffer.from('x'));
    expect(relay.counters).to.include({ dropped: 3 });
    relay.take(agent('002'), 'fim_file', Buffer.from('other'));
    expect(asked.at(-1)?.texts).to.deep.equal(['other']);
    // Others are asked meanwhile.
    for (const { fail } of asked) {
      fail();
      await turn();
    }
    expect(relay.counters.failed).to.equal(all + 1);
    expect(relay.waiting).to.equal(0);
    expect(sent).to.deep.equal([]);
    expect(logger.lines.map((line) => line.split(':')[0])).to.deep.equal(['warn', 'warn']);
  });

  it('counts the messages that svc-db refuses', async () => {
    relay.take(agent('001'), 'fim_file', Buffer.from('x'));
    asked[0]?.answer([], 1);
    await turn();
    expect(relay.counters).to.include({ failed: 1, answered: 0 });
    expect(logger.lines).to.deep.equal([
      "warn: A message of the synchronisation of agent '001' was not taken: dbsync: Invalid component specified.",
    ]);
  });

  it('sends nothing after it was closed', async () => {
    relay.take(agent('001'), 'fim_file', Buffer.from('x'));
    relay.close();
    asked[0]?.answer(['late']);
    relay.take(agent('001'), 'fim_file', Buffer.from('x'));
    await turn();
    expect(sent).to.deep.equal([]);
    expect(asked).to.have.length(1);
  });
});
