/**
 * Prints what it costs to push a file of 1 MiB to many agents of one group that send keepalives every 10 seconds:
 * `npm run bench -- push [agents] [processes] [form]`. Agents run in processes of their own; one in 50 reads and checks
 * its file, the others look at control messages only, as opening everything would take more than svc-remoted does.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { dbContract } from '../../lib/bus/contracts/db.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { type AgentReport, BenchAgents } from '../support/agentlink/bench-agents-process.js';
import { RunningDaemon } from '../support/daemon/running-daemon.js';
import { calibrate, quantile } from '../support/process/measuring.js';
import { processUsage } from '../support/process/process-usage.js';
import { identity, RemotedHome } from '../support/remoted/remoted-home.js';

const many = Math.min(15_000, Number(process.argv[2] ?? 10_000));
const processes = Number(process.argv[3] ?? 2);
const form = process.argv[4] ?? 'aes';
const FILE_BYTES = 1024 * 1024;
const REGISTERED_AT_ONCE = 2000;
const PATIENT = { deadlineMs: 60_000 };
const CALM_MS = 20_000;
const LOOK_MS = 500;
const MOST_MS = 15 * 60_000;

/** Half of it compresses, as configuration does. */
function content(): string {
  const lines = Array.from(
    { length: FILE_BYTES / 64 },
    () => `<ignore type="sregex">${randomBytes(16).toString('hex')}</i>`,
  );
  return lines.join('\n').slice(0, FILE_BYTES);
}

const { sha256Seconds, regExpSeconds } = calibrate();
console.log(
  `sha256 of 512 MiB ${sha256Seconds.toFixed(2)} s, 5,000,000 RegExp runs ${regExpSeconds.toFixed(2)} s of CPU`,
);
const home = new RemotedHome();
mkdirSync(home.path('queue', 'db'));
mkdirSync(home.path('etc', 'shared', 'default'), { recursive: true });
const shared = home.path('etc', 'shared', 'default', 'list.txt');
writeFileSync(shared, 'short\n');
const all = Array.from({ length: many }, (_none, index) => identity(index + 1));
home.keys(...all);
const db = await RunningDaemon.start('svc-db', home);
const client = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
for (let at = 0; at < all.length; at += REGISTERED_AT_ONCE) {
  const some = all.slice(at, at + REGISTERED_AT_ONCE);
  await Promise.all(
    some.map(({ id, name }) => client.call('agents.register', { id, name, dateAdd: 1_700_000_000 }, PATIENT)),
  );
}
const daemon = await RunningDaemon.start('svc-remoted', home);
const pid = daemon.process.pid;
const agents: BenchAgents[] = [];

const reports = (): Promise<AgentReport[]> => Promise.all(agents.map((some) => some.report()));
/** How many agents have the file that most do not have yet, and what was acknowledged meanwhile. */
async function untilAllHave(old: ReadonlySet<string>): Promise<{ ms: number; latencies: number[]; sums: Set<string> }> {
  const start = performance.now();
  const latencies: number[] = [];
  for (;;) {
    const told = await reports();
    for (const report of told) for (const latency of report.latencies) latencies.push(latency);
    const sums = new Set(told.flatMap((report) => Object.keys(report.sums)));
    const ms = performance.now() - start;
    if (sums.size === 1 && ![...sums].some((sum) => old.has(sum))) return { ms, latencies, sums };
    if (ms > MOST_MS) {
      throw new Error(`not all agents have the file: ${JSON.stringify(told.map((report) => report.sums))}`);
    }
    await delay(LOOK_MS);
  }
}
const shown = (latencies: number[]): string => {
  latencies.sort((a, b) => a - b);
  const [half, most, last] = [0.5, 0.99, 1].map((share) => quantile(latencies, share).toFixed(0));
  return `${String(latencies.length)} acknowledgements, half within ${String(half)} ms, 99 of 100 within ${String(most)} ms, all within ${String(last)} ms`;
};

try {
  const each = Math.ceil(many / processes);
  for (let first = 1; first <= many; first += each) {
    const count = Math.min(each, many - first + 1);
    agents.push(await BenchAgents.start('push', daemon.port('agents_tcp'), count, form, 0, first));
  }
  const small = await untilAllHave(new Set(['x']));
  console.log(`${String(many)} agents have a small file after ${(small.ms / 1000).toFixed(1)} s`);
  await delay(CALM_MS);
  await reports();
  const calmCpu = processUsage(pid).cpu;
  await delay(CALM_MS);
  const calm = (await reports()).flatMap(({ latencies }) => [...latencies]);
  const calmShare = ((processUsage(pid).cpu - calmCpu) / CALM_MS) * 1000;
  console.log(`without a push: ${shown(calm)}, ${(calmShare * 100).toFixed(0)} % of a core`);
  const before = processUsage(pid);
  writeFileSync(`${shared}.tmp`, content());
  renameSync(`${shared}.tmp`, shared);
  const { ms, latencies } = await untilAllHave(small.sums);
  const after = processUsage(pid);
  const cpu = after.cpu - before.cpu;
  console.log(
    `1 MiB for ${String(many)} agents, ${form}: all have it after ${(ms / 1000).toFixed(1)} s; svc-remoted: ${cpu.toFixed(1)} s of CPU, ${((cpu * 1000) / many).toFixed(2)} ms an agent, ${after.rss.toFixed(0)} MiB, ${after.peak.toFixed(0)} at most, ${before.rss.toFixed(0)} before`,
  );
  console.log(`meanwhile: ${shown(latencies)}`);
  await delay(2 * CALM_MS);
  const { configuration } = await client.call('agents.summary', {});
  const end = await reports();
  const lost = end.reduce((sum, report) => sum + report.lost, 0);
  const broken = end.reduce((sum, report) => sum + report.broken, 0);
  console.log(
    `svc-db: ${String(configuration.synced)} synced, ${String(configuration.not_synced)} not; ${String(lost)} connections lost, ${String(broken)} files not whole`,
  );
} finally {
  for (const some of agents) await some.stop();
  await daemon.stop('SIGKILL');
  client.close();
  await db.stop('SIGKILL');
  home.remove();
}
process.exit(0);
