// Where tests make their homes. In memory a file is durable at once: on a disk the suite waits for it for minutes, and no test
// can tell (what a power cut leaves is tested on pages of files). TMPDIR decides where somebody has set it.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What the files of a run take up at most. */
const MOST_BYTES = 6 * 1024 ** 3;
/** As /tmp: tests make homes there as other users. Without device files: one with them is that of /dev for svc-syscheckd. */
const OPTIONS = `nodev,nosuid,mode=1777,size=${MOST_BYTES}`;
const MODE = 0o1777;
const KIB = 1024;
const MOUNT = ['mount', '-t', 'tmpfs', '-o', OPTIONS, 'tmpfs'];

/**
 * A directory for everything temporary of the tests, and one for what they say of themselves.
 * @returns both, what a command has to be started with so that it finds the first in memory (nothing where that cannot be),
 *   and what removes both
 */
export function temporaryDirectory() {
  // A short name: paths of sockets have 107 bytes.
  const directory = mkdtempSync(join(tmpdir(), 't-'));
  const [homes, results] = ['t', 'results'].map((name) => join(directory, name));
  mkdirSync(homes);
  mkdirSync(results);
  chmodSync(directory, 0o755);
  chmodSync(homes, MODE);
  return {
    homes,
    results,
    before: canMount(homes) ? ['unshare', '--mount', 'sh', '-c', `${MOUNT.join(' ')} "$0" && exec "$@"`, homes] : [],
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** Whether a command can have a file system of its own there, that is gone when its last process has ended: root can. */
function canMount(directory) {
  if (process.env['TMPDIR'] !== undefined) return false;
  try {
    const [, available = '0'] = /^MemAvailable: +(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8')) ?? [];
    // Processes need memory, too.
    if (Number(available) * KIB < 2 * MOST_BYTES) return false;
    return spawnSync('unshare', ['--mount', ...MOUNT, directory], { stdio: 'ignore' }).status === 0;
  } catch {
    return false;
  }
}
