import { randomUUID } from 'node:crypto';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Objm } from '@nats-io/obj';
import type { NatsConnection } from '@nats-io/transport-node';
import { expect } from 'chai';
import { clusterSubjects } from '../../../lib/cluster/cluster-subjects.js';
import { eventually } from '../../support/eventually.js';
import { natsServers } from '../../support/nats/nats-servers.js';

const CLUSTER = 'head office.1';
const PLAN = clusterSubjects(CLUSTER);
const ENCODER = new TextEncoder();

/** What the server refused a connection since it was asked to listen. */
function refusals(connection: NatsConnection): string[] {
  const found: string[] = [];
  void (async () => {
    for await (const status of connection.status()) {
      if (status.type === 'error') found.push(status.error.message);
    }
  })();
  return found;
}

describe('what a NATS credential of a node may do', function () {
  this.timeout(60_000);
  const servers = natsServers({ cluster: CLUSTER });

  before(async () => {
    const admin = await servers().connectAs('admin');
    const manager = await jetstreamManager(admin, { checkAPI: false });
    for (const { name, subjects } of Object.values(PLAN.streams)) {
      await manager.streams.add({
        name,
        subjects: [...subjects],
        num_replicas: 3,
        max_msgs_per_subject: 1,
        allow_direct: true,
      });
    }
  });

  it('is all that svc-clusterd does', async () => {
    const node = await servers().connect('n1');
    const refused = refusals(node);
    const manager = await jetstreamManager(node);
    const client = jetstream(node);
    for (const { name, subjects } of Object.values(PLAN.streams)) {
      expect((await manager.streams.info(name)).config.subjects).to.deep.equal(subjects);
    }
    const { streams } = PLAN;
    const agent = `${PLAN.root}.shared.agent.001`;
    const { last_seq: lastSequence } = (await manager.streams.info(streams.shared.name)).state;
    const { seq } = await client.publish(agent, 'a', { expect: { lastSequence } });
    await client.publish(PLAN.lease, 'a');
    await client.publish(PLAN.alerts('n1'), 'a', { msgID: randomUUID() });
    expect((await manager.streams.getMessage(streams.shared.name, { seq }))?.string()).to.equal('a');
    // Any replica answers these two, also one that comes behind the others.
    await eventually('the message is read directly', async () => {
      const found = await manager.direct.getMessage(streams.shared.name, { last_by_subj: agent });
      return found?.seq === seq && found.string() === 'a';
    });

    await manager.consumers.add(streams.alerts.name, { durable_name: 'mail', ack_policy: 'explicit' });
    await eventually('the consumer is listed', async () => {
      const found = await manager.consumers.list(streams.alerts.name).next();
      return found.some(({ name }) => name === 'mail');
    });
    const alert = await (await client.consumers.get(streams.alerts.name, 'mail')).next();
    expect(await alert?.ackAck()).to.equal(true);
    await manager.consumers.delete(streams.alerts.name, 'mail');
    const ordered = await client.consumers.get(streams.shared.name);
    expect((await ordered.next())?.string()).to.equal('a');
    expect(refused).to.deep.equal([]);
  });

  it('has files travel from one node to another', async () => {
    const [first, second] = [await servers().connect('n1'), await servers().connect('n2')];
    const refused = [refusals(first), refusals(second)];
    const store = await new Objm(first).create(PLAN.files.bucket, { replicas: 3 });
    const content = new Uint8Array(1_000_000).fill(7);
    await store.putBlob({ name: 'etc/rules' }, content);
    await store.putBlob({ name: 'etc/rules' }, content);
    const other = await new Objm(second).open(PLAN.files.bucket);
    const read = await eventually(
      'the other node sees it',
      async () => (await other.getBlob('etc/rules')) ?? undefined,
    );
    expect(read).to.deep.equal(content);
    await other.delete('etc/rules');
    expect(refused).to.deep.equal([[], []]);
  });

  it('has nodes ask and hear each other', async () => {
    const [asking, asked] = [await servers().connect('n1'), await servers().connect('n2')];
    const heard: string[] = [];
    for (const subject of [PLAN.beat('*'), `${PLAN.root}.tell.>`]) {
      asked.subscribe(subject, { callback: (_error, message) => void heard.push(message.subject) });
    }
    asked.subscribe(PLAN.ask('n2'), {
      callback: (_error, message) => void message.respond(`heard ${message.string()}`),
    });
    await asked.flush();
    asking.publish(PLAN.beat('n1'), '');
    asking.publish(`${PLAN.tell('n1')}.svc-db`, '');
    const answer = await asking.request(PLAN.ask('n2'), 'it', { timeout: 5000 });
    expect(answer.string()).to.equal('heard it');
    await eventually('both are heard', () => heard.length === 2);
    expect(heard).to.have.members([PLAN.beat('n1'), `${PLAN.tell('n1')}.svc-db`]);
  });

  it('ends there for who has stolen it: streams stay as they are', async () => {
    const thief = await servers().connect('n1');
    const attempts = [
      ...[PLAN.streams.shared, PLAN.streams.lease, PLAN.streams.alerts].flatMap(({ name }) =>
        ['DELETE', 'UPDATE', 'PURGE', 'MSG.DELETE', 'SNAPSHOT', 'RESTORE', 'LEADER.STEPDOWN', 'PEER.REMOVE'].map(
          (what) => `STREAM.${what}.${name}`,
        ),
      ),
      ...['DELETE', 'UPDATE', 'MSG.DELETE'].map((what) => `STREAM.${what}.${PLAN.files.name}`),
      'STREAM.CREATE.OTHER',
      'META.LEADER.STEPDOWN',
      'SERVER.REMOVE',
      'ACCOUNT.PURGE.MANAGERS',
      'STREAM.LIST',
    ].map((api) => `$JS.API.${api}`);
    for (const subject of attempts) await isRefused(thief, subject);
    const admin = await jetstreamManager(await servers().connectAs('admin'));
    const { messages } = (await admin.streams.info(PLAN.streams.shared.name)).state;
    expect(messages).to.equal(1);
  });

  it('ends there for who has stolen it: nobody else is spoken for', async () => {
    const thief = await servers().connect('n1');
    for (const subject of [
      PLAN.beat('n2'),
      `${PLAN.tell('n2')}.svc-db`,
      PLAN.alerts('n2'),
      '$SYS.REQ.SERVER.PING',
      '$SYS.REQ.USER.INFO',
      'svc.other.shared.agent.001',
      '_INBOX.any',
    ]) {
      await isRefused(thief, subject);
    }
  });

  it('ends there for who has stolen it: nobody else is listened to', async () => {
    const thief = await servers().connect('n1');
    for (const subject of [
      '>',
      `${PLAN.inbox('n2')}.>`,
      `${PLAN.root}.inbox.>`,
      `${PLAN.root}.inbox.*.*`,
      PLAN.ask('n2'),
      PLAN.ask('*'),
      `${PLAN.root}.>`,
      '$SYS.>',
      '$JS.>',
      '$JS.API.>',
      '$JS.EVENT.>',
      `${PLAN.root}.shared.>`,
      '_INBOX.>',
      'svc.other.>',
    ]) {
      const refused = refusals(thief);
      const { closed } = thief.subscribe(subject, { callback: () => {} });
      await thief.flush();
      await closed.catch(() => {});
      await eventually(`${subject} is refused`, () => refused.some((text) => text.includes(`"${subject}"`)));
    }
  });

  it('is nothing without the seed, and nothing for who has another one', async () => {
    const { connect, nkeyAuthenticator, nkeys } = await import('@nats-io/transport-node');
    const { tls } = servers();
    const stranger = nkeyAuthenticator(nkeys.createUser().getSeed());
    for (const login of [{}, { authenticator: stranger }, { user: 'admin', pass: 'admin' }]) {
      const failed = await connect({ servers: servers().urls, tls, reconnect: false, ...login }).then(
        () => undefined,
        (error: unknown) => String(error),
      );
      expect(failed).to.match(/authorization|authentication/i);
    }
  });

  it('leaves streams to the administrator', async () => {
    const admin = await jetstreamManager(await servers().connectAs('admin'));
    const { config } = await admin.streams.info(PLAN.streams.lease.name);
    await admin.streams.update(PLAN.streams.lease.name, { ...config, num_replicas: 1 });
    await eventually('it has one replica', async () => {
      const { config: changed } = await admin.streams.info(PLAN.streams.lease.name);
      return changed.num_replicas === 1;
    });
  });
});

async function isRefused(connection: NatsConnection, subject: string): Promise<void> {
  const refused = refusals(connection);
  connection.publish(subject, ENCODER.encode('{}'));
  await connection.flush();
  await eventually(`${subject} is refused`, () => refused.some((text) => text.includes(`"${subject}"`)));
}
