import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runControl } from '../../../bin/control/control-command.js';
import { initHome } from '../../../bin/control/home/init-home.js';
import { clusterdContract } from '../../../lib/bus/contracts/clusterd.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { productCatalogue } from '../../../lib/control/daemon-catalogue.js';
import { Home } from '../../../lib/home/home.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { natsServers } from '../../support/nats/nats-servers.js';
import { removeTree } from '../../support/remove-tree.js';
import { fileAttributes, fimEvent } from '../../support/syscheckd/fim-kit.js';
import { knowFewRules } from '../../support/watch-little.js';

/** As far as it is about agents' status: svc-clusterd and svc-db of a manager. */
class Node {
  readonly db: RequestClient<typeof dbContract>;
  readonly clusterd: RequestClient<typeof clusterdContract>;
  readonly daemons = new Map<'svc-clusterd' | 'svc-db', RunningDaemon>();

  constructor(
    readonly name: string,
    readonly home: Home,
  ) {
    this.db = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
    this.clusterd = new RequestClient({ contract: clusterdContract, path: home.socket('svc-clusterd') });
  }

  async join(folder: string): Promise<void> {
    await initHome(this.home, { role: 'server' });
    knowFewRules(this.home);
    let problem = '';
    const code = await runControl(['cluster', 'join', folder, '--home', this.home.root], {
      catalogue: productCatalogue(),
      write: () => {},
      writeError: (text) => (problem += text),
      terminal: false,
    });
    expect([code, problem]).to.deep.equal([0, '']);
  }

  async start(name: 'svc-clusterd' | 'svc-db'): Promise<void> {
    this.daemons.set(name, await RunningDaemon.start(name, this.home));
  }

  async close(): Promise<void> {
    await Promise.all([...this.daemons.values()].map((daemon) => daemon.stop()));
    this.db.close();
    this.clusterd.close();
  }

  /** What svc-remoted tells of an agent that connects. */
  async keepalive(): Promise<void> {
    const at = Math.floor(Date.now() / 1000);
    const changes = { version: 'Wazuh v4.14.7', nodeName: this.name, manager: this.name, labels: [] };
    await this.db.call('agents.keepalives', { agents: [{ id: '001', at, changes }] });
  }

  async register(): Promise<void> {
    await this.db.call('agents.register', { id: '001', name: 'box', dateAdd: 1 });
  }

  /** Where the agent is, as the API would say. */
  async shown(): Promise<string> {
    const { items } = await this.db.call('agents.get', { ids: ['001'], select: ['status', 'node_name'] });
    return `${String(items[0]?.['status'])} at ${String(items[0]?.['node_name'])}`;
  }

  async paths(): Promise<unknown[]> {
    const { items } = await this.db.call('fim.list', { agent: '001' });
    return items.map(({ file }) => file);
  }
}

describe('two managers that know where agents are', function () {
  this.timeout(120_000);
  const nats = natsServers({ servers: 1, managers: ['n2'] });
  const parent = mkdtempSync(join(tmpdir(), 'svc-presence-'));
  let [one, two] = [] as unknown as [Node, Node];

  before(async () => {
    [one, two] = ['n1', 'n2'].map((name) => new Node(name, new Home(join(parent, name)))) as [Node, Node];
    for (const node of [one, two]) {
      await node.join(join(nats().folder, node.name));
      await node.start('svc-clusterd');
      await node.start('svc-db');
      await node.register();
    }
    await eventually('both hear each other', async () => {
      const views = await Promise.all([one, two].map((node) => node.clusterd.call('cluster.view', {})));
      return views.every(({ nodes }) => nodes.filter(({ present }) => present).length === 2);
    });
  });
  after(async () => {
    await Promise.all([one, two].map((node) => node.close()));
    removeTree(parent);
  });

  const bothShow = async (wanted: string) => {
    await eventually(`both show '${wanted}'`, async () =>
      (await Promise.all([one.shown(), two.shown()])).every((shown) => shown === wanted),
    );
  };

  it('show an agent as active wherever it connects, with what is stored of it', async () => {
    await one.keepalive();
    await bothShow('active at n1');
    const message = (path: string) =>
      Buffer.from(fimEvent('added', path, fileAttributes({ content: 'x', mtime: 1, inode: 1 })));
    const operations = ['/etc/one', '/etc/two'].map((path, position) => {
      const event = { position, agent: '001', kind: 'syscheck' as const, at: Date.now() };
      return { ...event, message: message(path) };
    });
    await one.db.call('fim.apply', { journal: 'j', operations, upTo: 2 });
    await two.keepalive();
    await bothShow('active at n2');
    await eventually('its files have followed', async () => (await two.paths()).length === 2);
    // What the first has of it is out of date when it comes back, and is asked for again.
    await one.keepalive();
    await bothShow('active at n1');
    await eventually('its files have followed again', async () => (await one.paths()).length === 2);
  });

  it('tell one that lost its store all that it needs', async () => {
    await two.keepalive();
    await bothShow('active at n2');
    await one.daemons.get('svc-db')?.stop('SIGKILL');
    removeTree(one.home.path('queue', 'db'));
    await one.start('svc-db');
    await one.register();
    await bothShow('active at n2');
  });

  it('go on when NATS is away, and agree when it is back', async () => {
    await nats().server('n1').kill();
    await one.keepalive();
    expect(await one.shown()).to.equal('active at n1');
    expect(await two.shown()).to.equal('active at n2');
    await nats().server('n1').start();
    await bothShow('active at n1');
  });
});
