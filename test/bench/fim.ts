import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Recorder } from '../../daemons/syscheckd/record/recorder.js';
import { FileStore } from '../../daemons/syscheckd/store/file-store.js';
import { fileAttributes } from '../../lib/fim/entry-checksum.js';
import { AccountNames } from '../../lib/fim/scan/account-names.js';
import { EntryThreads } from '../../lib/fim/scan/entry-threads.js';
import { FileSystems } from '../../lib/fim/scan/file-systems.js';
import { IgnoreList } from '../../lib/fim/scan/path-list.js';
import { type ScannedEntry, type ScanParts, scanTree } from '../../lib/fim/scan/scan-tree.js';
import { watchedDirectories } from '../../lib/fim/scan/watched-directories.js';
import { DaemonFigures } from '../fim-stress/daemon-figures.js';
import { RecordingLogger } from '../support/recording-logger.js';

/*
 * Figures of file integrity monitoring: `npm run bench -- fim [FILES [THREADS [PART]]]`, 100,000 small files by default, as
 * many threads as there are processors (0 as well). Parts: `scan` alone, `record` with rows in the store, and `daemon`:
 * svc-syscheckd as it is installed, up to alerts.json. The files lie in the cache of the system: what is measured is the
 * scan, not a disk.
 */
const [first = '100000', second = '0', only] = process.argv.slice(2);
const count = Number(first);
const threadCount = Number(second);
const FILES_A_DIRECTORY = 100;
/** Longer than a file must have rested for its stamp to be trusted. */
const RESTED_MS = 2500;
const line = (name: string, value: string) => process.stdout.write(`${name.padEnd(40)} ${value}\n`);

/** Scans of one directory, and how fast they are. */
class ScanBench {
  #peak = 0;

  private constructor(
    readonly directories: ScanParts['directories'],
    readonly threads: EntryThreads,
  ) {}

  static async of(root: string): Promise<ScanBench> {
    const written = [{ path: root, options: [] }];
    const directories = await watchedDirectories(written, { recursionLevel: 256, diffSizeLimit: 51_200 }, {});
    return new ScanBench(
      directories,
      new EntryThreads({ maxFileBytes: 2 ** 30 }, threadCount === 0 ? undefined : threadCount),
    );
  }

  /** @param finish belongs to the scan */
  async scan(
    name: string,
    parts: Partial<ScanParts>,
    each: (entries: ScannedEntry[]) => unknown,
    finish: () => Promise<void> = () => Promise.resolve(),
  ): Promise<void> {
    const before = process.cpuUsage();
    const started = performance.now();
    let files = 0;
    let unchanged = 0;
    const found = scanTree({
      directories: this.directories,
      ignore: new IgnoreList([], {}),
      fileSystems: new FileSystems({ nfs: true, dev: true, sys: true, proc: true }),
      threads: this.threads,
      maxFilesPerSecond: 0,
      ...parts,
    });
    for await (const entries of found) {
      files += entries.length;
      unchanged += entries.filter((entry) => entry.unchanged).length;
      await each(entries);
      this.#peak = Math.max(this.#peak, process.memoryUsage.rss());
    }
    await finish();
    const seconds = (performance.now() - started) / 1000;
    const { user, system } = process.cpuUsage(before);
    line(
      name,
      `${Math.round(files / seconds)} files/s (${seconds.toFixed(2)} s, ${((user + system) / 1e6).toFixed(2)} s of ` +
        `processor, ${unchanged} unchanged)`,
    );
  }

  async close(): Promise<void> {
    line('largest resident size', `${(this.#peak / 1024 ** 2).toFixed(0)} MiB`);
    await this.threads.close();
  }
}

const PARTS = { scan: scanAlone, record: scanIntoStore, daemon: scanOfDaemon };
for (const [name, measure] of Object.entries(PARTS)) {
  if (only === undefined || only === name) await measure();
}

function makeFiles(below: string): void {
  const content = Buffer.alloc(4096, 'security ');
  for (let file = 0; file < count; file += 1) {
    const directory = join(below, `d${Math.floor(file / FILES_A_DIRECTORY)}`);
    if (file % FILES_A_DIRECTORY === 0) mkdirSync(directory);
    const path = join(directory, `f${file}`);
    writeFileSync(path, content.subarray(0, 16 + (file % 4000)));
    utimesSync(path, 1_700_000_000, 1_700_000_000 + file);
  }
}

/** @param measure is given a directory with the files, and one for the store */
async function withFiles(measure: (root: string, store: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-bench-fim-'));
  const root = join(directory, 'files');
  try {
    mkdirSync(root);
    makeFiles(root);
    await sleep(RESTED_MS);
    await measure(root, join(directory, 'db'));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function scanAlone(): Promise<void> {
  await withFiles(async (root) => {
    const stamps = new Map<string, string>();
    const names = await AccountNames.load();
    const bench = await ScanBench.of(root);
    const take = ({ path, uid, gid, hashes = {}, stamp, directory, unchanged, ...facts }: ScannedEntry): void => {
      if (unchanged) return;
      const found = { ...facts, uid, gid, hashes, userName: names.user(uid), groupName: names.group(gid) };
      fileAttributes(found, directory.checks);
      if (stamp !== undefined) stamps.set(path, stamp);
    };
    const each = (entries: ScannedEntry[]): void => {
      entries.forEach(take);
    };
    line('files', `${count} of 16 to 4016 bytes, ${bench.threads.count} threads`);
    await bench.scan('baseline', {}, each);
    await bench.scan('rescan, stamps trusted', { known: (path) => stamps.get(path) }, each);
    await bench.scan('rescan, everything read', {}, each);
    await bench.close();
  });
}

/** What svc-syscheckd does with what it finds, without the way to the sink. */
async function scanIntoStore(): Promise<void> {
  await withFiles(async (root, path) => {
    const logger = new RecordingLogger();
    const store = await FileStore.open(path, logger);
    const bench = await ScanBench.of(root);
    const { directories } = bench;
    const names = await AccountNames.load();
    const recorder = new Recorder({
      store,
      directories: () => directories,
      names: () => names,
      limit: () => 0,
      logger,
      now: () => Date.now(),
    });
    const parts = { known: recorder.known.bind(recorder), ticket: () => recorder.ticket() };
    for (const name of ['baseline into the store', 'rescan against the store', 'once more']) {
      const scan = recorder.beginScan();
      const ticket = recorder.ticket();
      const silent = (): boolean => true;
      const each = (entries: ScannedEntry[]) => recorder.record(entries, { mode: 'scheduled', ticket, scan, silent });
      await bench.scan(name, parts, each, async () => {
        for await (const rows of recorder.unseen(scan)) throw new Error(`${rows.length} files not seen`);
        scan.end();
        await recorder.settled();
      });
    }
    await bench.close();
    await store.close();
  });
}

async function scanOfDaemon(): Promise<void> {
  const figures = await DaemonFigures.make(count, line);
  try {
    makeFiles(figures.scanned);
    await sleep(RESTED_MS);
    await figures.measure();
  } finally {
    await figures.end();
  }
}
