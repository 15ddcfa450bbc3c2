import { expect } from 'chai';
import type { Agent } from '../../../../daemons/remoted/agent-link.js';
import {
  FEW_SYNC_MESSAGES,
  FEWEST_SYNCHRONISING,
  MANY_SYNC_MESSAGES,
  MAX_SYNC_ORDERS_PER_AGENT,
} from '../../../../daemons/remoted/remoted-limits.js';
import { SyncPace } from '../../../../daemons/remoted/sync-pace.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

const LOOK_MS = 250;
const QUIET_MS = 1500;

describe('pace of agents that synchronise', () => {
  let sent: string[];
  let pace: SyncPace;
  let logger: RecordingLogger;
  let now: number;

  beforeEach(() => {
    sent = [];
    now = 0;
    logger = new RecordingLogger();
    pace = new SyncPace({ send: ({ id }, order) => sent.push(`${id} ${order.toString()}`), logger, now: () => now });
  });

  const agents = (count: number): Agent[] =>
    Array.from({ length: count }, (_none, index) => ({ id: String(index + 1).padStart(3, '0') }) as Agent);
  const order = Buffer.from('no_data');
  const look = (messages: number): void => {
    now += LOOK_MS;
    pace.look(messages);
  };

  it('sends the orders of some at once, and of the others when it is their turn', () => {
    const all = agents(FEWEST_SYNCHRONISING + 2);
    for (const agent of all) pace.offer(agent, order);
    expect(sent).to.have.length(FEWEST_SYNCHRONISING);
    expect(pace.waiting).to.equal(2);
    // Those that are asked go on sending, and svc-db has enough to do.
    for (const agent of all) pace.heard(agent);
    look(FEW_SYNC_MESSAGES);
    expect(sent).to.have.length(FEWEST_SYNCHRONISING);
    pace.offer(all[0]!, Buffer.from('more'));
    expect(sent.at(-1), 'one that sends is asked on').to.equal('001 more');
    now += QUIET_MS;
    pace.look(FEW_SYNC_MESSAGES);
    expect(sent).to.have.length(all.length + 1);
    expect(pace.waiting).to.equal(0);
  });

  it('asks more as long as svc-db keeps up, and fewer when it does not', () => {
    const all = agents(4000);
    for (const agent of all) pace.offer(agent, order);
    const heard = (): void => {
      for (const agent of all) pace.heard(agent);
    };
    let before = pace.active;
    for (let times = 0; times < 8; times += 1) {
      heard();
      look(0);
      expect(pace.active).to.be.greaterThan(before);
      before = pace.active;
    }
    heard();
    look(MANY_SYNC_MESSAGES + 1);
    expect(pace.active, 'nobody is told to stop').to.equal(before);
    now += QUIET_MS;
    pace.look(MANY_SYNC_MESSAGES + 1);
    expect(pace.active, 'but fewer come after them').to.be.within(FEWEST_SYNCHRONISING, before * 0.75);
    for (let times = 0; pace.waiting > 0; times += 1) {
      now += QUIET_MS;
      pace.look(0);
      expect(times).to.be.below(40);
    }
    expect(new Set(sent).size).to.equal(all.length);
    expect(pace.counters).to.deep.equal({ held: 4000 - FEWEST_SYNCHRONISING, dropped: 0 });
  });

  it('keeps the orders of an agent together and in their order, and has not too many of one', () => {
    for (const agent of agents(FEWEST_SYNCHRONISING)) pace.offer(agent, order);
    const [late] = [{ id: '999' } as Agent];
    const names = Array.from({ length: MAX_SYNC_ORDERS_PER_AGENT + 3 }, (_none, index) => `o${String(index)}`);
    for (const name of names) pace.offer(late, Buffer.from(name));
    expect(pace.counters.dropped).to.equal(3);
    expect(logger.lines.filter((line) => line.startsWith('warn'))).to.have.length(1);
    now += QUIET_MS;
    pace.look(0);
    const kept = names.slice(0, MAX_SYNC_ORDERS_PER_AGENT).map((name) => `999 ${name}`);
    expect(sent.slice(FEWEST_SYNCHRONISING)).to.deep.equal(kept);
  });

  it('lets nobody keep a place for ever while others wait, however much svc-db has to do', () => {
    const greedy = agents(FEWEST_SYNCHRONISING);
    for (const agent of greedy) pace.offer(agent, order);
    const late = { id: '999' } as Agent;
    pace.offer(late, order);
    const minute = 60_000 / LOOK_MS;
    for (let times = 0; times < minute; times += 1) {
      expect(sent, 'it is not its turn yet').to.not.include('999 no_data');
      for (const agent of greedy) pace.heard(agent);
      look(MANY_SYNC_MESSAGES + 1);
    }
    expect(sent).to.include('999 no_data');
  });

  it('sends nothing after it was closed', () => {
    for (const agent of agents(FEWEST_SYNCHRONISING + 5)) pace.offer(agent, order);
    pace.close();
    now += QUIET_MS;
    pace.look(0);
    expect(sent).to.have.length(FEWEST_SYNCHRONISING);
  });
});
