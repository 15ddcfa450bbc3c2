import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, watch, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { initHome } from '../../bin/control/home/init-home.js';
import type { BusEvent } from '../../lib/bus/bus-event.js';
import { analysisdContract } from '../../lib/bus/contracts/analysisd.js';
import { EventProducer } from '../../lib/bus/event-producer.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { readDaemonStatus } from '../../lib/daemon/daemon-status.js';
import { Home } from '../../lib/home/home.js';
import type { DaemonName } from '../../lib/product/daemon-names.js';
import { productRoot } from '../../lib/product/product-root.js';
import { ApiClient } from '../support/api/api-client.js';
import { eventually } from '../support/eventually.js';
import { GrowingFile } from '../support/logcollector/growing-file.js';
import { calibrate, quantile, readCorpus } from '../support/process/measuring.js';
import { type ProcessUsage, processUsage } from '../support/process/process-usage.js';
import { RecordingLogger } from '../support/recording-logger.js';
import { sharedData } from '../support/shared-data.js';

/*
 * Figures of the whole way from the bus to the alerts, with the real svc-analysisd on a temporary home:
 *
 *   npm run bench -- pipeline [--ruleset DIR] [--corpus FILE] [--events 300000] [--sync 10ms,batch,never] [--samples 200]
 *     [--threads 1] [--agents 0]
 *
 * For every sync policy of the journal: events a second until all are acknowledged, and until all are analysed; CPU of the
 * daemon for each, and its memory; then, at a low rate, the time from sending one event until its alert can be read from
 * alerts.json, over the bus and over the API. The directory holds `decoders/`, `rules/` and `lists/`. With agents, events come
 * from them in turn, else from the manager itself; threads gain nothing without.
 */
const { values } = parseArgs({
  options: {
    ruleset: { type: 'string' },
    corpus: { type: 'string' },
    events: { type: 'string', default: '300000' },
    sync: { type: 'string', default: '10ms,batch,never' },
    samples: { type: 'string', default: '200' },
    threads: { type: 'string', default: '1' },
    agents: { type: 'string', default: '0' },
  },
});
const ruleset = values.ruleset ?? sharedData('ruleset');
const corpus = values.corpus ?? sharedData('corpus', 'typical-50k.log.gz');
const total = Number(values.events);
const samples = Number(values.samples);
if (ruleset === undefined || corpus === undefined || !(total > 0) || !(samples > 0)) {
  console.error('usage: npm run bench -- pipeline --ruleset DIR --corpus FILE [--events N] [--sync 10ms,batch,never]');
  process.exit(2);
}
const lines = readCorpus(corpus).map((line) => Buffer.from(line, 'latin1'));
const START_MS = 60_000;
/** Pause between two events of which the latency is taken. */
const PAUSE_MS = 20;
const ANSWER_MS = 10_000;

/** A home with the ruleset of the bench, its daemons, and one end of everything. */
class Bench {
  readonly home: Home;
  readonly producer: EventProducer;
  readonly client: RequestClient<typeof analysisdContract>;
  readonly #directory = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  readonly #children = new Map<DaemonName, ChildProcess>();

  constructor() {
    this.home = new Home(join(this.#directory, 'home'));
    this.producer = new EventProducer({
      path: this.home.eventsSocket(),
      daemon: 'svc-bench',
      logger: new RecordingLogger(),
    });
    this.client = new RequestClient({ contract: analysisdContract, path: this.home.socket('svc-analysisd') });
  }

  async start(rulesetDirectory: string, sync: string): Promise<void> {
    await initHome(this.home, { role: 'server' });
    for (const [from, to] of [
      ['decoders', 'ruleset/decoders'],
      ['rules', 'ruleset/rules'],
      ['lists', 'etc/lists'],
    ] as const) {
      rmSync(this.home.path(to), { recursive: true });
      cpSync(join(rulesetDirectory, from), this.home.path(to), { recursive: true });
    }
    const lists = readdirSync(this.home.path('etc/lists'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => `<list>${relative(this.home.root, join(entry.parentPath, entry.name))}</list>`);
    writeFileSync(
      this.home.path('etc', 'manager.conf'),
      `<manager_config>
  <alerts><log_alert_level>3</log_alert_level></alerts>
  <ruleset><decoder_dir>ruleset/decoders</decoder_dir><rule_dir>ruleset/rules</rule_dir>${lists.join('')}</ruleset>
  <journal><sync>${sync}</sync></journal>
  <analysis><threads>${values.threads}</threads></analysis>
</manager_config>
`,
    );
    writeFileSync(
      this.home.path('api', 'configuration', 'api.yaml'),
      "host: ['127.0.0.1']\nport: 0\naccess:\n  max_request_per_minute: 0\n",
    );
    await this.startDaemon('svc-analysisd');
    this.producer.start();
  }

  async startDaemon(name: DaemonName): Promise<void> {
    const program = fileURLToPath(new URL(`bin/${name}`, productRoot()));
    const child = spawn(process.execPath, [program, '--home', this.home.root], { stdio: 'ignore' });
    this.#children.set(name, child);
    await eventually(
      `${name} runs`,
      async () => {
        if (child.exitCode !== null) throw new Error(readFileSync(this.home.path('logs', 'manager.log'), 'utf8'));
        return (await readDaemonStatus(this.home, [name])).get(name)?.state === 'running';
      },
      START_MS,
    );
  }

  /** What a daemon used so far. */
  usage(name: DaemonName): ProcessUsage {
    return processUsage(this.#children.get(name)?.pid);
  }

  /** Events that were taken through the engine since the start. */
  async analysed(): Promise<number> {
    const { events } = (await this.client.call('stats', {})) as { events: Record<string, number> };
    return events['analysed'] ?? events['processed'] ?? 0;
  }

  async end(): Promise<void> {
    await this.producer.close(0);
    this.client.close();
    this.remove();
  }

  /** Ends the daemons and removes the home. */
  remove(): void {
    for (const child of this.#children.values()) child.kill('SIGKILL');
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** Reads alerts.json while it grows, and tells how long the alert of a text took. */
class AlertTimes {
  readonly #file: GrowingFile;
  readonly #times: number[] = [];

  constructor(home: Home) {
    const path = home.path('logs', 'alerts', 'alerts.json');
    this.#file = new GrowingFile(path, statSync(path).size);
  }

  /** Milliseconds, sorted. */
  get sorted(): Float64Array {
    return Float64Array.from(this.#times).sort();
  }

  /** Notes the time from now until the alert of a text is there. @throws Error when none comes in time */
  async take(text: string, send: () => Promise<unknown>): Promise<void> {
    const start = performance.now();
    const seen = this.#waitFor(text);
    await send();
    this.#times.push((await seen) - start);
  }

  #waitFor(text: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const watcher = watch(this.#file.path, () => {
        if (!this.#file.read().includes(text)) return;
        clearTimeout(timer);
        watcher.close();
        resolve(performance.now());
      });
      const timer = setTimeout(() => {
        watcher.close();
        reject(new Error(`no alert for '${text}'`));
      }, ANSWER_MS);
    });
  }
}

/** Whom events come from in turn; empty: from the manager itself. */
const agents = Array.from({ length: Number(values.agents) }, (_, index) => {
  const id = String(index + 1).padStart(3, '0');
  return { id, name: `host-${id}`, ip: 'any' };
});

function busEvent(message: Buffer, number = 0): BusEvent {
  const agent = agents[number % Math.max(1, agents.length)];
  return { queue: '1', location: '/var/log/syslog', message, receivedAt: Date.now(), agent };
}

/** A log line that gives an alert with any ruleset of the field, with a number that shows in it. */
function failedLogin(number: number): string {
  return `Nov 21 03:00:00 web01 sshd[4242]: Failed password for invalid user bench${String(number)} from 203.0.113.9 port 4711 ssh2`;
}

async function sendAll(bench: Bench): Promise<void> {
  const { producer } = bench;
  for (let i = 0; i < total; i += 1) {
    const event = busEvent(lines[i % lines.length] ?? Buffer.alloc(0), i);
    while (!producer.trySend(event)) await producer.ready();
  }
  while (producer.pending > 0) await delay(1);
}

async function throughput(bench: Bench): Promise<void> {
  await bench.producer.send(busEvent(lines[0] ?? Buffer.from('first')));
  const analysedBefore = await bench.analysed();
  const before = bench.usage('svc-analysisd');
  const start = performance.now();
  await sendAll(bench);
  const acknowledged = (performance.now() - start) / 1000;
  while ((await bench.analysed()) - analysedBefore < total) await delay(10);
  const analysed = (performance.now() - start) / 1000;
  const after = bench.usage('svc-analysisd');
  const cpu = ((after.cpu - before.cpu) * 1e6) / total;
  console.log(
    `  ${perSecond(acknowledged)} events/s acknowledged, ${perSecond(analysed)} analysed with their alerts written`,
  );
  console.log(
    `  ${cpu.toFixed(1)} us CPU of svc-analysisd for each; it has ${after.rss.toFixed(0)} MiB, ${after.peak.toFixed(0)} MiB at most`,
  );
}

function perSecond(seconds: number): string {
  return String(Math.round(total / seconds));
}

async function latency(bench: Bench): Promise<void> {
  const overBus = new AlertTimes(bench.home);
  for (let i = 0; i < samples; i += 1) {
    const text = failedLogin(i);
    await overBus.take(`bench${String(i)} from`, () => bench.producer.send(busEvent(Buffer.from(text))));
    await delay(PAUSE_MS);
  }
  console.log(`  bus to alert    ${times(overBus.sorted)}`);
  await bench.startDaemon('svc-apid');
  const agent = new Agent({ keepAlive: true });
  const client = new ApiClient(bench.home, agent);
  const overApi = new AlertTimes(bench.home);
  const answers: number[] = [];
  try {
    for (let i = -3; i < samples; i += 1) {
      const number = samples + 10 + i;
      const post = async (): Promise<void> => {
        const start = performance.now();
        const body = JSON.stringify({ events: [failedLogin(number)] });
        const answer = await client.call('POST', '/events', { 'content-type': 'application/json' }, body);
        if (answer?.status !== 200) throw new Error(`POST /events: ${String(answer?.status)} ${answer?.text ?? ''}`);
        answers.push(performance.now() - start);
      };
      // The first ones log in and connect.
      if (i < 0) await post();
      else await overApi.take(`bench${String(number)} from`, post);
      await delay(PAUSE_MS);
    }
  } finally {
    agent.destroy();
  }
  console.log(`  POST to alert   ${times(overApi.sorted)}; to the answer ${times(Float64Array.from(answers).sort())}`);
}

function times(sorted: Float64Array): string {
  return `p50 ${quantile(sorted, 0.5).toFixed(1)} ms, p99 ${quantile(sorted, 0.99).toFixed(1)} ms`;
}

console.log(
  `${String(total)} events of ${corpus}, ${values.threads} threads, ${values.agents} agents, Node ${process.version}`,
);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));
for (const sync of values.sync.split(',')) {
  const bench = new Bench();
  const onExit = (): void => {
    bench.remove();
  };
  process.on('exit', onExit);
  try {
    await bench.start(ruleset, sync);
    console.log(`sync ${sync}`);
    await throughput(bench);
    await latency(bench);
  } finally {
    await bench.end();
    process.off('exit', onExit);
  }
}
const { sha256Seconds, regExpSeconds } = calibrate();
console.log(`calibration       sha256 ${sha256Seconds.toFixed(2)} s, RegExp ${regExpSeconds.toFixed(2)} s CPU`);
