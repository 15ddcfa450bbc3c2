/**
 * Figures of the alerts that can be searched: `npm run bench -- alert-store [--alerts 1000000] [--days 10]`. Alerts of
 * the public ruleset for the shared corpora, varied in time, agent and address, are written as svc-analysisd does, a day's file after the
 * other; the real svc-db reads them, and is asked over the bus.
 */
import { closeSync, copyFileSync, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { readOfflineRuleset } from '../../bin/offline/read-offline-ruleset.js';
import { dbContract } from '../../lib/bus/contracts/db.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { DEFAULT_STEP_BUDGET, Engine } from '../../lib/engine/engine.js';
import { EngineState } from '../../lib/engine/engine-state.js';
import { loadRuleset } from '../../lib/engine/load/load-ruleset.js';
import { MitreTable } from '../../lib/engine/load/mitre-table.js';
import { ALERT_FILES, datedPath } from '../../lib/output/dated-files.js';
import { compilePattern } from '../../lib/patterns/compile-pattern.js';
import { productRoot } from '../../lib/product/product-root.js';
import { dayOf } from '../../lib/time/local-day.js';
import { RunningDaemon } from '../support/daemon/running-daemon.js';
import { AlertFiles } from '../support/monitord/alert-files.js';
import { calibrate, quantile, readCorpus } from '../support/process/measuring.js';
import { processUsage } from '../support/process/process-usage.js';
import { RecordingDiagnostics } from '../support/recording-diagnostics.js';
import { sharedData } from '../support/shared-data.js';
import { TemporaryHome } from '../support/temporary-home.js';

const { values } = parseArgs({
  options: { alerts: { type: 'string', default: '1000000' }, days: { type: 'string', default: '10' } },
});
const COUNT = Number(values.alerts);
const DAYS = Number(values.days);
const DAY_MS = 86_400_000;
const END = new Date(2026, 2, 31).getTime();
const START = END - DAYS * DAY_MS;
const AGENTS = 1000;
const ADDRESSES = 20_000;
/** One of so many alerts is of the mixed corpus. */
const MIXED = 10;
const BATCH = 2000;
const ROUNDS = 30;
/** Alerts a second of a burst, and how long it lasts. */
const BURST = 20_000;
const BURST_SECONDS = 10;

/** An alert in pieces: what is between them is put in anew. */
type Template = { readonly before: string; readonly parts: readonly string[] };

function shared(...segments: string[]): string {
  const path = sharedData(...segments);
  if (path === undefined) throw new Error('the shared test data are not there (CONTRIBUTING.md)');
  return path;
}

let seed = 42;
function random(below: number): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((seed / 2 ** 32) * below);
}

function templates(corpus: string): Template[] {
  const diagnostics = new RecordingDiagnostics();
  const mitre = MitreTable.parse(readFileSync(new URL('etc/ruleset/mitre/attack.json', productRoot()), 'utf8'));
  const ruleset = loadRuleset(readOfflineRuleset([shared('ruleset')], diagnostics), {
    ...{ diagnostics, compilePattern, mitre, logLevel: 3, mailLevel: 12 },
  });
  const engine = new Engine({
    ...{ ruleset, state: new EngineState(ruleset.rules), diagnostics },
    options: {
      mode: 'live',
      origin: { managerName: 'bench.example.net', cluster: undefined, showHiddenLabels: false },
      logFirewall: true,
      budget: DEFAULT_STEP_BUDGET,
    },
  });
  return readCorpus(shared('corpus', `${corpus}.log.gz`)).flatMap((message, index) => {
    const outcome = engine.process({
      queue: '1',
      location: '/var/log/syslog',
      message,
      receivedAt: START + index * 100,
    });
    if (!outcome.isAlert) return [];
    const line = Buffer.from(engine.jsonLine(outcome.alert, '0.0'), 'latin1').toString('utf8').trimEnd();
    const [, head, tail] = /^\{"timestamp":"[^"]*",(.*)"agent":\{.*?\}(,.*)$/s.exec(line) ?? [];
    if (head === undefined || tail === undefined) return [];
    const address = /"srcip":"([^"]+)"/.exec(tail)?.[1];
    return [{ before: head, parts: address === undefined ? [tail] : tail.split(address) }];
  });
}

const typical = templates('typical-50k');
const mixed = templates('mixed-20k');
const addresses = Array.from({ length: ADDRESSES }, () => Array.from({ length: 4 }, () => 1 + random(223)).join('.'));

function alertAt(index: number): string {
  const time = START + Math.floor((index / COUNT) * DAYS * DAY_MS);
  const pool = index % MIXED === 0 ? mixed : typical;
  const { before, parts } = pool[random(pool.length)] ?? { before: '', parts: [] };
  // Some addresses come often, most seldom.
  const address = addresses[random(random(ADDRESSES) + 1)] ?? '';
  const agent = String(1 + random(random(AGENTS) + 1)).padStart(3, '0');
  const text = parts
    .join(address)
    .replace('"id":"0.0"', `"id":"${String(Math.floor(time / 1000))}.${String(index * 1400)}"`);
  const stamp = new Date(time).toISOString().replace('Z', '+0000');
  return `{"timestamp":"${stamp}",${before}"agent":{"id":"${agent}","name":"host-${agent}","ip":"10.1.2.${String(Number(agent) % 250)}"}${text}\n`;
}

const home = new TemporaryHome();
writeFileSync(
  home.path('etc', 'manager.conf'),
  '<manager_config><alert_store><keep_days>0</keep_days><max_size>0</max_size></alert_store></manager_config>',
);
copyFileSync(new URL('etc/internal_options.conf', productRoot()), home.path('etc', 'internal_options.conf'));
const alerts = home.path('logs', 'alerts');
mkdirSync(alerts);
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const daemon = await RunningDaemon.start('svc-db', home);
const client = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
const ASK = { deadlineMs: 30_000 };
const stats = () => client.call('alerts.stats', {}, ASK);

/** Writes alerts a day's file after the other, no further ahead of the store than 200,000. */
async function writeAll(): Promise<number> {
  let [raw, day, fd] = [0, '', -1];
  for (let from = 0; from < COUNT; from += BATCH) {
    const lines = Array.from({ length: Math.min(BATCH, COUNT - from) }, (_none, index) => alertAt(from + index));
    const bytes = Buffer.from(lines.join(''));
    const path = datedPath(
      { directory: alerts, ...ALERT_FILES },
      dayOf(new Date(START + Math.floor((from / COUNT) * DAYS * DAY_MS))),
      0,
    );
    if (path !== day) {
      if (fd >= 0) closeSync(fd);
      mkdirSync(join(path, '..'), { recursive: true });
      fd = openSync(path, 'a');
      day = path;
    }
    writeSync(fd, bytes);
    raw += bytes.length;
    if (from % 100_000 === 0) {
      while (from - (await stats()).alerts > 200_000) await sleep(100);
    }
  }
  closeSync(fd);
  return raw;
}

async function measure(name: string, ask: (round: number) => Promise<unknown>): Promise<void> {
  const times: number[] = [];
  let last: unknown;
  for (let round = 0; round < ROUNDS; round += 1) {
    const from = performance.now();
    last = await ask(round);
    times.push(performance.now() - from);
  }
  times.sort((a, b) => a - b);
  const answer = JSON.stringify(last);
  console.log(
    `${name.padEnd(58)} p50 ${quantile(times, 0.5).toFixed(1)} ms, p95 ${quantile(times, 0.95).toFixed(1)} ms, first of all ${String(answer.length)} characters`,
  );
}

console.log(calibrate());
// In stretches that lie one behind the other, as they do in a file.
const sample = Buffer.from(
  Array.from({ length: 50_000 }, (_none, index) => alertAt(Math.floor(index / 1000) * 2001 + (index % 1000))).join(''),
);
const gzip = gzipSync(sample).length / 50_000;
console.log(
  `${String(COUNT)} alerts of ${(sample.length / 50_000).toFixed(0)} bytes, ${gzip.toFixed(1)} bytes each by gzip`,
);

const began = performance.now();
const before = processUsage(daemon.process.pid);
await writeAll();
while ((await stats()).alerts < COUNT) await sleep(20);
const seconds = (performance.now() - began) / 1000;
const after = processUsage(daemon.process.pid);
const { bytes, segments } = await stats();
console.log(
  `stored in ${seconds.toFixed(1)} s, ${(COUNT / seconds).toFixed(0)} a second while they are made, ${(((after.cpu - before.cpu) * 1e6) / COUNT).toFixed(1)} us of CPU of svc-db each, ${after.peak.toFixed(0)} MiB at most`,
);
const sealed = bytes / COUNT;
console.log(`${String(segments)} segments, ${sealed.toFixed(1)} bytes an alert, ${(sealed / gzip).toFixed(2)} of gzip`);

const common = { withinMs: 10_000, order: 'desc', limit: 50, count: false } as const;
const day = (round: number) => {
  const from = START + (round % DAYS) * DAY_MS;
  return { from, to: from + DAY_MS };
};
const counting = { withinMs: 10_000, buckets: 24, series: 10 } as const;
await measure('histogram of a day', (round) => client.call('alerts.histogram', { ...counting, ...day(round) }, ASK));
await measure('histogram of a day by level', (round) =>
  client.call('alerts.histogram', { ...counting, ...day(round), by: 'rule.level' }, ASK),
);
await measure('histogram of a day, level 7 and above, one agent', (round) =>
  client.call('alerts.histogram', { ...counting, ...day(round), level: 7, filters: { 'agent.id': ['007'] } }, ASK),
);
await measure('histogram of everything', () =>
  client.call('alerts.histogram', { ...counting, from: START, to: END }, ASK),
);
await measure('page of 50 newest', () => client.call('alerts.search', common, ASK));
await measure('page of 50 newest, level 9 and above', () => client.call('alerts.search', { ...common, level: 9 }, ASK));
await measure('page of 50 newest of an agent', (round) =>
  client.call('alerts.search', { ...common, filters: { 'agent.id': [String(700 + round)] } }, ASK),
);
await measure('page of 50 newest of an address', (round) =>
  client.call('alerts.search', { ...common, filters: { 'data.srcip': [addresses[round * 100] ?? ''] } }, ASK),
);
await measure('page of 50 newest of a seldom address', (round) =>
  client.call('alerts.search', { ...common, filters: { 'data.srcip': [addresses[19_000 + round] ?? ''] } }, ASK),
);
await measure('page of 50 newest of a rule, with their number', () =>
  client.call('alerts.search', { ...common, q: 'rule.id=5710', count: true }, ASK),
);
await measure('words: "failed password"', () =>
  client.call('alerts.search', { ...common, search: '"failed password" root' }, ASK),
);
await measure('words: a seldom address', (round) =>
  client.call('alerts.search', { ...common, search: addresses[18_000 + round] ?? '' }, ASK),
);
await measure('words: nowhere', (round) =>
  client.call('alerts.search', { ...common, search: `nowhere${String(round)}` }, ASK),
);
await measure('words: two that are seldom together', (round) =>
  client.call('alerts.search', { ...common, search: `${addresses[100 + round] ?? ''} ansible` }, ASK),
);
await measure('top 10 rules of a day', (round) =>
  client.call('alerts.top', { ...counting, ...day(round), field: 'rule.id', limit: 10 }, ASK),
);
await measure('top 10 addresses of a day', (round) =>
  client.call('alerts.top', { ...counting, ...day(round), field: 'data.srcip', limit: 10 }, ASK),
);

const live = new AlertFiles(alerts, new Date(END));
const delays: number[] = [];
let { cursor } = await client.call('alerts.follow', { after: 'end' }, ASK);
for (let round = 0; round < ROUNDS; round += 1) {
  const followed = client.call('alerts.follow', { after: cursor ?? 'end', waitMs: 10_000 }, ASK);
  await sleep(random(100));
  const from = performance.now();
  live.write(alertAt(COUNT - 1).trimEnd());
  ({ cursor } = await followed);
  delays.push(performance.now() - from);
}
delays.sort((a, b) => a - b);
console.log(`written to found: p50 ${quantile(delays, 0.5).toFixed(0)} ms, most ${(delays.at(-1) ?? 0).toFixed(0)} ms`);

/** Alerts as fast as they may come at worst: how far the store is behind meanwhile, and what it takes of the host. */
async function burst(): Promise<void> {
  const lines = Array.from({ length: BURST }, (_none, index) => alertAt(COUNT - BURST + index).trimEnd());
  const first = (await stats()).alerts;
  const used = processUsage(daemon.process.pid).cpu;
  const from = performance.now();
  let [written, behind] = [0, 0];
  const found = async (): Promise<number> => {
    const count = (await stats()).alerts - first;
    behind = Math.max(behind, written - count);
    return count;
  };
  while (written < BURST * BURST_SECONDS) {
    const due = Math.min(BURST * BURST_SECONDS, Math.floor(((performance.now() - from) / 1000) * BURST));
    const length = Math.min(BATCH, due - written);
    live.write(...Array.from({ length }, (_none, index) => lines[(written + index) % BURST] ?? ''));
    written += length;
    await Promise.all([found(), sleep(length === BATCH ? 0 : 50)]);
  }
  const writing = performance.now() - from;
  while ((await found()) < written) await sleep(20);
  const lag = performance.now() - from - writing;
  const cpu = ((processUsage(daemon.process.pid).cpu - used) * 1e6) / written;
  console.log(
    `${String(BURST)} a second for ${(writing / 1000).toFixed(1)} s: ${String(behind)} behind at most, all found ${(lag / 1000).toFixed(2)} s after the last, ${cpu.toFixed(1)} us of CPU of svc-db each`,
  );
}
await burst();

const { rss, peak } = processUsage(daemon.process.pid);
console.log(`memory of svc-db: ${rss.toFixed(0)} MiB, ${peak.toFixed(0)} MiB at most`);
live.close();
client.close();
await daemon.stop();
home.remove();
