import { newRawKey } from '../../daemons/authd/key-registry.js';
import { pause } from '../../lib/async/pause.js';
import type { RecordKind } from '../../lib/bus/contracts/clusterd.js';
import type { ClusterdClient } from '../../lib/cluster/shared-records.js';
import { AuthdNode } from '../support/authd/authd-node.js';
import { FakeCluster } from '../support/cluster/fake-cluster.js';
import { eventually } from '../support/eventually.js';
import { quantile } from '../support/process/measuring.js';

/*
 * Enrolments at three nodes of a cluster in memory, real key files, all in this process:
 * `npm run bench -- cluster-enrol [SECONDS [KEYS [ROUND_MS [CLIENTS]]]]`. KEYS agents are there before, a commit takes ROUND_MS,
 * CLIENTS ask at each node. Before that one node loads all agents, as after a start with an old key file.
 */
const [seconds = 5, keys = 0, roundMs = 5, clients = 16] = process.argv.slice(2).map(Number);
const SEEDED = ['svc-authd', 'svc-db'];

const cluster = new FakeCluster();
cluster.commit(
  Array.from({ length: keys }, (_, index) => ({
    kind: 'agent' as RecordKind,
    key: String(index + 1).padStart(3, '0'),
    value: { name: `agent${index}`, ip: 'any', key: newRawKey(), dateAdd: 1_700_000_000 },
  })),
);

let commits = 0;
let stale = 0;
function client(name: string): ClusterdClient {
  const answering = cluster.client(name, SEEDED);
  const call = async (method: string, params: unknown, options: unknown): Promise<unknown> => {
    if (method === 'records.commit') {
      await pause(roundMs / 2);
      commits += 1;
    }
    try {
      return await answering.call(method as 'ping', params as never, options as never);
    } catch (error) {
      if (method === 'records.commit') stale += 1;
      throw error;
    } finally {
      if (method === 'records.commit') await pause(roundMs / 2);
    }
  };
  return { call } as unknown as ClusterdClient;
}

const nodes: AuthdNode[] = [];
for (const name of ['n1', 'n2', 'n3']) {
  const began = performance.now();
  const cpu = process.cpuUsage();
  const node = await AuthdNode.start({ name, client: client(name) });
  nodes.push(node);
  await eventually('all are loaded', () => node.isLoaded, 60_000);
  const loaded = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  await eventually('all are in the file', () => node.registry.size === keys, 60_000);
  await node.registry.idle();
  const written = performance.now() - began;
  await eventually('svc-db knows all', () => node.table.rows.size === keys, 120_000);
  process.stdout.write(
    `${name} has ${keys} agents after ${loaded.toFixed(0)} ms (${((user + system) / 1000).toFixed(0)} ms of CPU), in its file after ${written.toFixed(0)} ms\n`,
  );
}
try {
  const latencies: number[] = [];
  const began = performance.now();
  const until = began + seconds * 1000;
  const ask = async (node: AuthdNode, number: number): Promise<void> => {
    for (let count = 0; performance.now() < until; count += 1) {
      const start = performance.now();
      await node.add(`${node.name}-${number}-${count}`);
      latencies.push(performance.now() - start);
    }
  };
  await Promise.all(nodes.flatMap((node) => Array.from({ length: clients }, (_, number) => ask(node, number))));
  const wall = performance.now() - began;
  latencies.sort((a, b) => a - b);
  const at = (share: number) => quantile(latencies, share).toFixed(0);
  process.stdout.write(
    `${latencies.length} enrolments at three nodes, ${clients} at once at each, a round takes ${roundMs} ms: ` +
      `${((latencies.length / wall) * 1000).toFixed(0)}/s; latency p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms; ` +
      `${commits} commits, ${stale} of them overtaken\n`,
  );
  const total = keys + latencies.length;
  await eventually('all nodes have all', () => nodes.every(({ registry }) => registry.size === total), 60_000);
} finally {
  await Promise.all(nodes.map((node) => node.stop()));
  for (const { home } of nodes) home.remove();
}
