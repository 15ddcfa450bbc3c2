import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { FimDatabase } from '../../daemons/db/fim/fim-database.js';
import { fimHandlers } from '../../daemons/db/fim/fim-handlers.js';
import { defineContract } from '../../lib/bus/contract.js';
import { commonHandlers, commonMethods } from '../../lib/bus/contracts/common.js';
import { fimMethods } from '../../lib/bus/contracts/db-fim.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { RequestServer } from '../../lib/bus/request-server.js';
import { calibrate } from '../support/process/measuring.js';
import { RecordingLogger } from '../support/recording-logger.js';
import { fileAttributes, fimEvent } from '../support/syscheckd/fim-kit.js';

/*
 * Figures of files in svc-db: `npm run bench -- fim-db [ROWS]`, 1,000,000 by default. One process serves as svc-db does, this
 * one sends over the bus. Events: those of 20,000 files of each of five agents, then modifications of them; then agent 001
 * is filled up to ROWS, and asked for hashes. CPU is that of the serving process.
 */
const [first = '1000000', role = 'main', directory = ''] = process.argv.slice(2);
const rows = Number(first);
const PER_CALL = 2000;
const CALLS_AT_ONCE = 2;
const contract = defineContract('svc-db', { ...commonMethods, ...fimMethods });
const line = (name: string, value: string) => process.stdout.write(`${name.padEnd(58)} ${value}\n`);
const mebibytes = (bytes: number) => `${(bytes / 1024 ** 2).toFixed(0)} MiB`;

async function serve(): Promise<void> {
  const fim = await FimDatabase.open({
    directory: join(directory, 'fim'),
    logger: new RecordingLogger(),
    setProblem: () => {},
    knows: () => true,
    now: () => Date.now(),
  });
  await fim.start();
  let late = 0;
  let last = performance.now();
  setInterval(() => {
    const now = performance.now();
    late = Math.max(late, now - last - 10);
    last = now;
  }, 10).unref();
  const server = new RequestServer({
    contract,
    path: join(directory, 'bus.sock'),
    logger: new RecordingLogger(),
    handlers: {
      ...commonHandlers('svc-db', {
        stats: () => {
          const { user, system } = process.cpuUsage();
          const stalled = late;
          late = 0;
          return { cpu: (user + system) / 1000, system: system / 1000, rss: process.memoryUsage().rss, stalled };
        },
        sections: new Map(),
        reload: () => Promise.resolve([]),
      }),
      ...fimHandlers(fim, () => Date.now()),
    },
  });
  await server.start();
  process.stdin.resume();
  process.stdin.on('end', () => {
    void server
      .stop()
      .then(() => fim.close())
      .then(() => process.exit(0));
  });
}

/** As a scan goes: directory by directory, in each in no order. */
function path(index: number): string {
  const directory = String(Math.floor(index / 200)).padStart(5, '0');
  return `/usr/share/package-${directory}/lib/some-directory/file-${String((index * 7919) % 200).padStart(3, '0')}-${String(index)}.so`;
}

function attributes(index: number, round: number): Record<string, unknown> {
  return fileAttributes({
    content: `file ${String(index)} ${String(round)}`,
    mtime: 1_700_000_000 + index,
    inode: 100_000 + index,
  });
}

async function main(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'svc-bench-fim-'));
  const server = spawn(process.execPath, [...process.execArgv, fileURLToPath(import.meta.url), first, 'serve', home], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const client = new RequestClient({ contract, path: join(home, 'bus.sock') });
  try {
    for (let tries = 0; ; tries += 1) {
      try {
        await client.call('ping', {});
        break;
      } catch (error) {
        if (tries > 100) throw error;
        await delay(100);
      }
    }
    await measure(client, home);
  } finally {
    client.close();
    server.stdin.end();
    await new Promise((resolve) => server.on('exit', resolve));
    rmSync(home, { recursive: true, force: true });
  }
}

type Client = RequestClient<typeof contract>;
let position = 0;

async function usage(client: Client): Promise<{ cpu: number; system: number; rss: number; stalled: number }> {
  return (await client.call('stats', {})) as unknown as Awaited<ReturnType<typeof usage>>;
}

/** Sends events; they are made beforehand, a part at a time. */
async function send(
  client: Client,
  name: string,
  events: readonly { agent: string; message: Buffer }[],
): Promise<void> {
  const before = await usage(client);
  const started = performance.now();
  await sendQuietly(client, events);
  const seconds = (performance.now() - started) / 1000;
  const after = await usage(client);
  const rate = (events.length / seconds).toFixed(0);
  const each = (((after.cpu - before.cpu) / events.length) * 1000).toFixed(1);
  const system = (((after.system - before.system) / events.length) * 1000).toFixed(1);
  line(
    name,
    `${rate} events/s, ${each} µs CPU each (system ${system}), longest stall ${after.stalled.toFixed(0)} ms, RSS ${mebibytes(after.rss)}`,
  );
}

async function measure(client: Client, home: string): Promise<void> {
  const { sha256Seconds, regExpSeconds } = calibrate();
  line('calibration', `sha256 ${sha256Seconds.toFixed(2)} s, RegExp ${regExpSeconds.toFixed(2)} s CPU`);
  const agents = ['002', '003', '004', '005', '006'];
  const make = (type: 'added' | 'modified', round: number) =>
    Array.from({ length: 100_000 }, (_none, index) => ({
      agent: agents[Math.floor(index / 20_000)] ?? '002',
      message: Buffer.from(fimEvent(type, path(index), attributes(index, round))),
    }));
  await send(client, '100,000 files added, of 5 agents', make('added', 0));
  await send(client, '100,000 files modified, other content', make('modified', 1));
  await send(client, '100,000 files modified, the same content', make('modified', 1));
  for (let from = 0; from < rows; from += 100_000) {
    const part = Array.from({ length: Math.min(100_000, rows - from) }, (_none, index) => ({
      agent: '001',
      message: Buffer.from(fimEvent('added', path(from + index), attributes(from + index, 0))),
    }));
    const until = from + part.length;
    if (from === 0 || until >= rows) await send(client, `agent 001 filled from ${from} to ${until}`, part);
    else await sendQuietly(client, part);
  }
  line('data.mdb', mebibytes(statSync(join(home, 'fim', 'data.mdb')).size));
  const times: number[] = [];
  for (let round = 0; round < 200; round += 1) {
    const index = (round * 7919) % rows;
    const name = (['hash_md5', 'hash_sha1', 'hash_sha256'] as const)[round % 3] ?? 'hash_md5';
    const started = performance.now();
    const { total } = await client.call('fim.list', { agent: '001', hash: String(attributes(index, 0)[name]) });
    times.push(performance.now() - started);
    if (total !== 1) throw new Error(`${total} entries with that hash`);
  }
  times.sort((a, b) => a - b);
  line(
    `hash look-up, ${rows} entries`,
    `p50 ${(times[100] ?? 0).toFixed(2)} ms, p99 ${(times[197] ?? 0).toFixed(2)} ms`,
  );
  await check(client, '002', 20_000, 0, 1);
  await checkFirst(client, Math.min(100_000, rows));
  const listed = performance.now();
  await client.call('fim.list', { agent: '001', limit: 500 }, { deadlineMs: 120_000 });
  const { stalled, rss } = await usage(client);
  line(
    `list of ${rows}, by mtime, limit=500`,
    `${(performance.now() - listed).toFixed(0)} ms, longest stall ${stalled.toFixed(0)} ms, RSS ${mebibytes(rss)}`,
  );
}

/** As svc-analysisd does: two calls are on their way. */
async function sendQuietly(client: Client, events: readonly { agent: string; message: Buffer }[]): Promise<void> {
  const flights: Promise<unknown>[] = [];
  for (let from = 0; from < events.length; from += PER_CALL) {
    const after = position;
    const operations = events
      .slice(from, from + PER_CALL)
      .map(({ agent, message }) => ({ position: position++, agent, kind: 'syscheck' as const, at: 1, message }));
    const options = { deadlineMs: 120_000 };
    flights.push(client.call('fim.apply', { journal: 'bench', operations, upTo: position, after }, options));
    if (flights.length === CALLS_AT_ONCE) await flights.shift();
  }
  await Promise.all(flights);
}

async function check(client: Client, agent: string, count: number, first: number, step: number): Promise<void> {
  const entries = Array.from({ length: count }, (_none, index) => first + index * step);
  await checkEntries(client, agent, entries, 1);
}

async function checkFirst(client: Client, count: number): Promise<void> {
  const all = Array.from({ length: rows }, (_none, index) => index);
  all.sort((one, other) => (path(one) < path(other) ? -1 : 1));
  const entries = all.slice(0, count);
  await checkEntries(client, '001', entries, 0, 'integrity_check_right');
}

/** Sums up what the agent has, and has svc-db find the same; the first time it reads, then a global check is known. */
async function checkEntries(
  client: Client,
  agent: string,
  entries: readonly number[],
  round: number,
  type = 'integrity_check_global',
): Promise<void> {
  const sorted = [...entries].sort((one, other) => (path(one) < path(other) ? -1 : 1));
  const sum = createHash('sha1');
  for (const index of sorted) sum.update(String(attributes(index, round)['checksum']));
  const data = { begin: path(sorted[0] ?? 0), checksum: sum.digest('hex'), end: path(sorted.at(-1) ?? 0), id: 1 };
  const message = Buffer.from(JSON.stringify({ component: 'fim_file', data, type }));
  for (const name of ['first', 'again']) {
    const before = await usage(client);
    const started = performance.now();
    const { answer } = await client.call('fim.sync', { agent, message }, { deadlineMs: 60_000 });
    const milliseconds = performance.now() - started;
    const after = await usage(client);
    if (answer !== 'none') throw new Error(`the sums differ: ${answer}`);
    line(
      `${type.replace('integrity_check_', '')} check of ${entries.length} entries, ${name}`,
      `${milliseconds.toFixed(1)} ms, ${(after.cpu - before.cpu).toFixed(1)} ms CPU, longest stall ${after.stalled.toFixed(0)} ms`,
    );
  }
}

await (role === 'serve' ? serve() : main());
