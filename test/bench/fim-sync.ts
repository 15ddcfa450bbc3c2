import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import type { FileRow } from '../../daemons/syscheckd/store/file-row.js';
import { FileStore } from '../../daemons/syscheckd/store/file-store.js';
import { SyncSource } from '../../daemons/syscheckd/store/sync-source.js';
import { SyncRunner } from '../../daemons/syscheckd/sync/sync-runner.js';
import { dbContract } from '../../lib/bus/contracts/db.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { ALL_CHECKS } from '../../lib/fim/checks.js';
import { RangeSync } from '../../lib/sync/range-sync.js';
import { HOST_CLOCK } from '../../lib/sync/sync-clock.js';
import { ManagerOutlet } from '../../lib/sync/sync-outlet.js';
import { RunningDaemon } from '../support/daemon/running-daemon.js';
import { eventually } from '../support/eventually.js';
import { RecordingLogger } from '../support/recording-logger.js';
import { RemotedHome } from '../support/remoted/remoted-home.js';
import { SYNC_SETTINGS } from '../support/syscheckd/sync-rows.js';

/*
 * Figures of the synchronisation of files: `npm run bench -- fim-sync [FILES]`, 100,000 by default. This process has the
 * table and speaks as svc-syscheckd does on a manager; svc-db is one of its own, with an empty table. Held: how
 * long the event loop of this process was busy with one thing, for which all else in svc-syscheckd waits; time in which
 * the machine ran others does not count.
 */
const [first = '100000'] = process.argv.slice(2);
const count = Number(first);
const ROWS_A_COMMIT = 2000;
const LOOK_MS = 2;
const WAIT_MS = 600_000;
const home = new RemotedHome();
const logger = new RecordingLogger();
const digest = (algorithm: string, text: string): string => createHash(algorithm).update(text).digest('hex');
const path = (index: number): string => `/usr/share/package-${String(Math.floor(index / 100))}/file-${String(index)}`;

let held = 0;
let last = { at: performance.now(), cpu: process.cpuUsage() };
const look = setInterval(() => {
  const now = { at: performance.now(), cpu: process.cpuUsage() };
  const busy = (now.cpu.user + now.cpu.system - last.cpu.user - last.cpu.system) / 1000;
  held = Math.max(held, Math.min(now.at - last.at, busy) - LOOK_MS);
  last = now;
}, LOOK_MS);

function row(index: number, content = ''): FileRow {
  const text = `${content}${String(index)}`;
  const hashes = {
    hash_md5: digest('md5', text),
    hash_sha1: digest('sha1', text),
    hash_sha256: digest('sha256', text),
  };
  const owner = { perm: 'rw-r--r--', uid: '0', gid: '0', user_name: 'root', group_name: 'root' };
  const inode = String(index);
  const checksum = digest('sha1', `${text}:${inode}`);
  const attributes = { size: text.length, ...owner, inode, mtime: 1_700_000_000, ...hashes, checksum };
  const noticed = { mode: 'scheduled', lastEvent: 1_700_000_000, stamp: undefined } as const;
  return { path: path(index), number: index, attributes, checks: ALL_CHECKS, inode, dev: '1', ...noticed };
}

async function measured(name: string, work: () => Promise<string>): Promise<void> {
  const before = process.cpuUsage();
  const started = performance.now();
  held = 0;
  const result = await work();
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(before);
  const figures = `${seconds.toFixed(2)} s, ${((user + system) / 1e6).toFixed(2)} s of processor, held ${Math.max(0, held).toFixed(0)} ms`;
  process.stdout.write(`${name.padEnd(44)} ${figures}${result === '' ? '' : `, ${result}`}\n`);
}

const directory = home.path('queue', 'fim', 'db');
mkdirSync(directory, { recursive: true });
mkdirSync(home.path('queue', 'db'), { recursive: true });
const store = await FileStore.open(directory, logger);
const daemon = await RunningDaemon.start('svc-db', home);
const db = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
let runner: SyncRunner | undefined;
try {
  for (let from = 0; from < count; from += ROWS_A_COMMIT) {
    const indexes = Array.from({ length: Math.min(ROWS_A_COMMIT, count - from) }, (_none, index) => from + index);
    await store.commit(
      indexes.map((index) => ({ path: path(index), before: undefined, after: row(index) })),
      [],
    );
  }
  const source = new SyncSource(store.table);
  await measured(`checksum of ${String(count)} files`, async () => {
    await new RangeSync(source).start(1);
    return '';
  });
  const outlet = new ManagerOutlet({
    deliver: (message, options) => db.call('fim.sync', { agent: '000', message }, options),
    answered: (order) => runner?.take(order),
    logger,
  });
  const stats = (): Record<string, number> => (runner?.stats ?? {}) as Record<string, number>;
  const stored = async (): Promise<number> => (await db.call('fim.list', { agent: '000', limit: 1 })).total;
  const begin = async (): Promise<void> => {
    await runner?.stop();
    runner = new SyncRunner({ source, outlet, clock: HOST_CLOCK, logger }, SYNC_SETTINGS);
    runner.start();
  };
  await measured('all of it to an empty manager', async () => {
    await begin();
    await eventually('all are sent', () => stats()['states'] === count, WAIT_MS);
    await eventually('all are stored', async () => (await stored()) === count, WAIT_MS);
    return `${String(stats()['states'])} states`;
  });
  await measured('a round in which nothing differs', async () => {
    await begin();
    await eventually('the check', () => stats()['checks'] === 1, WAIT_MS);
    // Behind the check in its order.
    await db.call('fim.sync', { agent: '000', message: Buffer.from('{}') }).catch(() => {});
    return '';
  });
  const changed = [0.1, 0.3, 0.5, 0.7, 0.9].map((share) => Math.floor(share * count));
  await store.commit(
    changed.map((index) => ({ path: path(index), before: row(index), after: row(index, 'changed ') })),
    [],
  );
  await measured(`${String(changed.length)} changed files are found`, async () => {
    await begin();
    await eventually('their states', () => stats()['states'] === changed.length, WAIT_MS);
    return `${String(stats()['checks'])} checks`;
  });
  process.stdout.write(`${'resident size'.padEnd(44)} ${(process.memoryUsage.rss() / 1024 ** 2).toFixed(0)} MiB\n`);
} finally {
  clearInterval(look);
  await runner?.stop();
  db.close();
  await daemon.stop('SIGKILL');
  await store.close();
  home.remove();
}
