import { writeFileSync } from 'node:fs';
import { dbContract } from '../../lib/bus/contracts/db.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { RunFiles } from '../../lib/daemon/run-files.js';
import { readRunRecord } from '../../lib/daemon/run-record.js';
import { ClusterStage } from '../cluster-story/cluster-stage.js';
import type { ManagerNode } from '../cluster-story/manager-node.js';
import { type AgentIdentity, keyLine, MinimalAgent } from '../support/agentlink/minimal-agent.js';
import { eventually } from '../support/eventually.js';
import { quantile } from '../support/process/measuring.js';
import { processUsage } from '../support/process/process-usage.js';

/*
 * Agents of three managers, and what becomes of those of one that is killed: `npm run bench -- cluster-move [AGENTS]`, 10,000 by default, a third
 * at each, over TCP with a keepalive every ten seconds; three whole managers, three NATS servers and all agents on this machine.
 * First what goes through NATS at rest, then the kill: its agents connect to the two others as fast as these take them.
 */
const count = Number(process.argv[2] ?? 10_000);
const REST_MS = 30_000;
const KEEPALIVE_MS = 10_000;
const AT_ONCE = 100;
const PATIENCE_MS = 300_000;

const identity = (number: number): AgentIdentity => ({
  id: String(number).padStart(3, '0'),
  name: `host-${number}`,
  key: number.toString(16).padStart(64, '0'),
});

function portOf({ host }: ManagerNode): number {
  const port = readRunRecord(new RunFiles(host.home, 'svc-remoted').record())?.addresses['agents_tcp']?.port;
  if (port === undefined) throw new Error(`svc-remoted of ${host.home.root} does not listen`);
  return port;
}

/** Connects an agent and has it report. @returns when the manager has answered, monotonic milliseconds */
async function connect(agent: MinimalAgent, port: number): Promise<number> {
  for (;;) {
    const before = agent.acks;
    try {
      await agent.connect(port);
      await agent.start();
      agent.keepalive();
      await agent.until('an answer', () => agent.acks > before + 1 || agent.closed);
      if (!agent.closed) return performance.now();
    } catch {
      // It is asked again, as agents do.
    }
    agent.close();
  }
}

/** Does it for each, so many at a time. */
async function forAll<T>(items: readonly T[], work: (item: T, index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const one = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) await work(items[at] as T, at);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}

const stage = new ClusterStage();
try {
  await stage.set(console.log, { configuration: '', cluster: '' }, (node) => {
    if (node.name !== 'n1') return;
    const lines = Array.from({ length: count }, (_, at) => keyLine(identity(at + 1)));
    writeFileSync(node.host.home.path('etc', 'client.keys'), lines.join(''), { mode: 0o640 });
  });
  const databases = stage.nodes.map(
    ({ host }) => new RequestClient({ contract: dbContract, path: host.home.socket('svc-db') }),
  );
  const activeAt = async (database: RequestClient<typeof dbContract>, name: string): Promise<number> => {
    const { nodes } = await database.call('agents.by_node', { status: 'active', q: 'id!=000' }, { deadlineMs: 10_000 });
    return nodes.find(({ node }) => node === name)?.ids.length ?? 0;
  };
  for (const database of databases) {
    await eventually(
      'all agents are known',
      async () => {
        const { nodes } = await database.call('agents.by_node', { q: 'id!=000' }, { deadlineMs: 10_000 });
        return nodes.reduce((sum, { ids }) => sum + ids.length, 0) === count;
      },
      PATIENCE_MS,
    );
  }
  const agents = Array.from({ length: count }, (_, at) => new MinimalAgent(identity(at + 1)));
  const ports = stage.nodes.map(portOf);
  const began = performance.now();
  await forAll(agents, async (agent, at) => {
    await connect(agent, ports[at % 3] ?? 0);
  });
  console.log(`${count} agents have connected in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  // Spread over the ten seconds, as those of many hosts are.
  const beats = agents.map((agent, at) =>
    setTimeout(
      () => setInterval(() => (agent.closed ? undefined : agent.keepalive()), KEEPALIVE_MS),
      (at / count) * KEEPALIVE_MS,
    ),
  );
  await eventually(
    'all nodes show all as active',
    async () => (await Promise.all(databases.map((database) => activeAt(database, 'n3')))).every((at) => at > 0),
    PATIENCE_MS,
  );
  // Each takes its configuration and reports its new sum, of which all nodes are told: that is no rest yet.
  const synced = async (database: RequestClient<typeof dbContract>): Promise<number> => {
    const q = 'id!=000;group_config_status=synced';
    const { nodes } = await database.call('agents.by_node', { status: 'active', q }, { deadlineMs: 10_000 });
    return nodes.reduce((sum, { ids }) => sum + ids.length, 0);
  };
  await eventually(
    'all nodes show all as synced',
    async () => (await Promise.all(databases.map(synced))).every((at) => at === count),
    PATIENCE_MS,
  );
  console.log(`all of them are synced ${((performance.now() - began) / 1000).toFixed(1)} s after the first connected`);

  const traffic = async (): Promise<number> => {
    const all = await Promise.all(stage.servers.servers.map((server) => server.monitor('/varz')));
    return all.reduce<number>((sum, each) => sum + (each as { out_bytes: number }).out_bytes, 0);
  };
  const cpu = (): number => stage.servers.servers.reduce((sum, { pid }) => sum + processUsage(pid ?? 0).cpu, 0);
  const [bytes, used] = [await traffic(), cpu()];
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  const rate = ((await traffic()) - bytes) / (REST_MS / 1000) / 1000;
  const share = ((cpu() - used) / (REST_MS / 1000)) * 100;
  console.log(
    `at rest: NATS sends ${rate.toFixed(0)} kB/s in all, to managers and between servers; ${share.toFixed(1)} % of a core in all`,
  );

  const moving = agents.filter((_, at) => at % 3 === 0);
  await stage.node(0).kill();
  const killed = performance.now();
  /** Until none is shown at the lost manager, by each of the others. */
  const shown = Promise.all(
    databases.slice(1).map(async (database) => {
      await eventually('none is shown at n1', async () => (await activeAt(database, 'n1')) === 0, PATIENCE_MS);
      return performance.now();
    }),
  );
  const connected: number[] = [];
  await forAll(moving, async (agent, at) => {
    agent.close();
    connected.push(await connect(agent, ports[1 + (at % 2)] ?? 0));
  });
  const last = Math.max(...connected);
  const lateMs = (await shown).map((at) => Math.max(0, at - last));
  connected.sort((one, other) => one - other);
  console.log(
    `${moving.length} agents of the lost manager have connected elsewhere ${((last - killed) / 1000).toFixed(1)} s after the kill, half of them within ` +
      `${((quantile(connected, 0.5) - killed) / 1000).toFixed(1)} s; both managers show the last as active there ` +
      `${lateMs.map((ms) => (ms / 1000).toFixed(1)).join(' and ')} s later`,
  );
  for (const beat of beats) clearTimeout(beat);
  for (const agent of agents) agent.close();
  for (const database of databases) database.close();
} finally {
  await stage.strike();
}
process.exit(0);
