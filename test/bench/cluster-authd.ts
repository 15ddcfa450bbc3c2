import { jetstreamManager } from '@nats-io/jetstream';
import { clusterSubjects } from '../../lib/cluster/cluster-subjects.js';
import { ClusterManager } from '../support/authd/cluster-manager.js';
import { enrol, keyOf } from '../support/authd/enrollment.js';
import { eventually } from '../support/eventually.js';
import { NatsServers } from '../support/nats/nats-servers.js';
import { quantile } from '../support/process/measuring.js';
import { processUsage } from '../support/process/process-usage.js';

/*
 * Enrolments at three nodes with the real svc-authd and svc-clusterd and three NATS servers, all on this machine:
 * `npm run bench -- cluster-authd [SECONDS [CLIENTS]]`. CLIENTS at each node make a new TLS connection a request, in this process.
 */
const [seconds = 5, clients = 16] = process.argv.slice(2).map(Number);

const servers = await NatsServers.start();
const nodes: ClusterManager[] = [];
try {
  for (const { member } of servers.servers) nodes.push(await ClusterManager.start(servers, member.name, []));
  const pids = {
    'svc-authd': nodes.map(({ authd }) => authd.child.pid ?? 0),
    'svc-clusterd': nodes.map((node) => node.daemon('svc-clusterd').process.pid ?? 0),
  };
  const usage = () =>
    Object.entries(pids).map(
      ([name, all]) => [name, all.reduce((sum, pid) => sum + processUsage(pid).cpu, 0)] as const,
    );
  const latencies: number[] = [];
  const before = new Map(usage());
  const own = process.cpuUsage();
  const began = performance.now();
  const until = began + seconds * 1000;
  const client = async ({ node, authd }: ClusterManager, number: number) => {
    for (let count = 0; performance.now() < until; count += 1) {
      const start = performance.now();
      keyOf(await enrol(authd.port, `OSSEC A:'${node}-${number}-${count}' V:'v4.14.7'\n`));
      latencies.push(performance.now() - start);
    }
  };
  await Promise.all(nodes.flatMap((node) => Array.from({ length: clients }, (_, number) => client(node, number))));
  const wall = performance.now() - began;
  const { user, system } = process.cpuUsage(own);
  const each = usage().map(([name, cpu]) => {
    const used = (cpu - (before.get(name) ?? 0)) * 1000;
    return `${name} ${(used / latencies.length).toFixed(2)} ms`;
  });
  const counted = { commits: 0, overtaken: 0, records: 0, batches: 0 };
  for (const node of nodes) {
    const { records } = await node.clusterdStats();
    for (const name of ['commits', 'overtaken', 'records', 'batches'] as const) counted[name] += records[name] ?? 0;
  }
  latencies.sort((a, b) => a - b);
  const at = (share: number) => quantile(latencies, share).toFixed(0);
  process.stdout.write(
    `${latencies.length} enrolments at three nodes, ${clients} at once at each: ` +
      `${((latencies.length / wall) * 1000).toFixed(0)}/s; latency p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms; ` +
      `${counted.commits} commits with ${counted.records} records, ${counted.overtaken} times overtaken, taken over in ${counted.batches} transactions; CPU of all three an enrolment: ${each.join(', ')}; the clients ${((user + system) / 1000 / latencies.length).toFixed(2)} ms\n`,
  );
  const told = performance.now();
  await eventually('all nodes have all', () => nodes.every(({ keys }) => keys.length === latencies.length), 60_000);
  process.stdout.write(`all nodes had all of them ${(performance.now() - told).toFixed(0)} ms after the last\n`);
  const { streams } = await jetstreamManager(await servers.connectAs('admin'));
  const { state } = await streams.info(clusterSubjects(servers.plan.name).streams.shared.name);
  process.stdout.write(`NATS keeps ${(state.bytes / latencies.length).toFixed(0)} bytes an agent on each server\n`);
} finally {
  for (const node of nodes) await node.close();
  await servers.close();
}
