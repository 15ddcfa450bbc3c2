import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { AgentStores } from '../../daemons/db/agent-stores.js';
import { Registry } from '../../daemons/db/registry.js';
import { dbContract } from '../../lib/bus/contracts/db.js';
import { remotedContract } from '../../lib/bus/contracts/remoted.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { BenchAgents } from '../support/agentlink/bench-agents-process.js';
import { ApiClient } from '../support/api/api-client.js';
import { RunningDaemon } from '../support/daemon/running-daemon.js';
import { sampleAgent } from '../support/db/sample-agents.js';
import { eventually } from '../support/eventually.js';
import { delta, packageRow } from '../support/inventory/inventory-messages.js';
import { calibrate, quantile } from '../support/process/measuring.js';
import { processUsage } from '../support/process/process-usage.js';
import { RecordingLogger } from '../support/recording-logger.js';
import { identity, RemotedHome } from '../support/remoted/remoted-home.js';

/*
 * Figures of inventories: `npm run bench -- inventory-db lists [AGENTS] [PACKAGES]`, 1,000 agents with 1,000 packages each by
 * default: events in, and lists of svc-apid over HTTPS; `inventory-db sync [AGENTS] [ROWS]`, 10,000 agents that synchronise at
 * once as they do in their first minute, 150 rows each by default, while others send keepalives.
 */
const [mode = 'lists', first, second] = process.argv.slice(2);
const OPERATIONS = 2000;
const ROUNDS = 50;
/** Agents whose acknowledgements are timed, in a process that does nothing else. */
const OBSERVERS = 500;
/** Beyond that something is wrong. */
const MOST_MS = 400_000;
const PATIENT = { deadlineMs: 60_000 };
const line = (name: string, value: string) => process.stdout.write(`${name.padEnd(64)} ${value}\n`);
const now = () => 1_795_000_000_000;

const NAMES = Array.from({ length: 4000 }, (_none, index) => `package-${index.toString(36)}`);

async function fill(home: RemotedHome, agents: number, packages: number): Promise<void> {
  const directory = home.path('queue', 'db');
  mkdirSync(directory, { recursive: true });
  const registry = await Registry.open(directory, () => {});
  await registry.ensureDefaultGroup(1_795_000_000);
  await registry.edit((edit) => {
    for (let id = 1; id <= agents; id += 1) edit.setAgent(id, { ...sampleAgent(id).record, status: 'active' });
  });
  const problems = { of: () => () => {} };
  const logger = new RecordingLogger();
  const stores = await AgentStores.open({ directory, registry, logger, problems, now });
  const messages = NAMES.slice(0, packages).map((name, index) =>
    Buffer.from(delta('packages', 'INSERTED', packageRow(name, { version: `1.${String(index % 20)}` }))),
  );
  let position = 0;
  const started = performance.now();
  const before = process.cpuUsage();
  for (let id = 1; id <= agents; id += 1) {
    const agent = String(id).padStart(3, '0');
    for (let from = 0; from < packages; from += OPERATIONS) {
      const operations = messages.slice(from, from + OPERATIONS).map((message, index) => ({
        ...{ position: position + index, agent, kind: 'inventory' as const, at: now(), message },
      }));
      position += operations.length;
      await stores.inventory.apply({ journal: 'bench', operations, upTo: position });
    }
  }
  const { user, system } = process.cpuUsage(before);
  const seconds = (performance.now() - started) / 1000;
  const rate = Math.round(position / seconds).toLocaleString('en-US');
  line(
    `${position.toLocaleString('en-US')} packages of ${String(agents)} agents stored`,
    `${rate} /s, ${((user + system) / position).toFixed(1)} us of CPU each, ${(process.memoryUsage.rss() / 1024 ** 2).toFixed(0)} MiB`,
  );
  await stores.close();
  await registry.close();
  line('data.mdb', `${(statSync(home.path('queue/db/inventory/data.mdb')).size / 1024 ** 2).toFixed(0)} MiB`);
}

async function measure(client: ApiClient, path: string): Promise<void> {
  const times: number[] = [];
  let total = 0;
  for (let round = 0; round <= ROUNDS; round += 1) {
    const from = performance.now();
    const answer = await client.call('GET', encodeURI(path));
    times.push(performance.now() - from);
    if (answer?.status !== 200) throw new Error(`${path}: ${answer?.text ?? 'no answer'}`);
    total = (answer.json() as { data: { total_affected_items: number } }).data.total_affected_items;
  }
  const sorted = times.slice(1).sort((a, b) => a - b);
  const at = (share: number) => quantile(sorted, share).toFixed(1);
  line(path, `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, of ${total.toLocaleString('en-US')}`);
}

async function benchLists(): Promise<void> {
  const agents = Number(first ?? 1000);
  const home = new RemotedHome();
  mkdirSync(home.path('api', 'configuration', 'security'), { recursive: true });
  const settings = 'host: ["127.0.0.1"]\nport: 0\nexperimental_features: true\naccess:\n  max_request_per_minute: 0\n';
  writeFileSync(home.path('api', 'configuration', 'api.yaml'), settings);
  writeFileSync(home.path('etc', 'manager.conf'), '<manager_config></manager_config>\n');
  const daemons: RunningDaemon[] = [];
  const connections = new Agent({ keepAlive: true });
  try {
    await fill(home, agents, Number(second ?? 1000));
    const db = await RunningDaemon.start('svc-db', home);
    daemons.push(db, await RunningDaemon.start('svc-apid', home));
    const client = new ApiClient(home, connections);
    await client.call('GET', '/');
    const one = `/syscollector/${String(Math.floor(agents / 2)).padStart(3, '0')}`;
    for (const query of [
      ...['', '?limit=100', '?limit=500&offset=400', '?limit=10&sort=name', '?limit=500&sort=-size,name'],
      ...['?name=package-a0', '?search=age-a', '?q=version=1.7;vendor~demo', '?select=vendor&distinct=true'],
    ]) {
      await measure(client, `${one}/packages${query}`);
    }
    await measure(client, `${one}/os`);
    for (const query of [
      '?limit=500',
      '?limit=500&offset=500000',
      '?name=package-a0',
      '?name=package-a0&version=1.7',
    ]) {
      await measure(client, `/experimental/syscollector/packages${query}`);
    }
    const { cpu, rss } = processUsage(db.process.pid);
    line('svc-db', `${rss.toFixed(0)} MiB, ${cpu.toFixed(1)} s of CPU`);
  } finally {
    connections.destroy();
    for (const daemon of daemons) await daemon.stop('SIGKILL');
    home.remove();
  }
}

async function benchSync(): Promise<void> {
  const count = Math.min(15_000, Number(first ?? 10_000));
  const rows = Number(second ?? 150);
  const home = new RemotedHome();
  mkdirSync(home.path('queue', 'db'));
  const all = Array.from({ length: count + OBSERVERS }, (_none, index) => identity(index + 1));
  home.keys(...all);
  const db = await RunningDaemon.start('svc-db', home);
  const remoted = await RunningDaemon.start('svc-remoted', home);
  const client = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
  const link = new RequestClient({ contract: remotedContract, path: home.socket('svc-remoted') });
  const running: BenchAgents[] = [];
  try {
    for (let at = 0; at < all.length; at += OPERATIONS) {
      const some = all.slice(at, at + OPERATIONS);
      await Promise.all(
        some.map(({ id, name }) => client.call('agents.register', { id, name, dateAdd: 1_700_000_000 }, PATIENT)),
      );
    }
    const port = remoted.port('agents_tcp');
    const agents = await BenchAgents.start('inventory', port, count, 'aes', rows);
    running.push(agents);
    const observers = await BenchAgents.start('keepalives', port, OBSERVERS, 'aes', 0, count + 1);
    running.push(observers);
    await delay(11_000);
    await observers.report();
    const stored = async (): Promise<number> => {
      const { inventory } = (await client.call('stats', {}, PATIENT)) as { inventory: { rows: number } };
      return inventory.rows;
    };
    const usage = () => [db, remoted].map(({ process: { pid } }) => processUsage(pid));
    const before = usage();
    const started = performance.now();
    await agents.report();
    const state = async (): Promise<string> => {
      const { synchronisation } = (await link.call('stats', {}, PATIENT)) as { synchronisation: unknown };
      return `${String(await stored())} rows, svc-remoted ${JSON.stringify(synchronisation)}`;
    };
    await eventually('all rows are stored', async () => (await stored()) >= count * rows, MOST_MS).catch(
      async (error: unknown) => {
        line('it did not end', await state());
        throw error;
      },
    );
    const seconds = (performance.now() - started) / 1000;
    const after = usage();
    const report = await observers.report();
    const messages = count * rows;
    line(
      `${String(count)} agents with ${String(rows)} rows each`,
      `${seconds.toFixed(0)} s, ${Math.round(messages / seconds).toLocaleString('en-US')} rows/s`,
    );
    for (const [index, name] of ['svc-db', 'svc-remoted'].entries()) {
      const cpu = (after[index]?.cpu ?? 0) - (before[index]?.cpu ?? 0);
      line(
        name,
        `${cpu.toFixed(1)} s of CPU, ${((cpu * 1e6) / messages).toFixed(1)} us a row, at most ${(after[index]?.peak ?? 0).toFixed(0)} MiB`,
      );
    }
    line(
      `keepalives of ${String(OBSERVERS)} others meanwhile`,
      `${String(report.acks)} acknowledged, 99 of 100 within ${report.p99.toFixed(0)} ms, all within ${report.max.toFixed(0)} ms, ${String(report.lost)} connections lost`,
    );
    line('in the end', await state());
  } finally {
    for (const agents of running) await agents.stop();
    client.close();
    link.close();
    await remoted.stop('SIGKILL');
    await db.stop('SIGKILL');
    home.remove();
  }
}

const { sha256Seconds, regExpSeconds } = calibrate();
line('calibration', `sha256 ${sha256Seconds.toFixed(2)} s, RegExp ${regExpSeconds.toFixed(2)} s`);
await (mode === 'sync' ? benchSync() : benchLists());
process.exit(0);
