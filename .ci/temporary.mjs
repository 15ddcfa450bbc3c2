// Where tests make their homes. In memory a file is durable at once: on a disk the suite waits for it for minutes, and no test
// can tell (what a power cut leaves is tested on pages of files). TMPDIR decides where somebody has set it.
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
/** Half of it is used at most. */
const NEEDED_BYTES = 4 * 1024 ** 3;
/** As /tmp: tests make homes there as other users. */
const MODE = 0o1777;
const KIB = 1024;

/** @returns a directory of its own for everything temporary, and what removes it */
export function temporaryDirectory() {
  // A short name: paths of sockets have 107 bytes.
  const directory = mkdtempSync(join(isRoomInMemory() ? MEMORY : tmpdir(), 't-'));
  chmodSync(directory, MODE);
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

function isRoomInMemory() {
  if (process.env['TMPDIR'] !== undefined) return false;
  try {
    const mount = readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .findLast((line) => line.split(' ')[1] === MEMORY);
    const [, , type, options = ''] = mount?.split(' ') ?? [];
    if (type !== 'tmpfs' || /\b(noexec|ro)\b/.test(options)) return false;
    // One with device files is that of /dev for svc-syscheckd, which looks at no file of it.
    if (!/\bnodev\b/.test(options)) return false;
    const { bavail, bsize } = statfsSync(MEMORY);
    const [, available = '0'] = /^MemAvailable: +(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8')) ?? [];
    // Processes need memory, too.
    return bavail * bsize >= NEEDED_BYTES && Number(available) * KIB >= 2 * NEEDED_BYTES;
  } catch {
    return false;
  }
}
