import { expect } from 'chai';
import { AgentWatch, type AgentWatchSettings } from '../../../../daemons/monitord/agent-watch.js';
import { BusError } from '../../../../lib/bus/bus-error.js';
import type { BusEvent } from '../../../../lib/bus/bus-event.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

const SETTINGS: AgentWatchSettings = {
  disconnectionTime: 900,
  alertTime: 0,
  alerts: true,
  deleteAfterMinutes: 0,
  node: undefined,
};
type Row = { id: string; status: string; lastKeepAlive: number };

describe('the watch over agents', () => {
  let clock: ManualClock;
  let rows: Map<string, Row>;
  let calls: string[];
  let events: BusEvent[];
  let room: number;
  let down: boolean;
  /** Whether svc-db knows who is connected elsewhere. */
  let judged: boolean;
  /** Agents of nodes that are lost. */
  let lost: { id: string; gone: boolean }[];
  /** What lists were asked for. */
  let nodes: unknown[];

  beforeEach(() => {
    clock = new ManualClock('2026-11-20T12:00:00');
    rows = new Map();
    calls = [];
    events = [];
    room = 100;
    down = false;
    judged = true;
    lost = [];
    nodes = [];
  });

  const now = () => clock.now().getTime() / 1000;
  const agentNamed = (id: string) => ({ id, name: `box${id}`, ip: '10.0.0.1', registerIP: 'any' });

  /** Stands for svc-db and svc-authd, which have sockets of their own. */
  function answer(method: string, params: Record<string, unknown>): unknown {
    calls.push(method);
    if (down) throw new BusError('unavailable', 'svc-db is not available');
    const all = [...rows.values()];
    switch (method) {
      case 'agents.disconnect_stale': {
        const stale = all.filter(
          ({ status, lastKeepAlive }) => status === 'active' && lastKeepAlive < Number(params['before']),
        );
        for (const row of stale) row.status = 'disconnected';
        return { agents: stale.map(({ id, lastKeepAlive }) => ({ ...agentNamed(id), lastKeepAlive })), judged };
      }
      case 'agents.lost': {
        const found = lost
          .filter(({ gone }) => judged && gone !== params['disconnect'])
          .map(({ id }) => agentNamed(id));
        if (judged && params['disconnect'] === true) for (const agent of lost) agent.gone = true;
        return { agents: found, judged };
      }
      case 'agents.get': {
        const ids = params['ids'] as string[];
        const items = ids.flatMap((id) => rows.get(id) ?? []);
        return {
          items: items.map((row) => ({ ...row, lastKeepAlive: new Date(row.lastKeepAlive * 1000).toISOString() })),
          unknown: ids.filter((id) => !rows.has(id)),
        };
      }
      case 'agents.list': {
        const seconds = Number.parseInt(String(params['older_than']), 10);
        const old = all.filter(({ lastKeepAlive }) => lastKeepAlive < now() - seconds);
        nodes.push(params['node_name']);
        return { items: old.map(({ id }) => agentNamed(id)), total: old.length };
      }
      default: {
        const removed = (params['ids'] as string[]).filter((id) => rows.delete(id));
        return { removed: removed.map((id) => ({ id, name: `box${id}` })), unknown: [] };
      }
    }
  }

  function watch(changed: Partial<AgentWatchSettings> = {}): AgentWatch {
    const call = (method: string, params: Record<string, unknown>) =>
      Promise.resolve().then(() => answer(method, params));
    return new AgentWatch({
      db: { call } as never,
      authd: { call } as never,
      send: (event) => {
        if (room <= 0) return false;
        room -= 1;
        events.push(event);
        return true;
      },
      clock,
      logger: new RecordingLogger(),
      settings: () => ({ ...SETTINGS, ...changed }),
    });
  }

  async function pass(work: AgentWatch, seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      await clock.sleep(1000);
      await work.tick();
    }
  }
  const active = (id: string, age: number) => rows.set(id, { id, status: 'active', lastKeepAlive: now() - age });
  const texts = () => events.map(({ message }) => message.toString());

  it('looks once a period, and announces each agent once', async () => {
    active('001', 1000);
    active('002', 10);
    const work = watch();
    await pass(work, 9);
    expect(calls).to.deep.equal([]);
    await pass(work, 11);
    expect(texts()).to.deep.equal(["ossec: Agent disconnected: 'box001-any'."]);
    expect(events[0]).to.deep.include({
      queue: '1',
      location: 'wazuh-monitord',
      agent: { id: '001', name: 'box001', ip: 'any', labels: new Map([['_agent_ip', '10.0.0.1']]) },
    });
    await pass(work, 950);
    expect(texts()[1]).to.equal("ossec: Agent disconnected: 'box002-any'.");
    expect(calls.filter((method) => method === 'agents.disconnect_stale')).to.have.length(2);
    expect(events).to.have.length(2);
  });

  it('waits the alert time, and says nothing of agents that come back', async () => {
    active('001', 1000);
    active('002', 1000);
    const work = watch({ alertTime: 300 });
    await pass(work, 20);
    expect(events).to.deep.equal([]);
    expect(work.remembered).to.equal(2);
    active('002', 0);
    await pass(work, 320);
    expect(texts()).to.deep.equal(["ossec: Agent disconnected: 'box001-any'."]);
    expect(work.remembered).to.equal(0);
  });

  it('says that an agent was removed when it is no more', async () => {
    active('001', 1000);
    const work = watch({ alertTime: 300 });
    await pass(work, 20);
    rows.delete('001');
    await pass(work, 320);
    expect(texts()).to.deep.equal(["ossec: Agent removed: 'box001-any'."]);
    expect(events[0]?.agent).to.equal(undefined);
  });

  it('keeps an event while the window is full', async () => {
    active('001', 1000);
    room = 0;
    const work = watch();
    await pass(work, 20);
    expect(events).to.deep.equal([]);
    room = 1;
    await pass(work, 1);
    expect(texts()).to.have.length(1);
  });

  it('tries again soon when svc-db is away', async () => {
    active('001', 1000);
    down = true;
    const work = watch();
    await pass(work, 25);
    expect(calls).to.deep.equal(['agents.disconnect_stale', 'agents.disconnect_stale']);
    down = false;
    await pass(work, 10);
    expect(texts()).to.have.length(1);
  });

  it('deletes agents that were gone for long, where it is told to', async () => {
    active('001', 5000);
    active('002', 10);
    const work = watch({ deleteAfterMinutes: 1 });
    await pass(work, 61);
    expect([...rows.keys()]).to.deep.equal(['002']);
    expect(texts()).to.deep.equal(["ossec: Agent disconnected: 'box001-any'.", "ossec: Agent removed: 'box001-any'."]);
  });

  it('is silent where alerts are off', async () => {
    active('001', 1000);
    await pass(watch({ alerts: false }), 20);
    expect(rows.get('001')?.status).to.equal('disconnected');
    expect(events).to.deep.equal([]);
  });

  it('announces nothing in a cluster while it is not known who is connected elsewhere', async () => {
    active('001', 900);
    const work = watch({ node: 'a', alertTime: 30 });
    await pass(work, 12);
    expect(rows.get('001')?.status).to.equal('disconnected');
    judged = false;
    await pass(work, 40);
    expect(texts()).to.deep.equal([]);
    judged = true;
    await pass(work, 31);
    expect(texts()).to.deep.equal(["ossec: Agent disconnected: 'box001-any'."]);
  });

  it('announces agents of lost nodes once, and not those that are back', async () => {
    lost = [
      { id: '001', gone: false },
      { id: '002', gone: false },
    ];
    const work = watch({ node: 'a', alertTime: 30 });
    await pass(work, 15);
    expect(texts()).to.deep.equal([]);
    lost = lost.slice(1);
    judged = false;
    await pass(work, 40);
    expect(texts()).to.deep.equal([]);
    judged = true;
    await pass(work, 60);
    expect(texts()).to.deep.equal(["ossec: Agent disconnected: 'box002-any'."]);
  });

  it('deletes agents of this node and of lost ones in a cluster', async () => {
    active('001', 5000);
    rows.set('002', { id: '002', status: 'active', lastKeepAlive: now() + 1000 });
    lost = [{ id: '002', gone: true }];
    await pass(watch({ node: 'a', deleteAfterMinutes: 1, alerts: false }), 130);
    expect(nodes).to.deep.include('a');
    expect([...rows.keys()]).to.deep.equal([]);
  });
});
