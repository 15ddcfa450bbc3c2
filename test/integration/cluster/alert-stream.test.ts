import { randomBytes } from 'node:crypto';
import { jetstreamManager } from '@nats-io/jetstream';
import { expect } from 'chai';
import { AlertMessages } from '../../../daemons/clusterd/alerts/alert-messages.js';
import { Seal } from '../../../daemons/clusterd/nats/sealing.js';
import { clusterdContract } from '../../../lib/bus/contracts/clusterd.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { clusterSubjects } from '../../../lib/cluster/cluster-subjects.js';
import { AlertNode } from '../../support/cluster/alert-node.js';
import { eventually } from '../../support/eventually.js';
import { SyslogServer } from '../../support/monitord/syslog-server.js';
import { natsServers } from '../../support/nats/nats-servers.js';

const PATIENCE_MS = 90_000;
const idOf = (text: string) => /"id":"((?:n\d|small)\.\d+)"/.exec(text)?.[1] ?? text;

describe('the alerts of all nodes of a cluster', function () {
  this.timeout(240_000);
  const servers = natsServers();
  const small = natsServers({ servers: 1, managers: ['small'] });
  const nodes: AlertNode[] = [];
  const subjects = clusterSubjects('test');

  const make = (name: string, configuration?: string) => {
    const node = new AlertNode(name, servers(), configuration);
    nodes.push(node);
    return node;
  };
  afterEach(async () => {
    await Promise.all(nodes.splice(0).map((node) => node.close()));
  });

  /** Ids of what is in the stream, of one node. */
  const published = async (node: string): Promise<string[]> => {
    const manager = await jetstreamManager(await servers().connectAs('admin'), { checkAPI: false });
    const messages = new AlertMessages(subjects, new Seal(servers().key, 'test', 'alerts'));
    const { name } = subjects.streams.alerts;
    const { state } = await manager.streams.info(name);
    const ids: string[] = [];
    for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
      const message = await manager.streams.getMessage(name, { seq });
      if (message === null) continue;
      const batch = await messages.read(message.subject, message.data);
      if (batch.node === node) ids.push(...batch.alerts.map(idOf));
    }
    return ids;
  };
  const begun = async (node: AlertNode) => {
    const client = new RequestClient({ contract: clusterdContract, path: node.home.socket('svc-clusterd') });
    await eventually(
      'it publishes',
      async () => (await client.call('alerts.needed', {}).catch(() => ({ file: null }))).file !== null,
      PATIENCE_MS,
    );
    client.close();
  };

  it('are in one stream once and in order, whatever is killed while they come into it', async () => {
    const node = make('n3');
    await node.start('svc-clusterd');
    await begun(node);
    for (let round = 0; round < 30; round += 1) {
      node.write(50);
      if (round % 10 === 4) {
        await node.kill();
        node.write(50);
        await node.start('svc-clusterd');
      }
      if (round === 7) await servers().server('n1').kill();
      if (round === 17) await (await servers().leader())?.kill();
      if (round % 10 === 9) await Promise.all(servers().servers.map((server) => server.start()));
      // So that what is killed is at work then.
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await servers().ready();
    const { written } = node;
    await eventually(
      'all are published',
      async () => (await published('n3').catch(() => [])).length >= written.length,
      PATIENCE_MS,
    );
    expect(await published('n3')).to.deep.equal(written);
  });

  it('of a node that handed on its own meanwhile are those before and behind', async () => {
    const node = make('n2');
    const startAnew = async (outputs: 'node' | 'cluster') => {
      await node.stop();
      node.configure(outputs);
      await node.start('svc-clusterd');
    };
    const come = (count: number) =>
      eventually('they come', async () => (await published('n2').catch(() => [])).length === count, PATIENCE_MS);
    await node.start('svc-clusterd');
    await begun(node);
    node.write(3);
    await come(3);
    await startAnew('node');
    node.write(3);
    await startAnew('cluster');
    await begun(node);
    node.write(3);
    await come(6);
    expect(await published('n2')).to.deep.equal([...node.written.slice(0, 3), ...node.written.slice(6)]);
  });

  it('wait in the files of their node as long as an output has not taken what would be dropped for them', async () => {
    const node = new AlertNode('small', small(), '', 1);
    nodes.push(node);
    await node.start('svc-clusterd');
    await begun(node);
    const client = new RequestClient({ contract: clusterdContract, path: node.home.socket('svc-clusterd') });
    const output = 'testedoutput';
    const take = () => client.call('alerts.take', { output, waitMs: 1000 }, { deadlineMs: 20_000 });
    expect((await take()).batch).to.equal(null);
    // Nothing that could be compressed: three times what the stream has room for.
    node.write(150, () => randomBytes(15_000).toString('base64'));
    await eventually('the node waits', () => node.output.includes('has not taken what would be dropped'), PATIENCE_MS);
    const taken: string[] = [];
    let missed = 0;
    await eventually(
      'all are taken',
      async () => {
        const { batch } = await take();
        if (batch === null) return false;
        missed += batch.missed;
        taken.push(...batch.alerts.map(idOf));
        await client.call('alerts.done', { output, receipt: batch.receipt });
        return taken.length >= node.written.length;
      },
      PATIENCE_MS,
    );
    client.close();
    expect(taken).to.deep.equal(node.written);
    expect(missed).to.equal(0);
  });

  it('are handed on by one node at a time, and by another when that is killed', async () => {
    const syslog = new SyslogServer();
    await syslog.start();
    const output = `<syslog_output><server>127.0.0.1</server><port>${String(syslog.port)}</port><protocol>tcp</protocol>
      <format>json</format></syslog_output>`;
    const [first, second] = [make('n1', output), make('n2', output)];
    const received = () => syslog.messages.map(idOf);
    const missing = () => {
      const got = new Set(received());
      return [...first.written, ...second.written].filter((id) => !got.has(id));
    };
    try {
      await Promise.all(nodes.map((node) => node.start('svc-clusterd', 'svc-monitord')));
      await Promise.all(nodes.map(begun));
      const manager = await jetstreamManager(await servers().connectAs('admin'), { checkAPI: false });
      const { name } = subjects.streams.alerts;
      await eventually(
        'the output begins',
        async () => (await manager.consumers.list(name).next()).length === 1,
        PATIENCE_MS,
      );
      first.write(100);
      second.write(100);
      await eventually('all of both came', () => missing().length === 0, PATIENCE_MS);
      expect(received().length, 'each once').to.equal(200);

      first.write(300);
      second.write(300);
      await eventually('some came', () => received().length > 250, PATIENCE_MS);
      await first.kill();
      second.write(100);
      const ofSecond = () => missing().filter((id) => id.startsWith('n2'));
      await eventually('those of the other all came', () => ofSecond().length === 0, PATIENCE_MS);
      await first.start('svc-clusterd', 'svc-monitord');
      await eventually('all came', () => missing().length === 0, PATIENCE_MS);
      expect(received().length - new Set(received()).size, 'twice').to.be.at.most(400);
    } catch (error) {
      console.log(nodes.map((node) => node.output.slice(-3000)).join('\n---\n'));
      throw error;
    } finally {
      await syslog.stop();
    }
  });
});
