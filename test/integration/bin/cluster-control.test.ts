import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { clusterControlCommand } from '../../../bin/cluster/cluster-control-command.js';
import { runControl } from '../../../bin/control/control-command.js';
import { clusterdContract, type ClusterNode } from '../../../lib/bus/contracts/clusterd.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import type { RequestServer } from '../../../lib/bus/request-server.js';
import { productCatalogue } from '../../../lib/control/daemon-catalogue.js';
import { serveContract } from '../../support/bus/serve-contract.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const CLUSTER = `<cluster><key>${'k'.repeat(32)}</key><nodes><node>192.0.2.1</node></nodes></cluster>`;
const HEARD = Date.UTC(2026, 5, 5, 8, 0, 9);

function node(name: string, more: Partial<ClusterNode> = {}): ClusterNode {
  const ip = `10.1.1.${name.slice(1)}`;
  const rest = { self: false, present: true, heardAt: HEARD, revision: 7, facts: {} };
  return { name, type: 'worker', version: '4.14.7', ip, ...rest, ...more };
}

const VIEW = {
  cluster: 'office',
  self: 'n1',
  connected: true,
  problem: null as string | null,
  writable: true,
  master: 'n1',
  revision: 8,
  nodes: [node('n1', { type: 'master', self: true, revision: 8 }), node('n2'), node('n3', { present: false })],
};
const AGENTS = [
  { id: '000', name: 'mgr', ip: '127.0.0.1', status: 'active', version: 'Wazuh v4.14.7', node_name: 'n1' },
  { id: '001', name: 'web', ip: '10.0.0.7', status: 'active', version: 'Wazuh v4.14.0', node_name: 'n2' },
  { id: '002', name: 'db', ip: 'any', status: 'never_connected' },
];

describe('cluster_control and svc-control cluster status', () => {
  let home: TemporaryHome;
  let servers: readonly RequestServer<never>[];
  let asked: Record<string, unknown>[];
  let view = VIEW;

  before(async () => {
    home = new TemporaryHome();
    writeFileSync(home.path('etc/manager.conf'), `<manager_config>${CLUSTER}</manager_config>`);
    const list = (params: Record<string, unknown>) => {
      asked.push(params);
      const {
        offset,
        node_name: nodes,
        status,
      } = params as { offset: number; node_name?: string[]; status?: string[] };
      const found = AGENTS.filter(
        (agent) => nodes?.includes(agent.node_name ?? '') !== false && status?.includes(agent.status) !== false,
      );
      // A page has two, so that there are several.
      return Promise.resolve({ items: found.slice(offset, offset + 2), total: found.length });
    };
    servers = [
      await serveContract(home, clusterdContract, { 'cluster.view': () => Promise.resolve(view) }),
      await serveContract(home, dbContract, { 'agents.list': list }),
    ] as never;
  });
  beforeEach(() => {
    asked = [];
    view = VIEW;
  });
  after(async () => {
    for (const server of servers) await server.stop();
    home.remove();
  });

  async function runAt(root: string, ...args: string[]) {
    const said = { out: '', err: '' };
    const code = await clusterControlCommand([...args, '--home', root], {
      write: (text) => (said.out += text),
      writeError: (text) => (said.err += text),
    });
    return { code, ...said };
  }
  const out = async (...args: string[]) => {
    const { code, out: text, err } = await runAt(home.root, ...args);
    expect([code, err], text).to.deep.equal([0, '']);
    return text;
  };
  const status = async (...flags: string[]) => {
    let text = '';
    const code = await runControl(['cluster', 'status', '--home', home.root, ...flags], {
      catalogue: productCatalogue(),
      write: (line) => (text += line),
      writeError: (line) => (text += line),
      terminal: false,
    });
    return { code, text };
  };

  it('lists nodes that are there', async () => {
    const rows = [
      'NAME  TYPE    VERSION  ADDRESS',
      'n1    master  4.14.7   10.1.1.1',
      'n2    worker  4.14.7   10.1.1.2',
    ];
    expect(await out('-l')).to.equal(`${rows.join('\n')}\n`);
    expect(await out('--list-nodes', '-fn', 'n2', 'n3')).to.equal(`${[rows[0], rows[2]].join('\n')}\n`);
  });

  it('lists agents with their nodes, page by page', async () => {
    const text = await out('-a');
    expect(text.split('\n')).to.deep.equal([
      'ID   NAME  IP         STATUS           VERSION        NODE NAME',
      '000  mgr   127.0.0.1  active           Wazuh v4.14.7  n1',
      '001  web   10.0.0.7   active           Wazuh v4.14.0  n2',
      '002  db    any        never_connected  n/a            n/a',
      '',
    ]);
    expect(asked.map(({ offset }) => offset)).to.deep.equal([0, 2]);
    expect(await out('-a', '-fn', 'n2', '-fs', 'active')).to.match(/^ID.*\n001 .*\n$/);
  });

  it('shows how nodes are doing', async () => {
    const not = ['Integrity check', 'Integrity sync', 'Agents-info', 'Agent-groups', 'Agent-groups full'];
    expect(await out('-i')).to.equal(
      'Cluster name: office\n\nLast completed synchronization for connected nodes (1):\n' +
        `    n2 (10.1.1.2): ${not.map((what) => `${what}: n/a | `).join('')}Last keep alive: 2026-06-05T08:00:09.000Z.\n`,
    );
    const more = await out('-i', 'more', '-fn', 'n2');
    expect(more).to.include('Connected nodes (1):\n    n2 (10.1.1.2)\n').and.to.include('        Active agents: 1\n');
  });

  it('says what does not belong together, and that there is no cluster', async () => {
    for (const args of [
      ['-l', '-a'],
      ['-l', '-fs', 'active'],
      ['-a', '-fs', 'asleep'],
      ['-i', 'less'],
    ]) {
      expect(await runAt(home.root, ...args), args.join(' ')).to.include({ code: 1 });
    }
    const alone = new TemporaryHome();
    try {
      writeFileSync(alone.path('etc/manager.conf'), '<manager_config/>');
      const { code, out: text, err } = await runAt(alone.root, '-l');
      expect([code, text, err]).to.deep.equal([1, 'Cluster is not running.\n', '']);
      writeFileSync(alone.path('etc/manager.conf'), `<manager_config>${CLUSTER}</manager_config>`);
      expect((await runAt(alone.root, '-l')).err).to.match(/^cluster_control: The manager does not run/);
    } finally {
      alone.remove();
    }
  });

  it('shows in status what can be changed, and why not', async () => {
    const good = await status();
    expect(good.code).to.equal(0);
    expect(good.text).to.include('Changes   agents, groups, rules and users can be changed\n');
    expect(good.text).to.match(/^n1 \(here\) +master +4\.14\.7 +10\.1\.1\.1 +present +- +8$/m);
    expect(good.text).to.match(/^n3 +worker +4\.14\.7 +10\.1\.1\.3 +away +\d+s +7$/m);
    view = { ...VIEW, connected: false, problem: 'connection refused\x1b[2J', writable: false };
    const bad = await status();
    expect(bad.code).to.equal(1);
    expect(bad.text).to.include('NATS      not connected: connection refused').and.not.include('\x1b');
    expect(JSON.parse((await status('-j')).text)).to.deep.include({ error: 0 });
  });
});
