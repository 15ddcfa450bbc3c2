import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { agentIdText } from '../../daemons/db/agent-record.js';
import { encodeMessage } from '../../lib/bus/message-codec.js';
import { PresenceCluster, type PresenceNode } from '../support/db/presence-cluster.js';
import { sampleAgent } from '../support/db/sample-agents.js';

/*
 * What it takes that three nodes know where agents are: `npm run bench -- presence [AGENTS]`, 10,000 by default. The svc-db parts of the
 * three nodes are in one process, and what they tell each other passes the codec and the contract: bytes as they are before
 * NATS puts its heads to them, CPU time of all three.
 */
const count = Number(process.argv[2] ?? '10000');
const NAMES = ['a', 'b', 'c'];
const KEEPALIVE_SECONDS = 10;
const CALL = 1000;
const line = (name: string, value: string) => process.stdout.write(`${name.padEnd(62)} ${value}\n`);
const kilobytes = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`;

/** CPU milliseconds of this process: other users of the machine do not count. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const ids = Array.from({ length: count }, (_none, index) => index + 1);
const nodeOf = (cluster: PresenceCluster, id: number): PresenceNode => cluster.node(NAMES[id % 3] ?? 'a');

/** What svc-remoted of the nodes tells of these agents. */
async function keepalives(cluster: PresenceCluster, some: readonly number[], whole: boolean): Promise<void> {
  for (const node of cluster.nodes.slice(0, 3)) {
    const own = some.filter((id) => nodeOf(cluster, id) === node);
    for (let from = 0; from < own.length; from += CALL) {
      const agents = own.slice(from, from + CALL).map((id) => {
        const beat = { id: agentIdText(id), at: node.seconds };
        return whole ? { ...beat, changes: changesOf(node, id) } : beat;
      });
      await node.connections['agents.keepalives']({ agents });
    }
  }
}

function changesOf(node: PresenceNode, id: number) {
  const { os, uname, version, configSum, mergedSum, ip = '10.0.0.1' } = sampleAgent(id).record;
  const labels: [string, string][] = [
    ['"site"', `site-${String(id % 40)}`],
    ['#"_manager_hostname"', `host-${node.name}`],
    ['#"_agent_ip"', ip],
    ['#"_node_name"', node.name],
    ['#"_wazuh_version"', version ?? ''],
  ];
  const told = { os: { ...os, uname }, version, configSum, mergedSum, labels };
  return { ...told, ip, manager: `host-${node.name}`, nodeName: node.name };
}

async function measured(work: () => Promise<void>): Promise<{ cpu: number; wall: number }> {
  const [cpu, wall] = [cpuMs(), performance.now()];
  await work();
  return { cpu: cpuMs() - cpu, wall: performance.now() - wall };
}

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-presence-'));
  const cluster = new PresenceCluster(directory, [...NAMES, 'd']);
  const three = cluster.nodes.slice(0, 3);
  try {
    for (const node of three) {
      await node.start();
      for (let from = 0; from < count; from += 5000) await node.register(...ids.slice(from, from + 5000));
    }
    await cluster.seconds(5);
    cluster.bytes = 0;
    const connected = await measured(async () => {
      await keepalives(cluster, ids, true);
      for (let left = 1; left > 0;) {
        await cluster.second();
        left = three.reduce((sum, { presence }) => sum + Number(presence.stats()['waiting']), 0);
      }
    });
    // Each receiver counts: a third node hears the same bytes.
    line(`${String(count)} agents connect: told, once a sender`, kilobytes(cluster.bytes / 2));
    line('  a row', `${((cluster.bytes / 2 / count) | 0).toString()} bytes`);
    line('  CPU of the three', `${connected.cpu.toFixed(0)} ms, with their own rows`);
    await cluster.seconds(3);
    await rest(cluster);
    await fresh(cluster);
  } finally {
    await cluster.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Seconds in which nothing but keepalives comes. */
async function rest(cluster: PresenceCluster): Promise<void> {
  cluster.bytes = 0;
  const [times, alone]: [number[], number[]] = [[], []];
  const rounds = 3 * KEEPALIVE_SECONDS;
  for (let second = 0; second < rounds; second += 1) {
    const some = ids.filter((id) => id % KEEPALIVE_SECONDS === second % KEEPALIVE_SECONDS);
    alone.push((await measured(() => keepalives(cluster, some, false))).cpu);
    times.push((await measured(() => cluster.second())).cpu);
  }
  const mean = (all: readonly number[]) => all.reduce((sum, each) => sum + each, 0) / all.length;
  const told = cluster.bytes / 2 / rounds;
  line('at rest: told by the three, a second', kilobytes(told));
  line('  NATS in and out, a second', kilobytes(3 * told));
  line('  CPU of a node for its own keepalives, a second', `${(mean(alone) / 3).toFixed(1)} ms`);
  line('  and for telling them and hearing those of two', `${(mean(times) / 3).toFixed(1)} ms`);
}

/** A node that begins with nothing. */
async function fresh(cluster: PresenceCluster): Promise<void> {
  const node = cluster.node('d');
  const { fake } = cluster;
  let [pages, plain, packed] = [0, 0, 0];
  const ask = fake.onAsk;
  fake.onAsk = async (asked, asker) => {
    const answer = await ask(asked, asker);
    const bytes = encodeMessage(answer);
    pages += 1;
    plain += bytes.length;
    packed += deflateRawSync(bytes, { level: 1 }).length;
    return answer;
  };
  await node.start();
  for (let from = 0; from < count; from += 5000) await node.register(...ids.slice(from, from + 5000));
  const copied = await measured(() => cluster.seconds(4));
  const known = ids.filter((id) => node.record(id)?.status === 'active').length;
  line('a fresh node: rows it knows after it has asked', String(known));
  line('  pages', `${String(pages)}, ${kilobytes(plain)}, ${kilobytes(packed)} as they are sent`);
  line('  time, all in one process', `${copied.wall.toFixed(0)} ms, ${copied.cpu.toFixed(0)} ms CPU`);
}

await main();
