import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { expect } from 'chai';
import { runControl } from '../../../bin/control/control-command.js';
import { ObjectBlobs } from '../../../daemons/clusterd/files/object-blobs.js';
import { Seal } from '../../../daemons/clusterd/nats/sealing.js';
import { StreamRoom } from '../../../daemons/clusterd/nats/stream-room.js';
import { BusError } from '../../../lib/bus/bus-error.js';
import { clusterSubjects } from '../../../lib/cluster/cluster-subjects.js';
import { productCatalogue } from '../../../lib/control/daemon-catalogue.js';
import { ClusterHome } from '../../support/cluster/cluster-homes.js';
import { eventually } from '../../support/eventually.js';
import { natsServers } from '../../support/nats/nats-servers.js';

const CLUSTER = 'office';
const PLAN = clusterSubjects(CLUSTER);
const MIB = 1024 ** 2;

describe('what a stolen credential of a node can fill', function () {
  this.timeout(120_000);
  const servers = natsServers({ cluster: CLUSTER });
  let home: ClusterHome;
  let thief: NatsConnection;

  before(async () => {
    home = new ClusterHome('n1', servers());
    await home.start('svc-clusterd');
    await eventually('the cluster is there', async () => {
      const { writable, master } = await home.clusterd.call('cluster.view', {});
      return writable && master === 'n1';
    });
    thief = await servers().connect('n2');
  });
  after(() => home.close());

  async function isRefused(subject: string): Promise<void> {
    const found: string[] = [];
    void (async () => {
      for await (const status of thief.status()) if (status.type === 'error') found.push(status.error.message);
    })();
    thief.publish(subject, '{}');
    await thief.flush();
    await eventually(`${subject} is refused`, () => found.some((text) => text.includes(`"${subject}"`)));
  }
  const room = async (...args: string[]) => {
    const said = { code: 0, text: '' };
    const write = (text: string) => (said.text += text);
    const catalogue = productCatalogue();
    said.code = await runControl(['cluster', 'room', ...args, '--folder', servers().folder], {
      catalogue,
      write,
      writeError: write,
      terminal: false,
    });
    return said;
  };
  const admin = async () => jetstreamManager(await servers().connectAs('admin'));
  const add = async (key: string) => {
    const basis = (await home.clusterd.call('cluster.view', {})).revision;
    const value = { name: key, ip: 'any', key: 'k'.repeat(64), dateAdd: 1 };
    return home.clusterd
      .call('records.commit', { basis, kinds: ['agent'], changes: [{ kind: 'agent', key, value }] })
      .catch((error: unknown) => error as BusError);
  };

  it('is not the lease: its stream has one subject, and no other is taken', async () => {
    const { config } = await (await admin()).streams.info(PLAN.streams.lease.name);
    expect([config.subjects, config.max_msgs_per_subject]).to.deep.equal([[PLAN.lease], 1]);
    await isRefused(`${PLAN.root}.lease.other`);
    await isRefused(`${PLAN.lease}.more`);
    for (let count = 0; count < 10; count += 1) await jetstream(thief).publish(PLAN.lease, 'x'.repeat(3000));
    expect((await (await admin()).streams.info(PLAN.streams.lease.name)).state.messages).to.equal(1);
    await eventually('somebody holds it again', async () => (await home.clusterd.call('lease.check', {})).held, 60_000);
  });

  it('is nothing that no node publishes, and no consumer of what no node follows', async () => {
    for (const subject of [
      `${PLAN.root}.shared.agent.001.more`,
      `${PLAN.root}.shared.agent`,
      `${PLAN.root}.alerts.n2.more`,
      `${PLAN.tell('n2')}.svc-db.more`,
      `${PLAN.ask('n1')}.more`,
      `$O.${PLAN.files.bucket}.other`,
      `$O.${PLAN.files.bucket}.C.a.b`,
      `$JS.API.CONSUMER.CREATE.${PLAN.streams.lease.name}`,
      `$JS.API.CONSUMER.DURABLE.CREATE.${PLAN.streams.shared.name}.any`,
      `$JS.API.CONSUMER.DURABLE.CREATE.${PLAN.files.name}.any`,
    ]) {
      await isRefused(subject);
    }
  });

  it('is the records, up to their limit: it is said before, it is said what fails, and an administrator makes room', async () => {
    const manager = await admin();
    const { name } = PLAN.streams.shared;
    const { config } = await manager.streams.info(name);
    await manager.streams.update(name, { ...config, max_bytes: 2 * MIB });
    const warnings: string[] = [];
    const node = await servers().connect('n3');
    const session = { nc: node, js: jetstream(node), jsm: await jetstreamManager(node, { checkAPI: false }) };
    const watch = new StreamRoom({
      link: { connected: true, session: () => session },
      subjects: PLAN,
      logger: { warn: (text) => warnings.push(text), info: (text) => warnings.push(text) },
    });
    await watch.look();
    expect(warnings).to.deep.equal([]);

    const fill = async () => {
      for (let count = 0; ; count += 1) {
        const made = await jetstream(thief)
          .publish(`${PLAN.root}.shared.agent.made-up-${count}`, 'x'.repeat(200_000))
          .catch(() => undefined);
        if (made === undefined) return;
      }
    };
    await fill();
    await watch.look();
    expect(watch.used['records']).to.be.at.least(80);
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.match(
      /^The records of the cluster take \d+ % of the 2 MiB that NATS keeps of them \(stream SVC_office_SHARED\)/,
    );
    expect(warnings[0]).to.include("'svc-control cluster room GIB --of records' makes room");
    await watch.look();
    expect(warnings).to.have.length(1);

    // A small record still fits, a little later none does.
    for (let count = 0; count < 400; count += 1) {
      if (
        (await jetstream(thief)
          .publish(`${PLAN.root}.shared.agent.little-${count}`, 'x'.repeat(900))
          .catch(() => undefined)) === undefined
      ) {
        break;
      }
    }
    await eventually('the node knows all of it', async () => {
      const { state } = await manager.streams.info(name);
      return (await home.clusterd.call('cluster.view', {})).revision === state.last_seq;
    });
    const refused = await add('001');
    expect(refused).to.be.instanceOf(BusError);
    expect(String(refused)).to.match(/maximum bytes exceeded; nothing was made/);

    expect(await room('1', '--of', 'alerts')).to.include({ code: 1 });
    const { code, text } = await room('1');
    expect([code, text]).to.deep.equal([0, `${name}  0 -> 1 GiB, of which 0 are taken\n`]);
    expect(await add('001')).to.have.property('revision');
    await watch.look();
    expect(warnings.at(-1)).to.match(/^There is room again for the records of the cluster/);
  });

  it('is not the disk of the servers by way of files: they have a limit of their own', async () => {
    const node = await servers().connect('n1');
    const session = { nc: node, js: jetstream(node), jsm: await jetstreamManager(node, { checkAPI: false }) };
    const seal = new Seal(servers().key, CLUSTER, 'files');
    const blobs = new ObjectBlobs({ link: { session: () => session }, subjects: PLAN, seal, replicas: 3 });
    await blobs.put('any', Buffer.from('content'));
    expect(String(await blobs.get('any'))).to.equal('content');
    const { config } = await (await admin()).streams.info(PLAN.files.name);
    expect(config).to.include({ max_bytes: 4 * 1024 * MIB, discard: 'new' });
    const { code, text } = await room('3', '--of', 'files');
    expect([code, text]).to.deep.equal([0, `${PLAN.files.name}  4 -> 3 GiB, of which 0 are taken\n`]);
    expect((await room('40', '--of', 'files')).text).to.match(/NATS does not give .* 40 GiB: .*storage/);
  });
});
