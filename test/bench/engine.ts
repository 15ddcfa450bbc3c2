import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readOfflineRuleset } from '../../bin/offline/read-offline-ruleset.js';
import { DEFAULT_STEP_BUDGET, Engine } from '../../lib/engine/engine.js';
import { EngineState } from '../../lib/engine/engine-state.js';
import type { IncomingEvent } from '../../lib/engine/event.js';
import { loadRuleset } from '../../lib/engine/load/load-ruleset.js';
import { MitreTable } from '../../lib/engine/load/mitre-table.js';
import type { EventOutcome } from '../../lib/engine/outcome.js';
import type { RecordEnd } from '../../lib/output/end-of-records.js';
import { OutputFile } from '../../lib/output/output-file.js';
import { compilePattern } from '../../lib/patterns/compile-pattern.js';
import { optimizingLess } from '../../lib/process/optimizing-less.js';
import { productRoot } from '../../lib/product/product-root.js';
import { calibrate, measured, quantile, readCorpus } from '../support/process/measuring.js';
import { RecordingDiagnostics } from '../support/recording-diagnostics.js';

/*
 * Figures of the engine on one thread:
 *
 *   npm run bench -- engine --ruleset DIR[,DIR...] --corpus FILE [--mode decode|rules|alerts|files] [--json]
 *                           [--passes 3] [--repeat 3] [--rate 10000]
 *
 * The corpus is text, one log a line, plain or gzip. Events are received in virtual time, `--rate` of them a second. CPU
 * time is the median of the repeats; each repeat goes over the corpus `--passes` times with a new state. `files` writes the
 * alerts to files in a temporary directory, as svc-analysisd does.
 */
const MODES = ['decode', 'rules', 'alerts', 'files'] as const;
type Mode = (typeof MODES)[number];

const { values } = parseArgs({
  options: {
    ruleset: { type: 'string' },
    corpus: { type: 'string' },
    mode: { type: 'string', default: 'rules' },
    json: { type: 'boolean', default: false },
    passes: { type: 'string', default: '3' },
    repeat: { type: 'string', default: '3' },
    rate: { type: 'string', default: '10000' },
  },
});
const mode = MODES.find((each) => each === values.mode);
const passes = Number(values.passes);
const repeat = Number(values.repeat);
const rate = Number(values.rate);
if (
  values.ruleset === undefined ||
  values.corpus === undefined ||
  mode === undefined ||
  !(passes * repeat * rate > 0)
) {
  console.error(
    'usage: npm run bench -- engine --ruleset DIR[,DIR...] --corpus FILE [--mode decode|rules|alerts|files] [--json]',
  );
  process.exit(2);
}

const lines = readCorpus(values.corpus);
const START = 1_774_000_000_000;

const diagnostics = new RecordingDiagnostics();
const dirs = values.ruleset.split(',');
const loadStart = performance.now();
let ruleset: ReturnType<typeof loadRuleset> | undefined;
const loadCpu = measured(() => {
  const mitre = MitreTable.parse(readFileSync(new URL('etc/ruleset/mitre/attack.json', productRoot()), 'utf8'));
  const options = { diagnostics, compilePattern, mitre, logLevel: 3, mailLevel: 12 };
  ruleset = optimizingLess(() => loadRuleset(readOfflineRuleset(dirs, diagnostics), options));
});
const loadSeconds = (performance.now() - loadStart) / 1000;
if (ruleset === undefined) throw new Error('no ruleset');
const loaded = ruleset;
const rssAfterLoad = process.memoryUsage.rss();

function newEngine(): Engine {
  return new Engine({
    ruleset: loaded,
    state: new EngineState(loaded.rules),
    diagnostics,
    options: {
      mode: 'live',
      origin: { managerName: 'bench.example.net', cluster: undefined, showHiddenLabels: false },
      logFirewall: true,
      budget: DEFAULT_STEP_BUDGET,
    },
  });
}

let bytesWritten = 0;

/** Alerts are written after so many events, as the pipeline does when more wait. */
const EVENTS_PER_FLUSH = 1024;
const directory = mode === 'files' ? mkdtempSync(join(tmpdir(), 'svc-bench-')) : undefined;
process.on('exit', () => {
  if (directory !== undefined) rmSync(directory, { recursive: true });
});
const outputs =
  directory === undefined ? undefined : { text: outputFile('log', '\n\n'), json: outputFile('json', '\n') };
let unflushed = 0;

function outputFile(extension: string, recordEnd: RecordEnd): OutputFile {
  return new OutputFile(
    { directory: directory ?? '', liveName: `alerts.${extension}`, stem: 'alerts', extension, recordEnd, maxBytes: 0 },
    new Date(),
  );
}

/** The alert of an event goes to the files. */
function write({ alert, isAlert, event }: EventOutcome, engine: Engine): void {
  if (outputs === undefined) return;
  const { text, json } = outputs;
  if (isAlert) {
    const id = `${String(Math.floor(event.receivedAt / 1000))}.${String(text.position)}`;
    text.append(engine.alertText(alert, id));
    json.append(engine.jsonLine(alert, id));
  }
  if (++unflushed < EVENTS_PER_FLUSH) return;
  unflushed = 0;
  text.flush();
  json.flush();
}

/** Runs one event; says whether it gave an alert. */
function run(engine: Engine, event: IncomingEvent, what: Mode): boolean {
  if (what === 'decode') {
    engine.decode(event);
    return false;
  }
  const outcome = engine.process(event);
  if (what === 'alerts' && outcome.isAlert) {
    const id = '1774000000.123456';
    bytesWritten += engine.alertText(outcome.alert, id).length + engine.alertJson(outcome.alert, { id }).length;
  }
  if (what === 'files') write(outcome, engine);
  return outcome.isAlert;
}

function eventAt(i: number): IncomingEvent {
  return {
    queue: '1',
    location: '/var/log/syslog',
    message: lines[i % lines.length] ?? '',
    receivedAt: START + Math.floor((i * 1000) / rate),
  };
}

const count = lines.length * passes;
const runs: number[] = [];
let alerts = 0;
let engine = newEngine();
for (let r = 0; r < repeat; r += 1) {
  engine = newEngine();
  alerts = 0;
  runs.push(
    measured(() => {
      for (let i = 0; i < count; i += 1) if (run(engine, eventAt(i), mode)) alerts += 1;
    }),
  );
}
runs.sort((a, b) => a - b);
const cpu = runs[Math.floor(runs.length / 2)] ?? 0;
const rssAfterRun = process.memoryUsage.rss();

// Memory and single events are measured apart: looking at the clock and the heap costs something.
engine = newEngine();
const STEP = 64;
let allocated = 0;
let heap = process.memoryUsage().heapUsed;
const sampled = Math.min(count, 60_000);
for (let i = 0; i < sampled; i += 1) {
  run(engine, eventAt(i), mode);
  if (i % STEP !== STEP - 1) continue;
  const now = process.memoryUsage().heapUsed;
  // a collection in between hides what was allocated before it
  if (now > heap) allocated += now - heap;
  heap = process.memoryUsage().heapUsed;
}
engine = newEngine();
const times = new Float64Array(lines.length);
for (let i = 0; i < lines.length; i += 1) {
  const event = eventAt(i);
  const before = performance.now();
  run(engine, event, mode);
  times[i] = (performance.now() - before) * 1000;
}
times.sort();
const rounded = (q: number): number => Math.round(quantile(times, q) * 10) / 10;

const figures = {
  mode,
  corpus: values.corpus,
  events: count,
  cpuUsPerEvent: Math.round((cpu / count) * 1e8) / 100,
  eventsPerSecond: Math.round(count / cpu),
  alerts,
  allocatedBytesPerEvent: Math.round(allocated / sampled),
  p50Us: rounded(0.5),
  p99Us: rounded(0.99),
  maxUs: rounded(1),
  loadSeconds: Math.round(loadSeconds * 1000) / 1000,
  loadCpuSeconds: Math.round(loadCpu * 1000) / 1000,
  rules: loaded.rules.rules.length,
  nodes: loaded.rules.nodeCount,
  rssAfterLoadMiB: Math.round(rssAfterLoad / 2 ** 20),
  rssAfterRunMiB: Math.round(rssAfterRun / 2 ** 20),
  rememberedEvents: engine.state.correlation.size,
  failures: engine.failures,
  writtenBytes: Math.round(bytesWritten / (repeat + 2)),
  calibration: calibrate(),
  node: process.version,
};
if (values.json) {
  console.log(JSON.stringify(figures));
} else {
  console.log(`${String(figures.events)} events of ${figures.corpus}, mode ${figures.mode}, Node ${figures.node}`);
  console.log(
    `  CPU per event       ${String(figures.cpuUsPerEvent)} us (${String(figures.eventsPerSecond)} events/s), ${String(figures.alerts)} alerts`,
  );
  console.log(
    `  one event           p50 ${String(figures.p50Us)} us, p99 ${String(figures.p99Us)} us, max ${String(figures.maxUs)} us`,
  );
  console.log(`  allocated per event ${String(figures.allocatedBytesPerEvent)} bytes`);
  console.log(
    `  ruleset             ${String(figures.rules)} rules, ${String(figures.nodes)} nodes, loaded in ${String(figures.loadSeconds)} s (CPU ${String(figures.loadCpuSeconds)} s)`,
  );
  console.log(
    `  resident memory     ${String(figures.rssAfterLoadMiB)} MiB after load, ${String(figures.rssAfterRunMiB)} MiB after the run, ${String(figures.rememberedEvents)} events remembered`,
  );
  console.log(
    `  calibration         sha256 ${figures.calibration.sha256Seconds.toFixed(2)} s, RegExp ${figures.calibration.regExpSeconds.toFixed(2)} s CPU`,
  );
}
