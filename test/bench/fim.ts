import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileAttributes } from '../../lib/fim/entry-checksum.js';
import { AccountNames } from '../../lib/fim/scan/account-names.js';
import { EntryThreads } from '../../lib/fim/scan/entry-threads.js';
import { FileSystems } from '../../lib/fim/scan/file-systems.js';
import { IgnoreList } from '../../lib/fim/scan/path-list.js';
import { scanTree } from '../../lib/fim/scan/scan-tree.js';
import { watchedDirectories } from '../../lib/fim/scan/watched-directories.js';

/*
 * Figures of file integrity monitoring: `npm run bench -- fim [FILES [THREADS]]`, 100,000 small files by default, as
 * many threads as there are processors. They lie in the cache of the system: what is measured is the scan, not a disk.
 */
const [first = '100000', second] = process.argv.slice(2);
const count = Number(first);
const FILES_A_DIRECTORY = 100;
const line = (name: string, value: string) => process.stdout.write(`${name.padEnd(40)} ${value}\n`);
const root = mkdtempSync(join(tmpdir(), 'svc-bench-fim-'));
let peak = 0;

try {
  const content = Buffer.alloc(4096, 'security ');
  for (let file = 0; file < count; file++) {
    const directory = join(root, `d${Math.floor(file / FILES_A_DIRECTORY)}`);
    if (file % FILES_A_DIRECTORY === 0) mkdirSync(directory);
    const path = join(directory, `f${file}`);
    writeFileSync(path, content.subarray(0, 16 + (file % 4000)));
    utimesSync(path, 1_700_000_000, 1_700_000_000 + file);
  }
  // A stamp is only trusted of files that have rested for two seconds.
  await sleep(2500);
  line('files', `${count} of 16 to 4016 bytes`);

  const directories = await watchedDirectories(
    [{ path: root, options: [] }],
    { recursionLevel: 256, diffSizeLimit: 51_200 },
    {},
  );
  const threads = new EntryThreads({ maxFileBytes: 2 ** 30 }, second === undefined ? undefined : Number(second));
  const names = await AccountNames.load();
  const stamps = new Map<string, string>();

  const scan = async (name: string, trusts: boolean): Promise<void> => {
    const before = process.cpuUsage();
    const started = performance.now();
    let files = 0;
    let unchanged = 0;
    const found = scanTree({
      directories,
      ignore: new IgnoreList([], {}),
      fileSystems: new FileSystems({ nfs: true, dev: true, sys: true, proc: true }),
      threads,
      maxFilesPerSecond: 0,
      known: trusts ? (path) => stamps.get(path) : undefined,
    });
    for await (const entries of found) {
      for (const entry of entries) {
        files += 1;
        if (entry.unchanged) {
          unchanged += 1;
          continue;
        }
        const { path, uid, gid, hashes = {}, stamp, directory } = entry;
        fileAttributes({ ...entry, userName: names.user(uid), groupName: names.group(gid), hashes }, directory.checks);
        if (stamp !== undefined) stamps.set(path, stamp);
      }
      peak = Math.max(peak, process.memoryUsage.rss());
    }
    const seconds = (performance.now() - started) / 1000;
    const { user, system } = process.cpuUsage(before);
    line(
      name,
      `${Math.round(files / seconds)} files/s (${seconds.toFixed(2)} s, ${((user + system) / 1e6).toFixed(2)} s of ` +
        `processor, ${unchanged} unchanged)`,
    );
  };

  line('threads', String(threads.count));
  await scan('baseline', false);
  await scan('rescan, stamps trusted', true);
  await scan('rescan, everything read', false);
  line('largest resident size', `${(peak / 1024 ** 2).toFixed(0)} MiB`);
  await threads.close();
} finally {
  rmSync(root, { recursive: true, force: true });
}
