import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ScaDatabase } from '../../daemons/db/sca/sca-database.js';
import { scaHandlers } from '../../daemons/db/sca/sca-handlers.js';
import { scaMethods, type ScaOperation } from '../../lib/bus/contracts/db-sca.js';
import { PolicyScan, type Results } from '../support/db/sca-kit.js';
import { calibrate } from '../support/process/measuring.js';
import { RecordingLogger } from '../support/recording-logger.js';

/*
 * Figures of policies in svc-db: `npm run bench -- sca-db [AGENTS]`, 2,000 by default, each with three policies of 200 checks of
 * some 1.5 KiB. First their dumps, then the summaries of a scan that changed nothing, then pages of agents at random.
 */
const [first = '2000'] = process.argv.slice(2);
const agents = Number(first);
const CHECKS = 200;
const POLICIES = ['cis_debian12', 'cis_nginx', 'site_baseline'];
/** Hosts differ: so many kinds of them. */
const KINDS = 8;
const PER_CALL = 2048;
const PAGES = 500;
const directory = mkdtempSync(join(tmpdir(), 'svc-bench-sca-'));
const line = (name: string, value: string) => process.stdout.write(`${name.padEnd(58)} ${value}\n`);
const rate = (count: number, ms: number) => `${Math.round(count / (ms / 1000)).toLocaleString('en')} a second`;
const idOf = (agent: number) => String(agent).padStart(3, '0');
const RESULTS = ['passed', 'failed', 'not applicable'] as const;

/** Messages of a kind of hosts about a policy. */
function messagesOf(policy: string, kind: number): { readonly dump: Buffer[]; readonly summary: Buffer } {
  const base = (POLICIES.indexOf(policy) + 1) * 10_000;
  const results: Results = Object.fromEntries(
    Array.from({ length: CHECKS }, (_none, index) => [base + index, RESULTS[((index * 7 + kind) % 5) % 3] ?? 'passed']),
  );
  const scan = new PolicyScan(policy, 1000 + kind, results);
  const texts = {
    description: 'What is looked at here and why it is of importance. '.repeat(8),
    rationale: 'What somebody could do who finds it as it should not be. '.repeat(8),
    remediation: 'What is to be done, line by line, with the command for it. '.repeat(6),
  };
  const checks = Object.keys(results).map((id) => scan.check(Number(id), texts));
  return {
    dump: [scan.summary({ first_scan: 1 }), ...checks, scan.dumpEnd()].map((text) => Buffer.from(text)),
    summary: Buffer.from(scan.summary()),
  };
}

const kinds = Array.from({ length: KINDS }, (_none, kind) => POLICIES.map((policy) => messagesOf(policy, kind)));
const sca = await ScaDatabase.open({
  directory,
  logger: new RecordingLogger(),
  setProblem: () => {},
  knows: () => true,
});
let position = 0;
let operations: ScaOperation[] = [];
let last: Promise<unknown> = Promise.resolve();

async function flush(): Promise<void> {
  const calls = [last, (last = sca.apply({ journal: 'bench', operations, upTo: position }))];
  operations = [];
  await calls[0];
}

async function tell(agent: number, messages: readonly Buffer[]): Promise<void> {
  for (const message of messages) {
    operations.push({ position: position++, agent: idOf(agent), kind: 'sca', at: 0, message });
    if (operations.length >= PER_CALL) await flush();
  }
}

/** Milliseconds, and those of CPU. */
async function measured(work: () => Promise<void>): Promise<{ readonly ms: number; readonly cpu: number }> {
  const from = performance.now();
  const before = process.cpuUsage();
  await work();
  await flush();
  await last;
  const { user, system } = process.cpuUsage(before);
  return { ms: performance.now() - from, cpu: (user + system) / 1000 };
}

const { sha256Seconds, regExpSeconds } = calibrate();
line('calibration', `${sha256Seconds.toFixed(2)} s of SHA-256, ${regExpSeconds.toFixed(2)} s of RegExp`);
const filled = await measured(async () => {
  for (let agent = 1; agent <= agents; agent += 1) {
    for (const { dump } of kinds[agent % KINDS] ?? []) await tell(agent, dump);
  }
});
const checks = agents * POLICIES.length * CHECKS;
line(`${checks.toLocaleString('en')} checks of ${agents.toLocaleString('en')} agents`, rate(checks, filled.ms));
line('  CPU a check', `${((filled.cpu * 1000) / checks).toFixed(1)} us`);
const bytes = statSync(join(directory, 'data.mdb')).size;
line('  file', `${(bytes / 1024 ** 2).toFixed(0)} MiB, ${(bytes / checks).toFixed(0)} bytes a check`);
const summed = await measured(async () => {
  for (let agent = 1; agent <= agents; agent += 1) {
    for (const { summary } of kinds[agent % KINDS] ?? []) await tell(agent, [summary]);
  }
});
line('summaries of a scan that changed nothing', rate(agents * POLICIES.length, summed.ms));

const handlers = scaHandlers(sca, () => Date.now());
async function page(name: string, read: (agent: string) => unknown): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < PAGES; round += 1) {
    const agent = idOf(1 + ((round * 7919) % agents));
    const from = performance.now();
    await read(agent);
    times.push(performance.now() - from);
  }
  times.sort((one, other) => one - other);
  const at = (share: number) => (times[Math.floor(PAGES * share)] ?? 0).toFixed(2);
  line(name, `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
}
const policies = (params: object) => handlers['sca.policies'](scaMethods['sca.policies'].params.parse(params));
const list = (params: object) => handlers['sca.checks'](scaMethods['sca.checks'].params.parse(params));
const policy = 'cis_debian12';
await page('policies of an agent', (agent) => policies({ agent }));
await page('all checks of a policy', (agent) => list({ agent, policy }));
await page('ten checks of a policy', (agent) => list({ agent, policy, limit: 10 }));
await page('those that failed', (agent) => list({ agent, policy, q: 'result=failed' }));
await page('a tag', (agent) => list({ agent, policy, q: 'compliance.key=cis;compliance.value=5.2.3' }));
await page('a search', (agent) => list({ agent, policy, search: 'nowhere' }));
await sca.close();
rmSync(directory, { recursive: true });
