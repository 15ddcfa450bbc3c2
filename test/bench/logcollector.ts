import { appendFileSync, closeSync, copyFileSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { EventBatch } from '../../lib/bus/bus-event.js';
import { EventSink } from '../../lib/bus/event-sink.js';
import { MemoryStreamPositions } from '../../lib/bus/stream-positions.js';
import { productRoot } from '../../lib/product/product-root.js';
import { RunningDaemon } from '../support/daemon/running-daemon.js';
import { eventually } from '../support/eventually.js';
import { calibrate, quantile } from '../support/process/measuring.js';
import { processUsage } from '../support/process/process-usage.js';
import { RecordingLogger } from '../support/recording-logger.js';
import { TemporaryHome } from '../support/temporary-home.js';

/*
 * Figures of following logs, with the real svc-logcollector on a temporary home; this process is the sink and keeps nothing:
 *
 *   npm run bench -- logcollector [--files 1000] [--seconds 30] [--lines 2000000]
 *
 * CPU of the daemon while nothing is written to the files, while each of them gets a line a second, and how many lines of
 * 131 bytes it takes from one file that holds them already, alone and with patterns; the time from a line written until the
 * sink has it.
 */
const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '30' },
    lines: { type: 'string', default: '2000000' },
  },
});
const files = Number(values.files);
const seconds = Number(values.seconds);
const lines = Number(values.lines);
if (!(files > 0) || !(seconds > 0) || !(lines > 0)) {
  console.error('usage: npm run bench -- logcollector [--files N] [--seconds S] [--lines N]');
  process.exit(2);
}
const LINE = 'Mar 20 09:46:40 web02 sshd[10339]: Disconnected from user ubuntu 10.3.11.191 port 29678'.padEnd(
  130,
  ' x',
);
const JSON_LINE = JSON.stringify({ time: '2026-03-20T09:46:40Z', host: 'web02', message: 'x'.repeat(60) }).padEnd(130);
const LINES_AT_ONCE = 10_000;
/** Time after the start in which the daemon opens its files. */
const SETTLE_MS = 8000;
const WAIT_MS = 120_000;
const SAMPLES = 200;
const SAMPLE_PAUSE_MS = 20;

/** A home with a sink that counts, and svc-logcollector on it. */
class Bench {
  readonly home = new TemporaryHome();
  taken = 0;
  /** Told of each batch. */
  seen: (batch: EventBatch) => void = () => {};
  daemon: RunningDaemon | undefined;
  readonly #sink: EventSink;

  constructor(blocks: string) {
    const { home } = this;
    mkdirSync(home.path('logs', 'app'));
    const options = fileURLToPath(new URL('etc/internal_options.conf', productRoot()));
    copyFileSync(options, home.path('etc', 'internal_options.conf'));
    writeFileSync(home.path('etc', 'local_internal_options.conf'), `logcollector.max_files=${String(files)}\n`);
    writeFileSync(home.path('etc', 'manager.conf'), `<manager_config>${blocks}</manager_config>\n`);
    this.#sink = new EventSink({
      path: home.eventsSocket(),
      positions: new MemoryStreamPositions(),
      logger: new RecordingLogger(),
      onBatch: (batch) => {
        this.taken += batch.events.length;
        this.seen(batch);
        return Promise.resolve();
      },
    });
  }

  path(number: number): string {
    return this.home.path('logs', 'app', `${String(number)}.log`);
  }

  async start(): Promise<void> {
    await this.#sink.start();
    this.daemon = await RunningDaemon.start('svc-logcollector', this.home);
  }

  get usage(): ReturnType<typeof processUsage> {
    return processUsage(this.daemon?.process.pid);
  }

  async end(): Promise<void> {
    await this.daemon?.stop('SIGKILL');
    await this.#sink.stop();
    this.home.remove();
  }
}

const block = (location: string, more = ''): string =>
  `<localfile><log_format>syslog</log_format><location>${location}</location>${more}</localfile>`;
const number = (value: number): string => Math.round(value).toLocaleString('en-US');

async function share(bench: Bench, what: string, work: () => Promise<void>): Promise<void> {
  const { cpu } = bench.usage;
  const start = performance.now();
  await work();
  const passed = (performance.now() - start) / 1000;
  const { cpu: after, rss, peak } = bench.usage;
  console.log(
    `${what}: ${(((after - cpu) / passed) * 100).toFixed(1)} % of a core, ${rss.toFixed(0)} MiB, ${peak.toFixed(0)} MiB at most`,
  );
}

async function manyFiles(): Promise<void> {
  const bench = new Bench(block('logs/app/*.log'));
  try {
    for (let i = 0; i < files; i += 1) writeFileSync(bench.path(i), `${LINE}\n`);
    await bench.start();
    await delay(SETTLE_MS);
    await share(bench, `${number(files)} files, nothing is written`, () => delay(seconds * 1000));
    await share(bench, `${number(files)} files, a line a second each`, async () => {
      const begin = performance.now();
      for (let round = 1; round <= seconds; round += 1) {
        for (let i = 0; i < files; i += 1) appendFileSync(bench.path(i), `${LINE}\n`);
        await delay(Math.max(0, begin + round * 1000 - performance.now()));
      }
    });
    await eventually('all lines', () => bench.taken >= files * seconds, WAIT_MS);
    const times: number[] = [];
    for (let i = 0; i < SAMPLES; i += 1) {
      const seen = new Promise<void>((resolve) => {
        bench.seen = () => resolve();
      });
      const start = performance.now();
      appendFileSync(bench.path(i % files), `${LINE}\n`);
      await seen;
      times.push(performance.now() - start);
      await delay(SAMPLE_PAUSE_MS);
    }
    times.sort((a, b) => a - b);
    console.log(
      `  a line until the sink has it: p50 ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms`,
    );
  } finally {
    await bench.end();
  }
}

async function oneFile(what: string, more: string, line = LINE, format = 'syslog'): Promise<void> {
  const future = '<only-future-events max-size="2GB">no</only-future-events>';
  const bench = new Bench(block('logs/app/0.log', future + more).replace('>syslog<', `>${format}<`));
  try {
    const text = Buffer.from(`${line}\n`.repeat(LINES_AT_ONCE));
    const descriptor = openSync(bench.path(0), 'w');
    for (let i = 0; i < lines; i += LINES_AT_ONCE) writeSync(descriptor, text);
    closeSync(descriptor);
    let first = 0;
    let cpu = 0;
    let before = 0;
    bench.seen = () => {
      if (first > 0) return;
      [first, cpu, before] = [performance.now(), bench.usage.cpu, bench.taken];
    };
    await bench.start();
    const total = Math.ceil(lines / LINES_AT_ONCE) * LINES_AT_ONCE;
    await eventually('all lines', () => bench.taken >= total, WAIT_MS);
    const passed = (performance.now() - first) / 1000;
    const { cpu: after, peak } = bench.usage;
    const count = total - before;
    console.log(
      `${what}: ${number(count / passed)} lines/s, ${(((after - cpu) * 1e6) / count).toFixed(2)} us of CPU each, ${peak.toFixed(0)} MiB at most`,
    );
  } finally {
    await bench.end();
  }
}

await oneFile('one file', '');
await oneFile('one file, ignore and restrict', '<ignore>debug: </ignore><restrict type="osmatch">sshd</restrict>');
await oneFile('one file, json', '', JSON_LINE, 'json');
await manyFiles();
const { sha256Seconds, regExpSeconds } = calibrate();
console.log(`calibration: sha256 ${sha256Seconds.toFixed(2)} s, RegExp ${regExpSeconds.toFixed(2)} s CPU`);
