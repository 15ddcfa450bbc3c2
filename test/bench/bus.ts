import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BusEvent } from '../../lib/bus/bus-event.js';
import { EventProducer } from '../../lib/bus/event-producer.js';
import { EventSink } from '../../lib/bus/event-sink.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { RequestServer } from '../../lib/bus/request-server.js';
import { MemoryStreamPositions } from '../../lib/bus/stream-positions.js';
import { sampleContract, sampleHandlers } from '../support/bus/sample-contract.js';
import { RecordingLogger } from '../support/recording-logger.js';

/*
 * Figures of the bus, two processes: `node dist/test/bench/bus.js [SECONDS]`. The other process (server or sink) runs
 * this file with its role; CPU times are given for each side.
 */
const logger = new RecordingLogger();
const [role = 'main', path = ''] = process.argv.slice(2);

/** CPU milliseconds of this process, user and system. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

async function serve(): Promise<void> {
  let handed = 0;
  const server = new RequestServer({
    contract: sampleContract,
    handlers: { ...sampleHandlers(), stats: () => ({ cpuMs: cpuMs(), handed }) },
    path: `${path}.requests`,
    logger,
  });
  const sink = new EventSink({
    path: `${path}.events`,
    onBatch: (batch) => {
      handed += batch.events.length;
      return Promise.resolve();
    },
    positions: new MemoryStreamPositions(),
    logger,
  });
  await sink.start();
  await server.start();
  process.stdout.write('ready\n');
}

type Stats = { cpuMs: number; handed: number };

async function measure(seconds: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const base = join(directory, 'bus');
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), 'serve', base], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const client = new RequestClient({ contract: sampleContract, path: `${base}.requests` });
  const stats = async () => (await client.call('stats', {})) as Stats;
  try {
    for (const parallel of [1, 16, 256]) {
      const figures = await timed(stats, seconds, async (until) => {
        let calls = 0;
        const caller = async () => {
          while (performance.now() < until) {
            await client.call('add', { a: calls, b: 1 });
            calls += 1;
          }
        };
        await Promise.all(Array.from({ length: parallel }, caller));
        return calls;
      });
      report(`requests, ${parallel} at once`, figures);
    }
    const message = Buffer.from(
      'Nov 21 03:00:00 web01 sshd[4242]: Failed password for root from 203.0.113.9 port 4711 ssh2',
    );
    for (const [name, drive] of Object.entries(DRIVERS)) {
      const producer = new EventProducer({ path: `${base}.events`, daemon: 'bench', logger });
      producer.start();
      const event = (): BusEvent => ({ queue: '1', location: '/var/log/auth.log', message, receivedAt: Date.now() });
      await producer.send(event());
      const figures = await timed(stats, seconds, async (until) => {
        const before = producer.counters.acknowledged;
        await drive(producer, event, until);
        return producer.counters.acknowledged - before;
      });
      report(`events, ${name}`, figures);
      await producer.close();
    }
  } finally {
    client.close();
    child.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  }
}

type Drive = (producer: EventProducer, event: () => BusEvent, until: number) => Promise<void>;

const DRIVERS: Readonly<Record<string, Drive>> = {
  'trySend as fast as it goes': async (producer, event, until) => {
    while (performance.now() < until) {
      for (let count = 0; count < 100; count += 1) if (!producer.trySend(event())) await producer.ready();
    }
    while (producer.pending > 0) await new Promise(setImmediate);
  },
  'sendAll of 100': async (producer, event, until) => {
    const caller = async () => {
      while (performance.now() < until) await producer.sendAll(Array.from({ length: 100 }, event));
    };
    await Promise.all(Array.from({ length: 16 }, caller));
  },
  'send one by one, 16 at once': async (producer, event, until) => {
    const caller = async () => {
      while (performance.now() < until) await producer.send(event());
    };
    await Promise.all(Array.from({ length: 16 }, caller));
  },
};

type Figures = { count: number; wallMs: number; hereMs: number; thereMs: number };

async function timed(
  stats: () => Promise<Stats>,
  seconds: number,
  run: (until: number) => Promise<number>,
): Promise<Figures> {
  await run(performance.now() + 200 * Math.min(1, seconds));
  const before = await stats();
  const here = cpuMs();
  const start = performance.now();
  const count = await run(start + seconds * 1000);
  const wallMs = performance.now() - start;
  const hereMs = cpuMs() - here;
  return { count, wallMs, hereMs, thereMs: (await stats()).cpuMs - before.cpuMs };
}

function report(name: string, { count, wallMs, hereMs, thereMs }: Figures): void {
  const rate = Math.round((count / wallMs) * 1000);
  const cost = (ms: number) => ((ms * 1000) / count).toFixed(2);
  process.stdout.write(
    `${name.padEnd(32)} ${String(rate).padStart(8)}/s  CPU here ${cost(hereMs)} us, there ${cost(thereMs)} us each\n`,
  );
}

if (role === 'serve') await serve();
else await measure(Number(process.argv[2] ?? 2));
