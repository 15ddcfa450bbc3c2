import { readFileSync } from 'node:fs';
import { jetstreamManager } from '@nats-io/jetstream';
import { clusterSubjects } from '../../lib/cluster/cluster-subjects.js';
import { ClusterManager } from '../support/authd/cluster-manager.js';
import { enrol, keyOf } from '../support/authd/enrollment.js';
import { eventually } from '../support/eventually.js';
import { NatsServers } from '../support/nats/nats-servers.js';
import { calibrate, quantile } from '../support/process/measuring.js';
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
    'nats-server': servers.servers.map(({ pid }) => pid ?? 0),
  };
  const usage = () =>
    Object.entries(pids).map(
      ([name, all]) => [name, all.reduce((sum, pid) => sum + processUsage(pid).cpu, 0)] as const,
    );
  const load = readFileSync('/proc/loadavg', 'latin1').split(' ', 1)[0];
  const { sha256Seconds, regExpSeconds } = calibrate();
  process.stdout.write(
    `calibration: sha256 ${sha256Seconds.toFixed(2)} s, RegExp ${regExpSeconds.toFixed(2)} s; load ${load}\n`,
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
  const used = [...usage(), ['the clients', (user + system) / 1e6] as const].map(
    ([name, cpu]) => [name, ((cpu - (before.get(name) ?? 0)) * 1000) / latencies.length] as const,
  );
  const all = used.reduce((sum, [, ms]) => sum + ms, 0);
  const counted = { commits: 0, overtaken: 0, stale: 0, records: 0, batches: 0 };
  for (const node of nodes) {
    const { records } = await node.clusterdStats();
    for (const name of Object.keys(counted) as (keyof typeof counted)[]) counted[name] += records[name] ?? 0;
  }
  latencies.sort((a, b) => a - b);
  const at = (share: number) => quantile(latencies, share).toFixed(0);
  process.stdout.write(
    `${latencies.length} enrolments at three nodes, ${clients} at once at each: ` +
      `${((latencies.length / wall) * 1000).toFixed(0)}/s; latency p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms; ` +
      `${counted.commits} commits with ${counted.records} records, ${counted.overtaken} times overtaken, ${counted.stale} decided anew, taken over in ${counted.batches} transactions\n` +
      `CPU of all an enrolment: ${used.map(([name, ms]) => `${name} ${ms.toFixed(2)} ms`).join(', ')}; ${all.toFixed(2)} ms together, ${((all * latencies.length) / wall).toFixed(2)} cores\n`,
  );
  const told = performance.now();
  await eventually('all nodes have all', () => nodes.every(({ keys }) => keys.length === latencies.length), 60_000);
  process.stdout.write(`all nodes had all of them ${(performance.now() - told).toFixed(0)} ms after the last\n`);
  const { streams } = await jetstreamManager(await servers.connectAs('admin'));
  const { state } = await streams.info(clusterSubjects(servers.plan.name).streams.shared.name);
  process.stdout.write(`NATS keeps ${(state.bytes / latencies.length).toFixed(0)} bytes an agent on each server\n`);
} finally {
  for (const node of nodes) {
    await node.authd.end('SIGTERM');
    await node.daemon('svc-clusterd').stop();
    await node.close();
  }
  await servers.close();
}
