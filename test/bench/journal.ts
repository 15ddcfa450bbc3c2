import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReceivedEvent } from '../../lib/bus/bus-event.js';
import { Journal } from '../../lib/journal/journal.js';
import type { SyncPolicy } from '../../lib/journal/journal-writer.js';
import { encodeEvents } from '../support/bus/listed-batch.js';
import { decodeEventBatch } from '../support/journal/decode-event-batch.js';

/*
 * Figures of the journal: `node dist/test/bench/journal.js [SECONDS [DIRECTORY]]`. The codec of event batches, appends by
 * sync policy with one and with 16 batches on their way, and reading back. The journal goes to a directory of its own
 * below DIRECTORY (default: the system's temporary directory), and is removed.
 */
const BATCH_EVENTS = 512;
const MIB = 1024 * 1024;

/** Events of 20 agents, as remoted passes them on: each agent's locations in turn. */
function sampleBatch(count: number): ReceivedEvent[] {
  const agents = Array.from({ length: 20 }, (_, index) => ({
    id: String(index + 1).padStart(3, '0'),
    name: `web${index}`,
    ip: '192.0.2.7',
    labels: new Map([['environment', 'production']]),
  }));
  const text = 'sshd[4242]: Failed password for root from 203.0.113.9 port 4711 ssh2';
  return Array.from({ length: count }, (_, index) => ({
    queue: '1',
    location: index % 3 === 0 ? '/var/log/auth.log' : '/var/log/syslog',
    message: Buffer.from(`Nov 21 03:00:${String(index % 60).padStart(2, '0')} web01 ${text}`),
    receivedAt: 1_795_219_200_000 + Math.floor(index / 8),
    agent: agents[Math.floor(index / 4) % agents.length],
    idempotency: undefined,
    stream: 'svc-remoted:4242-1795219200',
    sequence: index + 1,
  }));
}

function report(name: string, text: string): void {
  process.stdout.write(`${name.padEnd(34)} ${text}\n`);
}

function measureCodec(name: string, events: readonly ReceivedEvent[], seconds: number): void {
  const payload = encodeEvents(events);
  let sink = 0;
  for (const [what, run] of [
    ['encode', () => encodeEvents(events).length],
    ['decode', () => decodeEventBatch(payload).length],
  ] as const) {
    for (let warm = 0; warm < 200; warm += 1) sink += run();
    const start = performance.now();
    const end = start + seconds * 1000;
    let batches = 0;
    while (performance.now() < end) {
      for (let count = 0; count < 10; count += 1) sink += run();
      batches += 10;
    }
    const ns = ((performance.now() - start) * 1e6) / (batches * events.length);
    report(`${what}, ${name}`, `${ns.toFixed(0)} ns/event, ${(payload.length / events.length).toFixed(0)} bytes/event`);
  }
  if (sink === 0) throw new Error('nothing was measured');
}

async function measureAppends(sync: SyncPolicy, parallel: number, seconds: number, parent: string): Promise<void> {
  const directory = mkdtempSync(join(parent, 'svc-bench-'));
  const onDamage = () => {};
  try {
    const journal = await Journal.open({ directory, sync, segmentBytes: 64 * MIB, maxBytes: 4096 * MIB, onDamage });
    const events = sampleBatch(BATCH_EVENTS);
    const cpu = process.cpuUsage();
    const start = performance.now();
    const end = start + seconds * 1000;
    let longest = 0;
    const caller = async (): Promise<void> => {
      for (let now = performance.now(); now < end;) {
        const { next } = await journal.append(1, encodeEvents(events), now);
        // Room for the next ones, as a checkpoint makes it.
        journal.free(next - 256 * MIB);
        const after = performance.now();
        longest = Math.max(longest, after - now);
        now = after;
      }
    };
    await Promise.all(Array.from({ length: parallel }, caller));
    const elapsed = performance.now() - start;
    const { user, system } = process.cpuUsage(cpu);
    const { appended, bytesAppended, syncs } = journal.counters;
    const perSecond = Math.round((appended * BATCH_EVENTS * 1000) / elapsed);
    const policy = typeof sync === 'number' ? `every ${sync} ms` : sync;
    report(
      `append, ${policy}, ${parallel} at once`,
      `${perSecond} events/s, ${((bytesAppended / MIB / elapsed) * 1000).toFixed(0)} MiB/s, ` +
        `${((syncs * 1000) / elapsed).toFixed(0)} syncs/s, longest ${longest.toFixed(0)} ms, ` +
        `CPU ${(((user + system) * 1000) / (appended * BATCH_EVENTS)).toFixed(0)} ns/event`,
    );
    if (sync === 'never' && parallel > 1) measureReading(journal);
    await journal.close();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function measureReading(journal: Journal): void {
  const reader = journal.reader(journal.start);
  const start = performance.now();
  let bytes = 0;
  let records = 0;
  for (let record = reader.next(); record !== undefined; record = reader.next()) {
    bytes += record.next - record.position;
    records += 1;
  }
  const elapsed = performance.now() - start;
  reader.close();
  const ns = (elapsed * 1e6) / (records * BATCH_EVENTS);
  report('read', `${((bytes / MIB / elapsed) * 1000).toFixed(0)} MiB/s, ${ns.toFixed(0)} ns/event`);
}

const seconds = Number(process.argv[2] ?? 2);
const parent = process.argv[3] ?? tmpdir();
const batch = sampleBatch(BATCH_EVENTS);
measureCodec('20 agents', batch, seconds / 2);
measureCodec(
  'one log file',
  batch.map((event) => ({ ...event, agent: undefined, location: '/var/log/auth.log' })),
  seconds / 2,
);
for (const sync of ['batch', 10, 'never'] as const) {
  for (const parallel of [1, 16]) await measureAppends(sync, parallel, seconds, parent);
}
