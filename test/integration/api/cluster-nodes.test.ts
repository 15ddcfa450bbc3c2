import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { apidContract } from '../../../lib/bus/contracts/apid.js';
import { clusterdContract } from '../../../lib/bus/contracts/clusterd.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { productRoot } from '../../../lib/product/product-root.js';
import type { ApiList } from '../../support/api/api-list.js';
import { TEST_SETTINGS, TestApi } from '../../support/api/test-api.js';
import { serveContract } from '../../support/bus/serve-contract.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { DbServer } from '../../support/db/db-server.js';
import { eventually } from '../../support/eventually.js';
import { type NatsServers, natsServers } from '../../support/nats/nats-servers.js';

const PLACES: Readonly<Record<number, string>> = { 1: 'n1', 2: 'n2' };

/** One manager of two: its API and svc-db in this process, its svc-clusterd a process of its own. */
class ClusterNode {
  readonly api = new TestApi();
  clusterd: RunningDaemon | undefined;
  readonly #stops: (() => Promise<unknown>)[] = [];

  constructor(readonly name: string) {}

  async start(nats: NatsServers): Promise<void> {
    const { api, name } = this;
    const { home } = api;
    // The clock of the limit stands still.
    await api.start({ access: { ...TEST_SETTINGS.access, maxRequestsPerMinute: 0 } });
    this.#stops.unshift(() => api.stop());
    configure(api, name, nats);
    const db = await DbServer.start(home, () => api.now, name);
    this.#stops.unshift(() => db.stop());
    await db.fill(2);
    await db.registry.edit((edit) => {
      for (const id of [1, 2]) {
        const { record } = db.registry.agents.get(id)!;
        edit.setAgent(id, { ...record, status: 'active', nodeName: PLACES[id]! });
      }
    });
    const server = await serveContract(home, apidContract, { ...api.api.handlers });
    this.#stops.unshift(() => server.stop());
    this.clusterd = await RunningDaemon.start('svc-clusterd', home);
  }

  async get(path: string): Promise<{ status: number; body: ApiList & { error: number; detail?: string } }> {
    const answer = await this.api.call('GET', path);
    return { status: answer.status, body: answer.json() as ApiList };
  }

  async stop(): Promise<void> {
    await this.clusterd?.stop('SIGKILL');
    for (const stop of this.#stops) await stop();
    this.api.home.remove();
  }
}

/** As `svc-control cluster join` does it. */
function configure({ home }: TestApi, name: string, nats: NatsServers): void {
  const { ca, credential } = nats.files(name);
  copyFileSync(new URL('etc/internal_options.conf', productRoot()), home.path('etc', 'internal_options.conf'));
  mkdirSync(home.path('etc', 'cluster'));
  copyFileSync(ca, home.path('etc', 'cluster', 'ca.pem'));
  copyFileSync(credential, home.path('etc', 'cluster', 'node.nk'));
  const urls = nats.urls.map((url) => `<node>${url}</node>`).join('');
  const cluster = `<name>${nats.plan.name}</name><node_name>${name}</node_name><key>${nats.key}</key><nodes>${urls}</nodes>`;
  writeFileSync(home.path('etc', 'manager.conf'), `<manager_config><cluster>${cluster}</cluster></manager_config>\n`);
}

describe('the API of two managers over NATS', function () {
  this.timeout(180_000);
  const servers = natsServers({ servers: 1, managers: ['n2'] });
  const first = new ClusterNode('n1');
  const second = new ClusterNode('n2');
  before(async () => {
    await Promise.all([first, second].map((node) => node.start(servers())));
    for (const { clusterd, name } of [first, second]) {
      await eventually(`${name} has joined`, () => clusterd?.output.includes(`This is node '${name}' of the cluster`));
    }
    await eventually(
      'both are heard',
      async () => {
        const answers = await Promise.all([first, second].map((node) => node.get('/cluster/nodes')));
        return answers.every(({ status, body }) => status === 200 && body.data.total_affected_items === 2);
      },
      60_000,
    );
  });
  after(() => Promise.all([first.stop(), second.stop()]));

  it('answers for both at any of them', async () => {
    const info = await first.get('/cluster/n2/info');
    expect(info.body.data.affected_items[0]).to.include({ path: second.api.home.root });
    const { body } = await second.get('/cluster/api/config');
    expect(body.data.affected_items.map(({ node_name: name }) => name).sort()).to.deep.equal(['n1', 'n2']);
    const stored = await first.get('/sca/002');
    expect([stored.status, stored.body.error]).to.deep.equal([200, 0]);
    const unknown = await first.get('/cluster/n9/info');
    expect([unknown.status, unknown.body.error]).to.deep.equal([404, 1730]);
  });

  it('names a node that is gone, and answers for the other', async () => {
    await second.clusterd?.stop('SIGKILL');
    await eventually(
      'n2 is not heard',
      async () => {
        const { body } = await first.get('/cluster/healthcheck');
        return body.data.failed_items.some(({ error, id }) => error.code === 3022 && id.includes('n2'));
      },
      60_000,
    );
    const stored = await first.get('/sca/002');
    expect([stored.status, stored.body.error]).to.deep.equal([500, 3022]);
    expect(stored.body.detail).to.include('n2');
    expect((await first.get('/sca/001')).status).to.equal(200);
  });

  it('knows nothing of a node that was forgotten, and answers itself for what was there', async () => {
    const client = new RequestClient({ contract: clusterdContract, path: first.api.home.socket('svc-clusterd') });
    await client.call('nodes.forget', { node: 'n2' });
    client.close();
    const shown = await eventually('n2 is shown no more', async () => {
      const { body } = await first.get('/cluster/nodes');
      return body.data.total_affected_items === 1 && body;
    });
    expect(shown.data.affected_items.map(({ name }) => name)).to.deep.equal(['n1']);
    const info = await first.get('/cluster/n2/info');
    expect([info.status, info.body.error]).to.deep.equal([404, 1730]);
    expect((await first.get('/sca/002')).status).to.equal(200);
  });
});
