import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Deliveries } from '../../../../../daemons/execd/feed/deliveries.js';
import { NodeLanes } from '../../../../../daemons/execd/feed/node-lanes.js';
import { ResponseStore } from '../../../../../daemons/execd/response-store.js';
import { SentOnce } from '../../../../../daemons/remoted/sent-once.js';
import { BusError } from '../../../../../lib/bus/bus-error.js';
import { FakeCluster } from '../../../../support/cluster/fake-cluster.js';
import { eventually } from '../../../../support/eventually.js';
import { RecordingLogger } from '../../../../support/recording-logger.js';

type Row = { node: string; status?: string };
type Sending = { readonly ids: readonly string[]; readonly message: string; readonly once?: string };

const commandOf = (message: string) => /"command":"([a-z]+\d+)"/.exec(message)?.[1] ?? message;

/** svc-remoted of a node: sends to the agents that are connected there. */
class Remoted {
  readonly sent: string[] = [];
  readonly asked: Sending[] = [];
  readonly #once = new SentOnce();

  constructor(private readonly connected: () => readonly string[]) {}

  async send(params: Sending) {
    this.asked.push(params);
    const send = (ids: readonly string[]) => {
      const there = ids.filter((id) => this.connected().includes(id));
      this.sent.push(...there.map((id) => `${id} ${commandOf(params.message)}`));
      const away = ids.filter((id) => !there.includes(id));
      return Promise.resolve(away.map((id) => ({ id, code: 'disconnected', message: 'away' })));
    };
    const failed = await (params.once === undefined
      ? send(params.ids)
      : this.#once.send(params.once, params.ids, send));
    return { sent: params.ids.length - failed.length, failed };
  }
}

describe('deliveries of responses to agents of other nodes', () => {
  let directory: string;
  let store: ResponseStore;
  let cluster: FakeCluster;
  let rows: Map<string, Row>;
  let remoted: Record<'a' | 'b' | 'c', Remoted>;
  let deliveries: Deliveries;
  let logger: RecordingLogger;

  const connectedTo = (node: string) => () => [...rows].filter(([, row]) => row.node === node).map(([id]) => id);
  const db = {
    call: (method: string, { ids = [] }: { ids?: string[] }) => {
      if (method === 'agents.ids') return Promise.resolve({ ids: ['000', ...rows.keys()] });
      const items = ids.map((id) => {
        const { node, status = 'active' } = rows.get(id) ?? { node: 'unknown' };
        return { id, version: 'Wazuh v4.14.7', node_name: node, status };
      });
      return Promise.resolve({ items, unknown: [] });
    },
  };
  const begin = () => {
    deliveries = new Deliveries({
      store: store.feed,
      db: db as never,
      remoted: { call: (_method: string, params: Sending) => remoted.a.send(params) } as never,
      cluster: { self: 'a', lanes: new NodeLanes({ clusterd: cluster.client('a'), logger, retryMs: 5 }) },
      node: () => 'a',
      logger,
      now: () => 1_800_000_000_000,
      retryMs: 5,
    });
    deliveries.start((error) => {
      logger.critical(String(error));
    });
  };
  const add = (command: string, agents: readonly string[], all = false) =>
    deliveries.add(
      { command, extraArgs: [], alert: '{}', expires: 1_800_000_060_000 },
      { agents: [...agents], all },
      [],
    );
  const done = () => eventually('everything is delivered', () => deliveries.waiting === 0);

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'deliveries-'));
    store = await ResponseStore.open(directory);
    cluster = new FakeCluster();
    rows = new Map([
      ['001', { node: 'a' }],
      ['002', { node: 'b' }],
      ['003', { node: 'b' }],
      ['004', { node: 'c' }],
    ]);
    remoted = {
      a: new Remoted(connectedTo('a')),
      b: new Remoted(connectedTo('b')),
      c: new Remoted(connectedTo('c')),
    };
    cluster.onAsk = ({ node, daemon, method, params }) => {
      expect([daemon, method]).to.deep.equal(['svc-remoted', 'agents.send']);
      return remoted[node as 'b' | 'c'].send(params as Sending);
    };
    logger = new RecordingLogger();
    begin();
  });
  afterEach(async () => {
    await deliveries.stop();
    await store.close();
    rmSync(directory, { recursive: true });
    expect(logger.lines.filter((line) => line.startsWith('critical'))).to.deep.equal([]);
  });

  it('go to the node that has each agent', async () => {
    await add('lock1', ['001', '002', '003', '004']);
    await done();
    expect(remoted.a.sent).to.deep.equal(['001 lock1']);
    expect(remoted.b.sent).to.deep.equal(['002 lock1', '003 lock1']);
    expect(remoted.c.sent).to.deep.equal(['004 lock1']);
    expect(deliveries.counts).to.deep.equal({ sent: 4, dropped: 0 });
    await add('lock2', [], true);
    await done();
    expect(remoted.b.sent.slice(2)).to.deep.equal(['002 lock2', '003 lock2']);
  });

  it('wait for a node that is away without keeping others waiting, in their order', async () => {
    const { onAsk } = cluster;
    let away = true;
    cluster.onAsk = (asked) => {
      if (away && asked.node === 'b') throw new BusError('node_away', "Node 'b' of the cluster is not heard");
      return onAsk(asked);
    };
    await add('lock1', ['002', '004']);
    await add('lock2', ['002', '001']);
    await eventually('the others have theirs', () => remoted.c.sent.length + remoted.a.sent.length === 2);
    await eventually('it is noted', () => deliveries.waiting === 2);
    away = false;
    await done();
    expect(remoted.b.sent).to.deep.equal(['002 lock1', '002 lock2']);
    expect(logger.lines.filter((line) => !line.startsWith('debug'))).to.deep.equal([
      "warn: Active responses for agents of node 'b' wait: Node 'b' of the cluster is not heard",
      "info: Active responses for agents of node 'b' are sent again.",
    ]);
  });

  it('do not wait for the answer of a node before others have theirs', async () => {
    const { onAsk } = cluster;
    let answer: () => void = () => {};
    cluster.onAsk = async (asked) => {
      if (asked.node === 'b') await new Promise<void>((resolve) => (answer = resolve));
      return onAsk(asked);
    };
    await add('lock1', ['002', '003']);
    await add('lock2', ['001', '002', '004']);
    await eventually('the others have theirs', () => remoted.c.sent.length + remoted.a.sent.length === 2);
    expect(remoted.b.sent).to.deep.equal([]);
    answer();
    await eventually('the next is asked', () => remoted.b.sent.length === 2);
    await eventually('the rest comes', () => {
      answer();
      return deliveries.waiting === 0;
    });
    expect(remoted.b.sent).to.deep.equal(['002 lock1', '003 lock1', '002 lock2']);
  });

  it('do not overtake an earlier one whose turn comes while others are sent theirs', async () => {
    const { onAsk } = cluster;
    const gates: (() => void)[] = [];
    const gate = () => new Promise<void>((resolve) => gates.push(resolve));
    const send = remoted.a.send.bind(remoted.a);
    remoted.a.send = async (params) => {
      await gate();
      return send(params);
    };
    const open = async () => (await eventually('one is asked', () => gates.shift()))();
    await add('here1', ['001']);
    for (const [command, agent] of [
      ['lock1', '002'],
      ['lock2', '002'],
      ['here2', '001'],
      ['lock3', '002'],
    ] as const) {
      await add(command, [agent]);
    }
    let answer: () => void = () => {};
    cluster.onAsk = async (asked) => {
      await new Promise<void>((resolve) => (answer = resolve));
      return onAsk(asked);
    };
    await open();
    await eventually('the next one here is asked', () => gates.length === 1);
    cluster.onAsk = onAsk;
    answer();
    await eventually('the first is there', () => deliveries.waiting === 3);
    await open();
    await done();
    expect(remoted.b.sent).to.deep.equal(['002 lock1', '002 lock2', '002 lock3']);
  });

  it('are sent once when the answer of a node is lost, also over a restart', async () => {
    const { onAsk } = cluster;
    let lost = 0;
    cluster.onAsk = async (asked) => {
      const answer = await onAsk(asked);
      if (lost >= 3) return answer;
      lost += 1;
      if (lost === 2) void deliveries.stop().then(begin);
      throw new BusError('node_timeout', "Node 'b' did not answer");
    };
    await add('lock1', ['002', '003']);
    await eventually('it was answered at last', () => lost === 3 && deliveries.waiting === 0);
    expect(remoted.b.sent).to.deep.equal(['002 lock1', '003 lock1']);
    expect(remoted.b.asked.length).to.be.greaterThan(3);
  });

  it('follow an agent that moves, and ask nobody for one that is disconnected', async () => {
    rows.set('002', { node: 'b', status: 'disconnected' });
    await add('lock1', ['002']);
    await eventually('it is given up for now', () => deliveries.waiting === 1);
    await add('lock2', ['003']);
    await eventually('the other has it', () => remoted.b.sent.length === 1);
    expect(remoted.b.asked.flatMap(({ ids }) => ids)).to.deep.equal(['003']);
    rows.set('002', { node: 'c' });
    await done();
    expect(remoted.c.sent).to.deep.equal(['002 lock1']);
    rows.set('002', { node: 'a' });
    await add('lock3', ['002']);
    await done();
    expect(remoted.a.sent).to.deep.equal(['002 lock3']);
  });

  it('are given up when the message is one that no agent takes', async () => {
    cluster.onAsk = () => {
      throw new BusError('bad_message', 'too long');
    };
    await add('lock1', ['002']);
    await done();
    expect(deliveries.counts).to.deep.equal({ sent: 0, dropped: 1 });
  });
});
