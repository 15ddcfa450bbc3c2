import {
  AckPolicy,
  DeliverPolicy,
  jetstream,
  type JetStreamManager,
  jetstreamManager,
  type JsMsg,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { expect } from 'chai';
import { AlertMessages } from '../../../daemons/clusterd/alerts/alert-messages.js';
import { alertStream } from '../../../daemons/clusterd/alerts/alert-stream.js';
import { AlertTurns } from '../../../daemons/clusterd/alerts/alert-turns.js';
import type { NatsSession } from '../../../daemons/clusterd/nats/nats-link.js';
import { Seal } from '../../../daemons/clusterd/nats/sealing.js';
import { clusterSubjects } from '../../../lib/cluster/cluster-subjects.js';
import { natsServers } from '../../support/nats/nats-servers.js';
import { RecordingLogger } from '../../support/recording-logger.js';

const FILE = '2026/Nov/ossec-alerts-28.json';
const LIMITS = { replicas: 1, bytes: 32 * 1024 * 1024, ms: 3_600_000 };
const subjects = clusterSubjects('test');
const plan = subjects.streams.alerts;

describe('alerts that NATS passes over', function () {
  this.timeout(60_000);
  const servers = natsServers({ servers: 1, managers: ['n2'] });
  let admin: JetStreamManager;
  let session: NatsSession;
  let messages: AlertMessages;
  let turns: AlertTurns;
  let outputs = 0;
  let output: string;

  before(async () => {
    admin = await jetstreamManager(await servers().connectAs('admin'), { checkAPI: false });
    messages = new AlertMessages(subjects, new Seal(servers().key, 'test', 'alerts'));
  });
  beforeEach(async () => {
    const nc = await servers().connect('n2');
    session = { nc, js: jetstream(nc, { checkAPI: false }), jsm: await jetstreamManager(nc, { checkAPI: false }) };
    await admin.streams.delete(plan.name).catch(() => false);
    await alertStream(session, plan, LIMITS);
    turns = turnsOf();
    outputs += 1;
    output = `testedoutput${String(outputs)}`;
  });
  afterEach(async () => {
    await session.nc.close();
  });

  const turnsOf = () =>
    new AlertTurns({
      link: { session: () => session } as never,
      subjects,
      messages,
      limits: LIMITS,
      logger: new RecordingLogger(),
    });
  /** Puts a message into the stream: its alerts are named by their node and the byte behind them. */
  const publish = async (node: string, start: number | undefined, ...ends: readonly number[]) => {
    const offset = ends.at(-1) ?? 0;
    const payload = await messages.write({
      node,
      instance: `home of ${node}`,
      ...(start === undefined ? {} : { start: { file: FILE, offset: start } }),
      position: { file: FILE, offset },
      alerts: ends.map((end) => `${node}.${String(end)}`),
    });
    const nc = await servers().connectAs('admin');
    await jetstream(nc, { checkAPI: false }).publish(messages.subject(node), payload);
    await nc.close();
  };
  const take = async (from = turns) => {
    const { batch } = await from.take(output, 1000);
    if (batch === null) throw new Error('nothing came');
    return batch;
  };
  const handOn = async (from = turns) => {
    const batch = await take(from);
    await from.done(output, batch.receipt, true);
    return batch;
  };
  /** A consumer as that of the output, which gives so many messages at once. */
  const consumerFor = async (most: number, first = 1) => {
    await admin.consumers.add(plan.name, {
      durable_name: `output_${output}`,
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(30_000),
      max_ack_pending: most,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: first,
    });
  };
  /** The next message goes to somebody else. */
  const elsewhere = async (): Promise<JsMsg> => {
    const consumer = await session.js.consumers.get(plan.name, `output_${output}`);
    const message = await consumer.next({ expires: 1000 });
    if (message === null) throw new Error('nothing came');
    return message;
  };

  it('are handed on in front of the next message, and those that follow come once', async () => {
    await consumerFor(10);
    await publish('n1', undefined, 10, 20);
    await publish('n2', undefined, 7);
    await publish('n1', 20, 30);
    await elsewhere();
    await elsewhere();
    const batch = await handOn();
    expect(batch).to.include({ sequence: 3, missed: 0, skipped: 2 });
    expect(batch.alerts).to.deep.equal(['n1.10', 'n1.20', 'n2.7', 'n1.30']);
    await publish('n1', 30, 40);
    const next = await handOn();
    expect(next).to.include({ sequence: 4, skipped: 0 });
    expect(next.alerts).to.deep.equal(['n1.40']);
  });

  it('come again in front of the message where it is given back', async () => {
    await consumerFor(10);
    await publish('n1', undefined, 10);
    await publish('n1', 10, 20);
    await elsewhere();
    const first = await take();
    await turns.done(output, first.receipt, false);
    const again = await handOn(turnsOf());
    expect(again.alerts).to.deep.equal(['n1.10', 'n1.20']);
    expect(again.alerts).to.deep.equal(first.alerts);
  });

  it('are handed on some at a time where they are many, and the message behind them last', async () => {
    await consumerFor(100);
    const all = Array.from({ length: 45 }, (_, at) => at + 1);
    for (const end of all) await publish('n1', end - 1, end);
    for (let count = 1; count < all.length; count += 1) await elsewhere();
    const sizes: number[] = [];
    const alerts: string[] = [];
    while (alerts.length < all.length) {
      const batch = await handOn();
      expect(batch.sequence).to.equal(45);
      sizes.push(batch.alerts.length);
      alerts.push(...batch.alerts);
    }
    expect(alerts).to.deep.equal(all.map((end) => `n1.${String(end)}`));
    expect(sizes).to.deep.equal([20, 20, 5]);
  });

  it('are found by the positions of their node where the consumer takes them for done', async () => {
    await consumerFor(2);
    await publish('n1', undefined, 10);
    await handOn();
    await publish('n1', 10, 20);
    await publish('n1', 20, 30);
    // One that counts deliveries as the one before did, and takes the next message for done without this node.
    await admin.consumers.delete(plan.name, `output_${output}`);
    await consumerFor(1, 2);
    await (await elsewhere()).ackAck();
    const batch = await handOn();
    expect(batch.alerts).to.deep.equal(['n1.20', 'n1.30']);
  });

  it('are told with their place where they are in no message', async () => {
    await publish('n1', undefined, 5);
    expect((await turns.take(output, 1000)).batch, 'an output begins with what comes').to.equal(null);
    await publish('n1', 5, 10);
    await handOn();
    await publish('n1', 300, 310);
    const batch = await handOn();
    expect(batch.alerts).to.deep.equal(['n1.310']);
    expect(batch.lost).to.deep.equal([{ node: 'n1', file: FILE, from: 10, to: 300 }]);
    await publish('n1', 310, 320);
    expect((await handOn()).lost).to.deep.equal([]);
  });

  it('are not made of where the output begins for two nodes at once, at different messages', async () => {
    await publish('n1', undefined, 10);
    const { consumers, streams } = session.jsm;
    const add = async (...made: Parameters<typeof consumers.add>) => {
      await consumerFor(1);
      return await consumers.add(...made);
    };
    session = { ...session, jsm: { streams, consumers: { add } } as never };
    expect((await handOn()).alerts).to.deep.equal(['n1.10']);
  });

  it('are not taken for those that another node has handed on', async () => {
    const other = turnsOf();
    expect((await turns.take(output, 1000)).batch).to.equal(null);
    await publish('n1', 0, 10);
    await handOn();
    await publish('n1', 10, 20);
    await handOn(other);
    await publish('n1', 20, 30);
    expect(await handOn()).to.deep.include({ alerts: ['n1.30'], skipped: 0, lost: [] });
  });
});
