import { expect } from 'chai';
import type { Agent } from '../../../../daemons/remoted/agent-link.js';
import {
  MAX_SYNC_CALLS,
  MAX_SYNC_CALLS_PER_AGENT,
  MAX_SYNC_MESSAGES_PER_AGENT,
} from '../../../../daemons/remoted/remoted-limits.js';
import { SyncRelay } from '../../../../daemons/remoted/sync-relay.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

type Asked = {
  readonly agent: string;
  readonly text: string;
  readonly answer: (order?: string) => void;
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
      call: (_method, { agent: id, message }) =>
        new Promise((resolve, reject) => {
          asked.push({
            agent: id,
            text: Buffer.from(message).toString(),
            answer: (order) => {
              resolve(order === undefined ? { answer: 'none' } : { answer: 'no_data', order: Buffer.from(order) });
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

  it('asks in order, several of an agent at once, and takes the answers back', async () => {
    const one = agent('001');
    for (let index = 0; index < 40; index++) relay.take(one, 'fim_file', Buffer.from(`m${index}`));
    expect(asked.map(({ text }) => text)).to.deep.equal(
      Array.from({ length: MAX_SYNC_CALLS_PER_AGENT }, (_none, index) => `m${index}`),
    );
    for (let index = 0; index < asked.length; index++) {
      asked[index]?.answer(index === 7 ? 'fim_file dbsync no_data {"id":1}' : undefined);
      await turn();
    }
    expect(asked.map(({ text }) => text)).to.deep.equal(Array.from({ length: 40 }, (_none, index) => `m${index}`));
    expect(sent).to.deep.equal(['001 #!-fim_file dbsync no_data {"id":1}']);
    expect(relay.waiting).to.equal(0);
    expect(relay.counters).to.deep.equal({ received: 40, answered: 1, dropped: 0, failed: 0, unserved: 0 });
  });

  it('gives agents their turns, and keeps to the number of calls', async () => {
    const agents = ['001', '002', '003'].map(agent);
    for (const each of agents) for (let index = 0; index < 30; index++) relay.take(each, 'fim_file', Buffer.from('x'));
    expect(asked).to.have.length(MAX_SYNC_CALLS);
    expect(new Set(asked.map(({ agent: id }) => id)).size).to.equal(2);
    for (let index = 0; index < 6; index++) {
      asked[index]?.answer();
      await turn();
    }
    expect(asked.slice(MAX_SYNC_CALLS).filter(({ agent: id }) => id === '003').length).to.be.greaterThan(1);
    expect(asked).to.have.length(MAX_SYNC_CALLS + 6);
  });

  it('drops what finds no room, and what is not answered, and counts both', async () => {
    const one = agent('001');
    const all = MAX_SYNC_MESSAGES_PER_AGENT + MAX_SYNC_CALLS_PER_AGENT;
    for (let index = 0; index < all + 3; index++) relay.take(one, 'fim_file', Buffer.from('x'));
    relay.take(one, 'syscollector', Buffer.from('x'));
    expect(relay.counters).to.include({ dropped: 3, unserved: 1 });
    relay.take(agent('002'), 'fim_file', Buffer.from('other'));
    expect(asked.at(-1)?.text).to.equal('other');
    for (let index = 0; index < asked.length; index++) {
      asked[index]?.fail();
      if (index % 16 === 0) await turn();
    }
    await turn();
    expect(relay.counters.failed).to.equal(all + 1);
    expect(relay.waiting).to.equal(0);
    expect(sent).to.deep.equal([]);
    expect(logger.lines.map((line) => line.split(':')[0])).to.deep.equal(['warn', 'debug', 'warn']);
  });

  it('sends nothing after it was closed', async () => {
    relay.take(agent('001'), 'fim_file', Buffer.from('x'));
    relay.close();
    asked[0]?.answer('late');
    relay.take(agent('001'), 'fim_file', Buffer.from('x'));
    await turn();
    expect(sent).to.deep.equal([]);
    expect(asked).to.have.length(1);
  });
});
