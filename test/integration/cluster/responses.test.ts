import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Deliveries } from '../../../daemons/execd/feed/deliveries.js';
import { NodeLanes } from '../../../daemons/execd/feed/node-lanes.js';
import { ResponseStore } from '../../../daemons/execd/response-store.js';
import { remotedContract } from '../../../lib/bus/contracts/remoted.js';
import { serveContract } from '../../support/bus/serve-contract.js';
import { ClusterHome } from '../../support/cluster/cluster-homes.js';
import { eventually } from '../../support/eventually.js';
import { natsServers } from '../../support/nats/nats-servers.js';
import { RecordingLogger } from '../../support/recording-logger.js';

describe('a response that is decided at one node for an agent of another', function () {
  this.timeout(120_000);
  const servers = natsServers();
  let directory: string;
  let homes: ClusterHome[] = [];

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'responses-'));
  });
  after(async () => {
    await Promise.all(homes.map((home) => home.close()));
    rmSync(directory, { recursive: true });
  });

  it('is sent there through NATS, and waits while the svc-remoted there is away', async () => {
    const [here, there] = [new ClusterHome('n1', servers()), new ClusterHome('n2', servers())];
    homes = [here, there];
    await Promise.all(homes.map((home) => home.start('svc-clusterd')));
    await eventually('they hear each other', async () =>
      (await here.clusterd.call('cluster.view', {})).nodes.some(({ name, present }) => name === 'n2' && present),
    );
    const store = await ResponseStore.open(directory);
    const logger = new RecordingLogger();
    const row = { id: '002', version: 'Wazuh v4.14.7', node_name: 'n2', status: 'active' };
    const deliveries = new Deliveries({
      store: store.feed,
      db: { call: () => Promise.resolve({ items: [row], unknown: [] }) } as never,
      remoted: { call: () => Promise.reject(new Error('not here')) } as never,
      cluster: { self: 'n1', lanes: new NodeLanes({ clusterd: here.clusterd, logger, retryMs: 100 }) },
      node: () => 'n1',
      logger,
      now: () => 0,
      retryMs: 100,
    });
    deliveries.start((error) => {
      logger.critical(String(error));
    });
    const order = { command: 'block-ip180', extraArgs: [], alert: '{}', expires: 60_000 };
    await deliveries.add(order, { agents: ['002'], all: false }, []);
    await eventually('it waits', () => logger.lines.some((line) => line.includes("of node 'n2' wait")));
    const sent: { readonly ids: unknown; readonly message: string; readonly once: string | undefined }[] = [];
    const remoted = await serveContract(there.home, remotedContract, {
      'agents.send': ({ ids, message, once }: { ids: unknown; message: string; once?: string }) => {
        sent.push({ ids, message, once });
        return { sent: 1, failed: [] };
      },
    });
    await eventually('it is sent', () => deliveries.waiting === 0);
    await deliveries.stop();
    await store.close();
    await remoted.stop();
    expect(sent.map(({ ids }) => ids)).to.deep.equal([['002']]);
    expect(sent[0]?.message).to.include('"command":"block-ip180"');
    expect(sent[0]?.once).to.be.a('string');
    expect(logger.lines.filter((line) => line.startsWith('critical'))).to.deep.equal([]);
  });
});
