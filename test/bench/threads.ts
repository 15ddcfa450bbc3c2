import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { initHome } from '../../bin/control/home/init-home.js';
import { Counters } from '../../daemons/analysisd/counters.js';
import { EVENTS } from '../../daemons/analysisd/pipeline/journal-record.js';
import { Pipeline } from '../../daemons/analysisd/pipeline/pipeline.js';
import { loadSettings } from '../../daemons/analysisd/settings.js';
import type { ReceivedEvent } from '../../lib/bus/bus-event.js';
import { Journal } from '../../lib/journal/journal.js';
import { modelLines } from '../support/analysisd/model-threads.js';
import { RECORDING } from '../support/analysisd/recorded-results.js';
import { encodeEvents } from '../support/bus/listed-batch.js';
import { calibrate, readCorpus } from '../support/process/measuring.js';
import { RecordingLogger } from '../support/recording-logger.js';
import { sharedData } from '../support/shared-data.js';
import { TemporaryHome } from '../support/temporary-home.js';

/*
 * Figures of the analysis with several threads, without anything that brings events:
 *
 *   npm run bench -- threads [--ruleset DIR] [--corpus FILE] [--events 200000] [--agents 200] [--batch 256] [--warm 300000] [--threads 1,2]
 *   npm run bench -- threads --simulate [--threads 2,4] [--recording DIR] and the same
 *
 * A journal that waits is analysed; what comes first warms the compiler up and is not measured. For each number of threads:
 * events a second, CPU of the process for each event, and of its
 * main thread alone. With several threads the latter is what they cannot share, so that it bounds what more of them bring.
 *
 * With `--simulate` the results of as many threads are recorded, and given once more by threads that do nothing else: how many
 * events a second the main thread takes by itself. What was measured goes into a model of more threads, in virtual time
 * (`test/support/analysisd/model-threads.ts`). What lies in the directory of `--recording`, by a run with the same arguments, is not
 * recorded again, and no model is made then.
 */
const { values } = parseArgs({
  options: {
    ruleset: { type: 'string' },
    corpus: { type: 'string' },
    events: { type: 'string', default: '200000' },
    agents: { type: 'string', default: '200' },
    batch: { type: 'string', default: '256' },
    warm: { type: 'string', default: '300000' },
    threads: { type: 'string', default: '1,2' },
    simulate: { type: 'boolean', default: false },
    recording: { type: 'string' },
  },
});
const ruleset = values.ruleset ?? sharedData('ruleset');
const corpus = values.corpus ?? sharedData('corpus', 'typical-50k.log.gz');
const measured = Number(values.events);
const warm = Number(values.warm);
const agents = Number(values.agents);
const batch = Number(values.batch);
const counts = values.threads.split(',').map(Number);
if (ruleset === undefined || corpus === undefined || ![measured, agents, batch, ...counts].every((each) => each > 0)) {
  console.error(
    'usage: npm run bench -- threads --ruleset DIR --corpus FILE [--events N] [--agents N] [--threads 1,2]',
  );
  process.exit(2);
}
const messages = readCorpus(corpus).map((line) => Buffer.from(line, 'latin1'));
/** Seconds in which that many events come in, in the time of the events. */
const EVENTS_PER_SECOND = 20_000;
/** Recorded results are given that often. */
const REPLAYS = 4;
/** `/proc` counts CPU time in these. */
const TICKS_PER_SECOND = 100;
const POLL_MS = 5;

/** CPU seconds of the main thread. */
function mainThreadSeconds(): number {
  const stat = readFileSync(`/proc/self/task/${String(process.pid)}/stat`, 'latin1');
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return (user + system) / TICKS_PER_SECOND;
}

async function makeHome(rulesetDirectory: string, threads: number): Promise<TemporaryHome> {
  const home = new TemporaryHome();
  await initHome(home, { role: 'server' });
  for (const [from, to] of [
    ['decoders', 'ruleset/decoders'],
    ['rules', 'ruleset/rules'],
    ['lists', 'etc/lists'],
  ] as const) {
    rmSync(home.path(to), { recursive: true, force: true });
    cpSync(join(rulesetDirectory, from), home.path(to), { recursive: true });
  }
  const lists = readdirSync(home.path('etc/lists'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `<list>${relative(home.root, join(entry.parentPath, entry.name))}</list>`);
  writeFileSync(
    home.path('etc', 'manager.conf'),
    `<manager_config><alerts><log_alert_level>3</log_alert_level></alerts>
  <ruleset><decoder_dir>ruleset/decoders</decoder_dir><rule_dir>ruleset/rules</rule_dir>${lists.join('')}</ruleset>
  <analysis><threads>${String(threads)}</threads></analysis></manager_config>\n`,
  );
  return home;
}

/** Puts the events into the journal of a home. */
async function fillJournal(home: TemporaryHome, total: number): Promise<void> {
  const directory = home.path('queue', 'journal');
  mkdirSync(directory, { recursive: true });
  const journal = await Journal.open({
    directory,
    sync: 'never',
    segmentBytes: 64 * 2 ** 20,
    maxBytes: 8 * 2 ** 30,
    onDamage: () => {},
  });
  const start = Date.now();
  for (let from = 0; from < total; from += batch) {
    const events: ReceivedEvent[] = [];
    for (let i = from; i < Math.min(total, from + batch); i += 1) {
      const id = String(1 + (i % agents)).padStart(3, '0');
      events.push({
        queue: '1',
        location: '/var/log/syslog',
        message: messages[i % messages.length] ?? Buffer.alloc(0),
        receivedAt: start + Math.floor((i * 1000) / EVENTS_PER_SECOND),
        agent: { id, name: `host-${id}`, ip: '10.0.0.1' },
        stream: 'bench',
        sequence: i + 1,
      });
    }
    await journal.append(EVENTS, encodeEvents(events), start);
  }
  await journal.close();
}

type Measured = {
  readonly eventsPerSecond: number;
  /** Microseconds of CPU for each event: all, and those of the main thread. */
  readonly cpu: number;
  readonly mainCpu: number;
};

async function measure(rulesetDirectory: string, threads: number, program?: string): Promise<Measured> {
  const home = await makeHome(rulesetDirectory, threads);
  const times = program === 'replaying-thread.js' ? REPLAYS : 1;
  try {
    await fillJournal(home, times * (warm + measured));
    const counters = new Counters(Date.now());
    const loadStart = performance.now();
    const pipeline = await Pipeline.open({
      home,
      logger: new RecordingLogger(),
      setProblem: () => {},
      settings: loadSettings(home),
      counters,
      epsLimiter: undefined,
      now: Date.now,
      onWritten: () => {},
      ...(program === undefined ? {} : { threadProgram: new URL(`../support/analysisd/${program}`, import.meta.url) }),
    });
    const failed = (error: unknown): void => {
      throw error;
    };
    await pipeline.start(failed);
    const loaded = performance.now();
    while (pipeline.pending > times * measured) await delay(POLL_MS);
    const left = pipeline.pending;
    const begun = performance.now();
    const cpu = process.cpuUsage();
    const main = mainThreadSeconds();
    while (pipeline.pending > 0) await delay(POLL_MS);
    const seconds = (performance.now() - begun) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    const mainSeconds = mainThreadSeconds() - main;
    const found: Measured = {
      eventsPerSecond: left / seconds,
      cpu: (user + system) / left,
      mainCpu: (mainSeconds * 1e6) / left,
    };
    console.log(
      `${String(threads).padStart(2)} threads${program === undefined ? '' : ` (${program})`}: ${String(Math.round(found.eventsPerSecond))} events/s, ${found.cpu.toFixed(2)} us CPU each, ` +
        `${found.mainCpu.toFixed(2)} us of them in the main thread; ${String(counters.alertsWritten)} alerts, ` +
        `${String(pipeline.stats().threads.questions)} questions; ${((loaded - loadStart) / 1000).toFixed(1)} s to start, ` +
        `${String(Math.round(process.memoryUsage().rss / 2 ** 20))} MiB`,
    );
    await pipeline.stop();
    return found;
  } finally {
    home.remove();
  }
}

/** Measures what the model needs, and says what it gives. */
async function simulate(rulesetDirectory: string): Promise<void> {
  const recording = values.recording ?? mkdtempSync(join(tmpdir(), 'svc-threads-'));
  process.env[RECORDING] = recording;
  mkdirSync(recording, { recursive: true });
  if (readdirSync(recording).length > 0) {
    for (const threads of counts) await measure(rulesetDirectory, threads, 'replaying-thread.js');
    return;
  }
  try {
    const one = await measure(rulesetDirectory, 1);
    for (const threads of counts.filter((count) => count > 1)) {
      const several = await measure(rulesetDirectory, threads);
      await measure(rulesetDirectory, threads, 'recording-thread.js');
      const main = await measure(rulesetDirectory, threads, 'replaying-thread.js');
      const costs = { one: one.cpu, thread: several.cpu - several.mainCpu, main: main.mainCpu };
      console.log(`model by ${String(threads)} threads, us an event: ${JSON.stringify(costs)}`);
      for (const line of modelLines(costs, agents)) console.log(line);
    }
  } finally {
    if (values.recording === undefined) rmSync(recording, { recursive: true, force: true });
  }
}

console.log(
  `${String(measured)} events behind ${String(warm)} of ${corpus}, ${String(agents)} agents, batches of ${String(batch)}, Node ${process.version}`,
);
if (values.simulate) await simulate(ruleset);
else for (const threads of counts) await measure(ruleset, threads);
const { sha256Seconds, regExpSeconds } = calibrate();
console.log(`calibration       sha256 ${sha256Seconds.toFixed(2)} s, RegExp ${regExpSeconds.toFixed(2)} s CPU`);
