import { closeSync, readSync } from 'node:fs';
import { isErrno } from '../../lib/files/is-errno.js';
import { openRegularFileSync } from '../../lib/files/regular-file.js';
import type { Home } from '../../lib/home/home.js';

/** A file with more is not read on. */
const MAX_BYTES = 1024 ** 2;
const SEPARATOR = ' - ';

/** Names of the responses that agents are told of by etc/shared/ar.conf (daemons-and-config.md 5.1). */
export function sharedResponses(home: Home): ReadonlySet<string> {
  const lines = read(home.path('etc', 'shared', 'ar.conf')).split('\n');
  return new Set(lines.filter((line) => line.includes(SEPARATOR)).map((line) => line.split(SEPARATOR, 1)[0] ?? ''));
}

function read(path: string): string {
  let fd: number;
  try {
    ({ fd } = openRegularFileSync(path));
  } catch (error) {
    // svc-analysisd writes it when it starts.
    if (isErrno(error, 'ENOENT')) return '';
    throw error;
  }
  try {
    const buffer = Buffer.alloc(MAX_BYTES);
    return buffer.toString('utf8', 0, readSync(fd, buffer));
  } finally {
    closeSync(fd);
  }
}
