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
  /** Agent and texts of each that goes along. */
  readonly agents: readonly (readonly [agent: string, texts: readonly string[]])[];
  /** @param orders of the first agent */
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
      call: (method, { agents }) =>
        new Promise((resolve, reject) => {
          asked.push({
            method,
            agents: agents.map(({ agent: id, messages }) => [id, messages.map((each) => Buffer.from(each).toString())]),
            answer: (orders = [], failed = 0) => {
              const first = {
                ...{ orders: orders.map((order) => Buffer.from(order)), failed },
                ...(failed > 0 && { reason: 'dbsync: Invalid component specified.' }),
              };
              resolve({ answers: agents.map((_each, index) => (index === 0 ? first : { orders: [], failed: 0 })) });
            },
            fail: () => {
              reject(new Error('svc-db is not there'));
            },
          });
        }),
      send: ({ id }, payload) => sent.push(`${id} ${payload.toString()}`),
      logger,
      now: () => 0,
    });
  });

  const names = (count: number): string[] => Array.from({ length: count }, (_none, index) => `m${String(index)}`);
  const textsOf = ({ agents }: Asked): string[] => agents.flatMap(([, texts]) => texts);
  /** Answers what is asked, also what is asked upon that. */
  const answerAll = async (orders: readonly string[] = []): Promise<void> => {
    for (const call of asked) {
      call.answer(orders);
      await turn();
    }
  };

  it('asks in order, what waits together, and takes the answers back', async () => {
    const one = agent('001');
    const all = names(MAX_SYNC_CALL_MESSAGES + 40);
    for (const name of all) relay.take(one, 'fim_file', Buffer.from(name));
    expect(asked.map(textsOf)).to.deep.equal([['m0'], ['m1']]);
    for (let index = 0; index < 4; index += 1) {
      asked[index]?.answer(index === 2 ? ['fim_file dbsync no_data {"id":1}', 'fim_file dbsync checksum_fail {}'] : []);
      await turn();
    }
    expect(asked.map((call) => textsOf(call).length)).to.deep.equal([1, 1, MAX_SYNC_CALL_MESSAGES, 38]);
    expect(asked.flatMap(textsOf)).to.deep.equal(all);
    expect(sent).to.deep.equal(['001 #!-fim_file dbsync no_data {"id":1}', '001 #!-fim_file dbsync checksum_fail {}']);
    expect(relay.waiting).to.equal(0);
    const received = all.length;
    expect(relay.counters).to.deep.equal({ received, answered: 2, dropped: 0, failed: 0 });
  });

  it('asks the store of inventories about those, beside that of files', async () => {
    const one = agent('001');
    for (const name of names(10)) relay.take(one, 'fim_file', Buffer.from(name));
    relay.take(one, 'syscollector', Buffer.from('package'));
    expect(asked.at(-1)).to.deep.include({ method: 'inventory.sync_all', agents: [['001', ['package']]] });
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
    expect(textsOf(asked[2]!)).to.have.length(Math.ceil(MAX_SYNC_CALL_BYTES / message.length));
  });

  it('has what waits of many agents go along together, each in its turn and its order', async () => {
    const agents = Array.from({ length: 600 }, (_none, index) => agent(String(index + 1).padStart(3, '0')));
    for (const name of names(3)) for (const each of agents) relay.take(each, 'syscollector', Buffer.from(name));
    expect(asked, 'so many calls, of one message each').to.have.length(MAX_SYNC_CALLS);
    await answerAll();
    const received = agents.length * 3;
    expect(asked.flatMap(textsOf)).to.have.length(received);
    expect(asked.length).to.be.below(2 * MAX_SYNC_CALLS + Math.ceil(received / MAX_SYNC_CALL_MESSAGES));
    for (const { id } of agents) {
      const own = asked.flatMap((call) => call.agents.filter(([name]) => name === id).flatMap(([, texts]) => texts));
      expect(own, id).to.deep.equal(names(3));
    }
    for (const call of asked) expect(textsOf(call).length).to.be.at.most(MAX_SYNC_CALL_MESSAGES);
    expect(relay.counters).to.deep.equal({ received, answered: 0, dropped: 0, failed: 0 });
  });

  it('keeps nobody waiting behind one that sends much', async () => {
    const busy = agent('001');
    for (const name of names(3000)) relay.take(busy, 'fim_file', Buffer.from(name));
    relay.take(agent('002'), 'fim_file', Buffer.from('other'));
    expect(asked.at(-1)?.agents).to.deep.equal([['002', ['other']]]);
    await answerAll();
    expect(asked.flatMap(textsOf)).to.have.length(3001);
  });

  it('drops what finds no room, and what is not answered, and counts both', async () => {
    const one = agent('001');
    const all = MAX_SYNC_MESSAGES_PER_AGENT + MAX_SYNC_CALLS_PER_AGENT;
    for (let index = 0; index < all + 3; index += 1) relay.take(one, 'fim_file', Buffer.from('x'));
    expect(relay.counters).to.include({ dropped: 3 });
    relay.take(agent('002'), 'fim_file', Buffer.from('other'));
    // Others are asked meanwhile.
    expect(asked.at(-1)?.agents).to.deep.equal([['002', ['other']]]);
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
